"""The state of the user's process that a program may change, noted and put back."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _device as default_device

_DEVICES = ("cpu", "cuda")
_ASKING_MODULES = (
    "transformers.utils.import_utils",
    "accelerate.utils.imports",
    "diffusers.utils.import_utils",
    "torch.utils._triton",
)
_ASKING_WORDS = ("cuda", "gpu", "bf16", "tf32", "fp16", "accelerator", "triton", "flash")


class Session:
    """Notes at once; `restore` puts everything back, each part even if another fails."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._generators()
        self._environment()
        self._settings()
        self._grad()
        self._autocast()
        self._default_device()
        self._cached_answers()

    def restore(self) -> None:
        """Put everything back, last noted first; the first failure is raised when all is done."""
        failure: BaseException | None = None
        while self._undo:
            try:
                self._undo.pop()()
            except BaseException as error:  # noqa: BLE001 - raised below, when all is done
                failure = failure or error
        if failure is not None:
            raise failure

    def _generators(self) -> None:
        default, state = torch.default_generator, torch.default_generator.get_state()
        self._undo.append(lambda: default.set_state(state))
        python = random.getstate()
        self._undo.append(lambda: random.setstate(python))
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            drawn = numpy.random.get_state()
            self._undo.append(lambda: numpy.random.set_state(drawn))

    def _environment(self) -> None:
        before = dict(os.environ)

        def put_back() -> None:
            for name in set(os.environ) - set(before):
                del os.environ[name]
            for name, value in before.items():
                if os.environ.get(name) != value:
                    os.environ[name] = value

        self._undo.append(put_back)

    def _settings(self) -> None:
        self._note(torch.set_default_dtype, torch.get_default_dtype())
        deterministic = torch.are_deterministic_algorithms_enabled()
        warns = torch.is_deterministic_algorithms_warn_only_enabled()
        self._undo.append(
            lambda: torch.use_deterministic_algorithms(deterministic, warn_only=warns)
        )
        native: Any = torch._C
        self._note(native._set_cudnn_enabled, native._get_cudnn_enabled())
        self._note(native._set_cudnn_benchmark, native._get_cudnn_benchmark())
        self._note(native._set_cudnn_deterministic, native._get_cudnn_deterministic())
        for name in ("math", "flash", "mem_efficient", "cudnn"):
            getter = getattr(native, f"_get_{name}_sdp_enabled", None)
            setter = getattr(native, f"_set_sdp_use_{name}", None)
            if getter is not None and setter is not None:
                self._note(setter, getter())
        self._precision(native)
        fast = torch.backends.mha.get_fastpath_enabled()
        self._note(torch.backends.mha.set_fastpath_enabled, fast)
        anomaly, check = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
        self._undo.append(lambda: torch.set_anomaly_enabled(anomaly, check))

    def _precision(self, native: Any) -> None:
        """TF32 of matmul and convolution: their old switches and the ones that replaced them."""
        get = getattr(native, "_get_fp32_precision_getter", None)
        put = getattr(native, "_set_fp32_precision_setter", None)
        if get is None or put is None:
            self._note(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
            self._note(native._set_cudnn_allow_tf32, native._get_cudnn_allow_tf32())
            return
        for backend, operation in (
            ("generic", "all"),
            ("cuda", "all"),
            ("cuda", "matmul"),
            ("cuda", "conv"),
            ("cuda", "rnn"),
        ):
            value = get(backend, operation)
            self._undo.append(
                lambda b=backend, o=operation, v=value: put(b, o, v)  # type: ignore[misc]
            )
        self._note(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())

    def _grad(self) -> None:
        self._note(torch._C._set_grad_enabled, torch.is_grad_enabled())

    def _autocast(self) -> None:
        for device in _DEVICES:
            enabled, dtype = torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)
            self._undo.append(lambda d=device, e=enabled: torch.set_autocast_enabled(d, e))  # type: ignore[misc]
            self._undo.append(lambda d=device, t=dtype: torch.set_autocast_dtype(d, t))  # type: ignore[misc]
            torch.set_autocast_enabled(device, False)
        self._note(torch.set_autocast_cache_enabled, torch.is_autocast_cache_enabled())

    def _default_device(self) -> None:
        """The mode behind a default device stays; what the program sets besides is taken off."""
        context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
        current = default_device.CURRENT_DEVICE

        def put_back() -> None:
            if getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None) is not context:
                torch.set_default_device(None if context is None else context.device)
                if context is None:  # torch 2.4 takes what is there for a device
                    vars(torch._GLOBAL_DEVICE_CONTEXT).pop("device_context", None)
            default_device.CURRENT_DEVICE = current

        self._undo.append(put_back)

    def _cached_answers(self) -> None:
        """Libraries remember whether there is a GPU: each time is a fresh question."""
        self._undo.append(forget_answers)
        forget_answers()

    def _note(self, put: Callable[[Any], Any], value: Any) -> None:
        self._undo.append(lambda: put(value))


def forget_answers() -> None:
    """Clear what libraries have remembered of the devices that are there."""
    for name in _ASKING_MODULES:
        module = sys.modules.get(name)
        for attribute, value in list(vars(module).items()) if module is not None else ():
            clear = getattr(value, "cache_clear", None)
            if clear is not None and any(word in attribute for word in _ASKING_WORDS):
                clear()
