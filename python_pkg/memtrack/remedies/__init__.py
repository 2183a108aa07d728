"""What would help and by how much: a recording changed as a remedy would change it, and run again.

    found = advise(data, budget=24 << 30)
    found[0].id, found[0].saving_bytes, found.combinations

One file a family of remedies. Each tells whether it applies and how the lives and sizes of blocks
change (`scene.Scene`); peaks come from the changed lives, so they move. No torch here.
"""

from memtrack.remedies.advise import advise
from memtrack.remedies.remedy import Advised, Base, Combination, Remedy
from memtrack.remedies.savings import savings

__all__ = ["Advised", "Base", "Combination", "Remedy", "advise", "savings"]
