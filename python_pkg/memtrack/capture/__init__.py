"""Probes in a live process: modules, operations, saved tensors, optimizers. Needs torch."""

from memtrack.capture.recorder import Recorder
from memtrack.capture.ticks import Tick

__all__ = ["Recorder", "Tick"]
