"""Where the predicted program runs: tensors without data that say they are on a GPU."""
