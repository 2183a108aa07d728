"""Who keeps tensors alive in this process: from the names of a notebook to storages."""

from memtrack.capture.holders.build import holdings, holdings_on
from memtrack.capture.holders.levels import CPU, devices_in_use, level_of

__all__ = ["CPU", "devices_in_use", "holdings", "holdings_on", "level_of"]
