"""Advice that changes no result: give back what is kept without need."""

from memtrack.diagnosis.advice.entry import Entry
from memtrack.i18n import text

REFERENCES = (
    Entry(
        "keep_numbers_not_tensors",
        text("Keep the number of the loss, not its tensor"),
        text("nothing; .item() waits for the GPU, so not after every operation"),
        frozenset({"graph_retention"}),
        "total += loss.detach()        # or loss.item(), once in a while",
        saves="piled_up",
    ),
)
