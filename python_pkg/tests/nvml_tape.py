"""What NVML answered, as JSON: written by bench/record_nvml.py, played back to our own driver.

A tape has ticks; each holds what a question (function and arguments) was answered, a value or the
number of an error, as far as it differs from the tick before. Handles are names such as `handle-0`.
"""

import json
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import pynvml

SCHEMA = "memtrack.nvml-tape/1"
_HANDLE_TYPES = ("LP_struct_c_nvmlDevice_t", "LP_c_nvmlDevice_t", "struct_c_nvmlDevice_t")


class Names:
    """Names for the handles that the library gives, by where they point."""

    def __init__(self):
        self._names = {}

    def of(self, handle):
        import ctypes

        address = ctypes.cast(handle, ctypes.c_void_p).value
        return self._names.setdefault(address, f"handle-{len(self._names)}")


def encoded(value, names):
    """Return an answer of the library as plain JSON."""
    if type(value).__name__ in _HANDLE_TYPES:
        return {"handle": names.of(value)}
    if isinstance(value, bytes):
        return value.decode()
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [encoded(one, names) for one in value]
    if hasattr(value, "value"):
        return {"fields": {"value": value.value}}
    fields = [name for name, *_ in getattr(value, "_fields_", ())] or list(vars(value))
    return {"fields": {name: encoded(getattr(value, name), names) for name in fields}}


def decoded(value):
    """Return a recorded answer as the library gives it."""
    if isinstance(value, list):
        return [decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "handle" in value:
        return value["handle"]
    return SimpleNamespace(**{name: decoded(one) for name, one in value["fields"].items()})


def question(function, arguments):
    """Return the key of a question; `arguments` are encoded."""
    words = [one["handle"] if isinstance(one, dict) else str(one) for one in arguments]
    return f"{function}({', '.join(words)})"


class RecordedNvml:
    """The module `pynvml`, which keeps every answer by its question in `answers`."""

    def __init__(self, library=pynvml):
        self._library = library
        self._handles = Names()
        self.answers = {}

    def __dir__(self):
        return dir(self._library)

    def __getattr__(self, name):
        found = getattr(self._library, name)
        if not name.startswith("nvml") or not callable(found):
            return found

        def asked(*arguments):
            key = question(name, [encoded(one, self._handles) for one in arguments])
            try:
                answer = found(*arguments)
            except self._library.NVMLError as error:
                self.answers[key] = {"error": error.value}
                raise
            self.answers[key] = {"answer": encoded(answer, self._handles)}
            return answer

        return asked


class TapedNvml:
    """A module like `pynvml` that answers from a tape; `go` puts it at a tick.

    `refusals` are errors to give instead, by function or by question; what was never asked is not
    found, as in an older library.
    """

    NVMLError = pynvml.NVMLError
    nvmlMemory_v2 = pynvml.nvmlMemory_v2  # noqa: N815

    def __init__(self, tape):
        self.tape = tape if isinstance(tape, dict) else json.loads(Path(tape).read_text())
        assert self.tape["schema"] == SCHEMA
        self._numbers = {}
        self.refusals = {}
        self.asked = deque(maxlen=1000)
        self._at = -1
        self._answers = {}
        self.go(0)

    def __dir__(self):
        return [*dir(pynvml), *super().__dir__()]

    @property
    def ticks(self):
        """How many there are; after the last the first comes again."""
        return len(self.tape["ticks"])

    def go(self, tick):
        """Answer from now on as at this tick."""
        tick %= self.ticks
        if tick < self._at:
            self._at, self._answers = -1, {}
        while self._at < tick:
            self._at += 1
            self._answers |= self.tape["ticks"][self._at]

    def pids(self):
        """The processes whose memory is told on this tape by those who hold it."""
        return [holder["pid"] for holder in self.tape["about"]["holders"]]

    def renumber(self, pids):
        """Give the first processes of the tape other numbers."""
        self._numbers = dict(zip(self.pids(), pids, strict=False))

    def __getattr__(self, name):
        if name.startswith("NVML_"):
            return getattr(pynvml, name)
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def asked(*arguments):
            key = question(name, arguments)
            self.asked.append(key)
            code = self.refusals.get(key, self.refusals.get(name))
            told = {"error": code} if code is not None else self._answers.get(key)
            if told is None and name in ("nvmlInit", "nvmlShutdown"):
                return None
            if told is None:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
            if "error" in told:
                raise pynvml.NVMLError(told["error"])
            answer = decoded(told["answer"])
            if "RunningProcesses" in name:
                for one in answer:
                    one.pid = self._numbers.get(one.pid, one.pid)
            return answer

        return asked
