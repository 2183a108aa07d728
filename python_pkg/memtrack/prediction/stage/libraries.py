"""Parts of torch and of libraries beside tensors: optimizers' grouping, loaders, files, compilation."""

from __future__ import annotations

import contextlib
import copy
import importlib
from typing import Any

import torch
import torch.utils.checkpoint
import torch.utils.data as data
from torch.backends.cudnn import rnn as cudnn_rnn

from memtrack.i18n import text
from memtrack.prediction.stage.assumptions import Assumptions, refused
from memtrack.prediction.stage.claims import outer_claim_of
from memtrack.prediction.stage.loading import Loading
from memtrack.prediction.stage.patches import Patches
from memtrack.prediction.stage.pretrained import Pretrained

_BUILD = text("Make models, optimizers and tensors inside the function that is predicted.")
_FUNCTION_CHECKS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
_INTERNAL = "torch._decomp"
"""Formulas for derivatives forwards, which torch scripts when the first is asked for."""
_NUMBER = "Cannot access accelerator device when none is available"
"""What `torch.device(0)` says in a build of torch without CUDA."""
_PLAIN = {torch.Tensor, torch.nn.Parameter}


class Libraries:
    """Replaces what would look below our tensors, touch files or compile."""

    def __init__(self, assumptions: Assumptions, loading: Loading) -> None:
        self._assumptions = assumptions
        self._loading = loading
        self._pretrained = Pretrained(assumptions)
        self.has_saved = False
        """Whether the program believes that it has written a file."""

    def install(self, patches: Patches) -> None:
        """Put the replacements in."""
        self._recomputed(patches)
        self._python_functions(patches)
        patches.replace(torch._C, "_group_tensors_by_device_and_dtype", self._grouped)
        patches.replace(torch.nn.Module, "_apply", self._applied)
        patches.replace(torch.nn.Module, "to", self._placed)
        patches.replace(data.DataLoader, "__init__", self._loader)
        patches.replace(data.DataLoader, "__iter__", self._iterated)
        self._inference(patches)
        patches.answer(torch, "_use_cudnn_rnn_flatten_weight", True)
        patches.answer(cudnn_rnn, "get_cudnn_mode", 0)
        patches.replace(torch.nn.DataParallel, "forward", self._parallel)
        self._files(patches)
        self._loading.when_loaded(
            "accelerate.state", lambda module: self._accelerate(patches, module)
        )
        self._compilers(patches)
        self._generator(patches)

    def _recomputed(self, patches: Patches) -> None:
        """Checkpoints compare what they save and recompute without devices.

        Inside a kernel that stands for a composite, a tensor's device is not answered.
        """
        checkpoint = torch.utils.checkpoint
        name = "_allowed_determinism_checks_to_fns"
        known = getattr(checkpoint, name, None)
        if isinstance(known, dict) and "default" in known:
            told = {**known, "default": lambda x: {"shape": x.shape, "dtype": x.dtype}}
            patches.put(checkpoint, name, told)

    def _python_functions(self, patches: Patches) -> None:
        """Let torch's functions written in Python run their own code, whose calls the mode sees."""
        for owner in (
            torch.nn.functional,
            torch.functional,
            torch._tensor,
            torch.autograd,
            torch.nn.init,
        ):
            for name in _FUNCTION_CHECKS:
                if name in vars(owner):
                    patches.replace(owner, name, _overridden)

    def _grouped(self, original: Any) -> Any:
        def grouped(lists: Any, with_indices: bool = False) -> Any:
            found: dict[Any, Any] = {}
            for (_, dtype), (members, indices) in original(lists, True).items():
                for place, index in enumerate(indices):
                    first = members[0][place]
                    key = (first.device, dtype)
                    into = found.setdefault(key, ([[] for _ in members], []))
                    for column, source in zip(into[0], members, strict=True):
                        if source:
                            column.append(source[place])
                    into[1].append(index)
            return found

        return grouped

    def _applied(self, original: Any) -> Any:
        def apply(module: Any, *args: Any, **kwargs: Any) -> Any:
            for one in (*module._parameters.values(), *module._buffers.values()):
                if one is not None and outer_claim_of(one) is None:
                    name = type(module).__name__
                    raise refused(
                        name, text("a module that exists outside would be changed"), _BUILD
                    )
            return original(module, *args, **kwargs)

        return apply

    def _placed(self, original: Any) -> Any:
        """A number is a GPU's, which a build of torch without CUDA does not know."""

        def to(module: Any, *args: Any, **kwargs: Any) -> Any:
            if args:
                args = (_numbered(args[0]), *args[1:])
            if "device" in kwargs:
                kwargs["device"] = _numbered(kwargs["device"])
            return original(module, *args, **kwargs)

        return to

    def _parallel(self, original: Any) -> Any:
        def forward(parallel: Any, *args: Any, **kwargs: Any) -> Any:
            if len(parallel.device_ids) > 1:
                raise refused("DataParallel", text("copies on several GPUs are not modelled"))
            return parallel.module(*args, **kwargs)

        return forward

    def _inference(self, patches: Patches) -> None:
        """Inference mode as `no_grad`: inside the real one operations are not taken apart."""
        kind = torch.inference_mode
        patches.replace(kind, "__enter__", lambda original: _enter_inference)
        patches.replace(kind, "__exit__", lambda original: _leave_inference)

    # loading data

    def _loader(self, original: Any) -> Any:
        def make(loader: Any, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("persistent_workers", None)
            for name in ("prefetch_factor", "multiprocessing_context", "timeout", "pin_memory"):
                kwargs.pop(name, None)
            if "num_workers" in kwargs:
                kwargs["num_workers"] = 0
            original(loader, *args, **kwargs)

        return make

    def _iterated(self, original: Any) -> Any:
        def iterate(loader: Any) -> Any:
            if loader.num_workers or loader.pin_memory:
                loader = copy.copy(loader)
                loader.__dict__.update(num_workers=0, pin_memory=False, persistent_workers=False)
                loader.__dict__.update(prefetch_factor=None, timeout=0)
            return original(loader)

        return iterate

    # files

    def _files(self, patches: Patches) -> None:
        patches.replace(torch, "save", self._saved)
        patches.replace(torch, "load", self._loaded)
        self._loading.when_loaded(
            "safetensors.torch", lambda module: self._unwritten(patches, module)
        )
        self._loading.when_loaded(
            "transformers.modeling_utils", lambda module: self._transformers(patches, module)
        )

    def _unwritten(self, patches: Patches, safetensors: Any) -> None:
        for name in ("save_file", "save_model"):
            patches.replace(safetensors, name, self._saved)

    def _transformers(self, patches: Patches, models: Any) -> None:
        patches.replace(models.PreTrainedModel, "save_pretrained", self._saved)
        self._pretrained.install(patches, models)

    def _accelerate(self, patches: Patches, state: Any) -> None:
        """What Accelerate remembers of the process, its device above all, is asked for afresh."""
        for name in ("PartialState", "AcceleratorState", "GradientState"):
            kind = getattr(state, name, None)
            if kind is not None and "_shared_state" in vars(kind):
                patches.put(kind, "_shared_state", {})

    def _saved(self, original: Any) -> Any:
        def save(*args: Any, **kwargs: Any) -> None:
            self._assumptions.add("save", text("nothing is written"))
            self.has_saved = True

        return save

    def explain(self, error: BaseException | None) -> None:
        """Say beside the program's own error that a file is missing because none was written."""
        if isinstance(error, RuntimeError) and _NUMBER in str(error) and hasattr(error, "add_note"):
            error.add_note(
                str(text("While predicting, write torch.device('cuda', 0) for torch.device(0)."))
            )
        if self.has_saved and isinstance(error, OSError) and hasattr(error, "add_note"):
            error.add_note(str(text("While predicting, nothing was written by torch.save.")))

    def _loaded(self, original: Any) -> Any:
        def load(*args: Any, **kwargs: Any) -> Any:
            raise refused(
                "torch.load",
                text("no weights are read while predicting"),
                text("Leave it out: values do not change what memory is needed."),
            )

        return load

    # compilation

    def _compilers(self, patches: Patches) -> None:
        patches.replace(torch, "compile", self._compiled("torch.compile"))
        patches.replace(torch.nn.Module, "compile", self._compiled("torch.compile"))
        patches.replace(torch.jit, "script", self._compiled("torch.jit.script"))
        for name in ("trace", "load"):
            patches.replace(torch.jit, name, self._traced)
        with contextlib.suppress(ImportError):  # torch 2.5 and later
            flex = importlib.import_module("torch.nn.attention.flex_attention")
            patches.put(
                flex, "flex_attention_hop", patches.on_thread(_flexible, flex.flex_attention_hop)
            )

    def _compiled(self, name: str) -> Any:
        """Return what leaves a module or function as it is written, and says so; torch's own are compiled."""

        def make(original: Any) -> Any:
            def leave(model: Any = None, *args: Any, **kwargs: Any) -> Any:
                if str(getattr(model, "__module__", "")).startswith(_INTERNAL):
                    return original(model, *args, **kwargs)
                if model is None:
                    return leave
                self._assumptions.add(name, text("the code runs as it is written, not compiled"))
                return model

            return leave

        return make

    def _traced(self, original: Any) -> Any:
        def trace(*args: Any, **kwargs: Any) -> Any:
            raise refused("torch.jit", text("traced programs are not modelled"))

        return trace

    def _generator(self, patches: Patches) -> None:
        original = torch._C.Generator

        class Generator(original):  # type: ignore[misc, valid-type]
            """A generator of the host's that says which device it was asked for."""

            def __new__(cls, device: Any = "cpu") -> Any:
                """Make one on the host, for whatever device."""
                if not patches.is_ours():
                    return original(device)
                made = super().__new__(cls, "cpu")
                made.claimed = torch.device(_numbered(device))
                return made

            def __init__(self, device: Any = "cpu") -> None:
                """Take the device that `__new__` has read."""

            @property
            def device(self) -> torch.device:
                """The device it was asked for."""
                claimed: torch.device = self.claimed
                return claimed

        patches.put(torch, "Generator", Generator)


def _numbered(device: Any) -> Any:
    """Return the GPU for its number, anything else as it is."""
    return torch.device("cuda", device) if type(device) is int else device


def _flexible(*args: Any, **kwargs: Any) -> Any:
    why = text("kernels that are compiled for the program are not modelled")
    hint = text("Use scaled_dot_product_attention, or a mask, while predicting.")
    raise refused("flex_attention", why, hint)


def _overridden(original: Any) -> Any:
    """Tell whether a type among the arguments, not a mode of ours, overrides torch's functions."""

    def has(*args: Any) -> bool:
        items = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        kinds = {type(one) for one in items} - _PLAIN
        plain = torch._C._disabled_torch_function_impl
        return any(
            issubclass(kind, torch.Tensor) and kind.__torch_function__ is not plain
            for kind in kinds
        )

    return has


def _enter_inference(block: Any) -> None:
    grad = torch.enable_grad() if not block.mode else torch.no_grad()
    if not block.mode and not torch.is_grad_enabled():
        grad = torch.no_grad()
    grad.__enter__()
    block.__dict__.setdefault("memtrack_entered", []).append(grad)


def _leave_inference(block: Any, *exc: Any) -> None:
    block.__dict__["memtrack_entered"].pop().__exit__(None, None, None)
