"""The CUDA caching allocator as a model: its rules, its settings, and what they make of a trace."""

from memtrack.allocator.settings import Settings

__all__ = ["Settings"]
