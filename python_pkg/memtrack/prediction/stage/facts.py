"""What is the same for every call of one operation, read once from its schema."""

from __future__ import annotations

from typing import Any

import torch

FACTORY, VIEW, IN_PLACE, PURE, OTHER = "factory", "view", "in place", "pure", "other"

_FACTORY_NAMES = frozenset(
    [
        "empty",
        "empty_strided",
        "empty_permuted",
        "zeros",
        "ones",
        "full",
        "arange",
        "linspace",
        "logspace",
        "eye",
        "rand",
        "randn",
        "randint",
        "randperm",
        "scalar_tensor",
        "tril_indices",
        "triu_indices",
        "range",
        "normal",
        "hann_window",
        "hamming_window",
        "bartlett_window",
        "blackman_window",
        "kaiser_window",
        "_efficientzerotensor",
        "fft_fftfreq",
        "fft_rfftfreq",
    ]
)
_MIXES_DEVICES = frozenset(
    [
        "copy_",
        "_to_copy",
        "index",
        "index_put",
        "index_put_",
        "_index_put_impl_",
        "_unsafe_index",
        "_unsafe_index_put",
        "_foreach_copy_",
        "masked_fill",
        "masked_fill_",
        "_pack_padded_sequence",
        "_cudnn_rnn",
        "_pad_packed_sequence",
        "set_",
        "_amp_foreach_non_finite_check_and_unscale_",
        "_foreach_add_",
        "_fused_adam_",
        "_fused_adamw_",
        "_fused_sgd_",
        "_fused_adagrad_",
        "resize_",
        "copy",
        "new_zeros",
        "new_empty",
        "new_full",
        "new_ones",
        "new_empty_strided",
        "empty_like",
        "zeros_like",
        "ones_like",
        "full_like",
        "rand_like",
        "randn_like",
        "randint_like",
        "ctc_loss",
        "_ctc_loss",
        "_use_cudnn_ctc_loss",
        "_cudnn_ctc_loss",
        "lift_fresh",
        "equal",
        "is_same_size",
        "_has_same_storage_numel",
        "segment_reduce",
        "_local_scalar_dense",
    ]
)
LIKE = frozenset(
    [
        "empty_like",
        "zeros_like",
        "ones_like",
        "full_like",
        "rand_like",
        "randn_like",
        "randint_like",
        "new_empty",
        "new_zeros",
        "new_ones",
        "new_full",
        "new_empty_strided",
    ]
)
ACCUMULATING = frozenset(("scatter", "scatter_add", "index_add", "index_put"))
"""What gradients of lookups are made with: in place, but where dispatch modes are on (as ours)."""
_OVERWRITE = frozenset(
    [
        "copy_",
        "fill_",
        "zero_",
        "normal_",
        "uniform_",
        "bernoulli_",
        "exponential_",
        "geometric_",
        "cauchy_",
        "log_normal_",
        "random_",
        "eye_",
        "set_",
    ]
)
_RESIZES = frozenset(("set_", "resize_", "resize_as_", "_resize_output_"))
_HIDDEN_VIEWS = frozenset(("_unsafe_view", "_reshape_alias", "_conj", "_neg_view", "lift_fresh"))
_HIDDEN_WRITES = {
    "native_batch_norm": (3, 4),
    "cudnn_batch_norm": (3, 4),
    "miopen_batch_norm": (3, 4),
    "batch_norm_gather_stats": (3, 4),
    "batch_norm_gather_stats_with_counts": (3, 4),
}
"""Arguments that are changed though the schema does not say so: running statistics."""
_WHOLE = frozenset(("lift_fresh", "_conj"))
_UNSEEDED = frozenset(("empty", "empty_strided", "empty_permuted", "empty_like", "new_empty"))


class OperationFacts:
    """The kind of an overload and what to watch for.

    `name` is without namespace and overload. Of `kind` IN_PLACE is one that changes arguments and
    makes nothing, PURE one that makes only new tensors; OTHER is run as it is each time. A `composite`
    one is made of others, and comes whole only where autograd has been passed by.
    """

    __slots__ = (
        "composite",
        "hidden_writes",
        "kind",
        "likes",
        "mixes",
        "name",
        "overwrites",
        "returns_first",
        "special",
        "takes_device",
        "title",
        "uninitialised",
        "writes",
        "written_names",
    )

    def __init__(self, op: Any) -> None:
        schema = op._schema
        self.name: str = schema.name.split("::")[-1]
        self.title = f"{op.namespace}.{self.name}"
        self.kind = _kind_of(op, self.name)
        self.composite = self.name not in _WHOLE and op.has_kernel_for_dispatch_key(
            torch._C.DispatchKey.CompositeImplicitAutograd
        )
        self.mixes = self.name in _MIXES_DEVICES
        self.likes = self.name in LIKE
        self.overwrites = self.name in _OVERWRITE
        self.uninitialised = self.name in _UNSEEDED
        arguments = schema.arguments
        self.writes = tuple(
            place
            for place, one in enumerate(arguments)
            if one.alias_info is not None and one.alias_info.is_write
        )
        self.written_names = tuple(arguments[place].name for place in self.writes)
        self.hidden_writes = _HIDDEN_WRITES.get(self.name, ())
        self.takes_device = any(one.name == "device" for one in arguments)
        self.returns_first = len(schema.returns) == 1 and self.writes == (0,)
        self.special: Any = None


def _kind_of(op: Any, name: str) -> str:
    schema = op._schema
    arguments, returns = schema.arguments, schema.returns
    takes_tensors = any("Tensor" in str(one.type) for one in arguments)
    if name in _FACTORY_NAMES and not takes_tensors:
        return FACTORY
    writes = any(one.alias_info is not None and one.alias_info.is_write for one in arguments)
    aliases = any(one.alias_info is not None for one in returns)
    if torch.Tag.inplace_view in op.tags and name not in _RESIZES:
        return VIEW
    if writes:
        is_out = any(one.is_out for one in arguments)
        all_alias = all(one.alias_info is not None for one in returns)
        known = name not in _RESIZES
        return IN_PLACE if all_alias and not is_out and known else OTHER
    if aliases or name in _HIDDEN_VIEWS:
        return VIEW
    if torch.Tag.dynamic_output_shape in op.tags and name != "index":
        return OTHER
    makes = any("Tensor" in str(one.type) for one in returns)
    return PURE if makes else OTHER
