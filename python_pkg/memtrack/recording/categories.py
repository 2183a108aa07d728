"""What a byte is for, what was running, what happened: the codes stored in the columns.

Codes are part of the file format: new ones are added at the end, none is ever renumbered.
"""

from __future__ import annotations

from enum import IntEnum


class Category(IntEnum):
    """What an allocation is for. Each has exactly one, known by hindsight for its whole life."""

    UNKNOWN = 0
    PARAMETER = 1
    BUFFER = 2
    GRADIENT = 3
    """The `.grad` of a parameter; gradients of activations are temporaries of backward."""
    OPTIMIZER_STATE = 4
    ACTIVATION = 5
    """Made in forward and saved for backward, or kept past the forward that made it."""
    TEMPORARY = 6
    """Made and released within one phase."""
    INPUT = 7
    """The batch: tensors passed to the model by the training loop."""
    WORKSPACE = 8
    """Scratch of cuBLAS, cuDNN and their kin, held by the library between calls."""
    CAST_WEIGHT = 9
    """The 16-bit copy of a parameter that autocast keeps."""
    OTHER = 10
    """Tensors of the notebook that belong to none of the above."""
    RECOMPUTED = 11
    """Made in backward by activation checkpointing, which runs the forward again."""
    OUTPUT = 12
    """What the model returned to the training loop, such as logits and loss, saved or not."""
    COMMUNICATION = 13
    """Buffers of gradient buckets and collectives, as far as the allocator sees them."""

    @property
    def id(self) -> str:
        """The name used in payloads, files and the command line."""
        return self.name.lower()


class PhaseKind(IntEnum):
    """What the training loop was doing."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMIZER = 2
    OTHER = 3

    @property
    def id(self) -> str:
        """The name used in payloads, files and the command line."""
        return self.name.lower()


class EventKind(IntEnum):
    """What the allocator did."""

    ALLOC = 0
    FREE = 1
    """Freed by its owner: where `allocated_bytes` falls, which torch's traces call `free_requested`."""
    SEGMENT_ALLOC = 2
    SEGMENT_FREE = 3
    SEGMENT_MAP = 4
    SEGMENT_UNMAP = 5
    OOM = 6
    FREE_REQUESTED = 7
    """In older files: freed by its owner but still waiting for a stream, in use until its `FREE`."""
    FREE_COMPLETED = 8
    """A stream is done with a block that was freed earlier: reusable from here, not from its `FREE`."""


class CallKind(IntEnum):
    """Why a module's forward ran."""

    FORWARD = 0
    RECOMPUTE = 1
    """Run again during backward by activation checkpointing."""


class ReadingKind(IntEnum):
    """Why the allocator's statistics were read."""

    START = 0
    PHASE = 1
    """A phase has ended."""
    STEP = 2
    """A step has ended."""
    MARK = 3
    END = 4
