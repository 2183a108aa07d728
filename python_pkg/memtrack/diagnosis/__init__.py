"""From an error's text and the evidence of memory to causes, checks and advice."""
