"""Recording a run: hooks in, hooks out, and the recording at the end.

attach   module and optimizer hooks, and what is alive already
enter    the watch of operations and saved tensors, on the thread that runs the loop
leave    takes those off again; repairs what an exception left open
detach   takes everything off; nothing of ours stays in the process
finish   detach and return the recording
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from memtrack.capture import torch_api
from memtrack.capture.arguments import (
    Models,
    Optimizers,
    checked_models,
    checked_optimizers,
    checked_steps,
    labels_of,
    unique,
)
from memtrack.capture.assemble import History, tables_of_history, tables_of_storages
from memtrack.capture.backends import describe
from memtrack.capture.discovery import compiled_modules, living_objects, share_parameters
from memtrack.capture.guard import Guard
from memtrack.capture.history import AllocatorHistory, is_usable
from memtrack.capture.libraries import sizes_of_buckets, sizes_of_libraries
from memtrack.capture.observer import Observer
from memtrack.capture.probes import Probes
from memtrack.capture.readings import Readings
from memtrack.capture.runfacts import KEY
from memtrack.capture.ticks import Tick
from memtrack.diagnosis.diagnosis import Place
from memtrack.errors import MemtrackError, RecordingStateError
from memtrack.i18n import text
from memtrack.recording.categories import PhaseKind, ReadingKind
from memtrack.recording.data import Facts, Notice, RecordingData

MAX_EVENTS = 1_000_000
"""A recording ends by itself at the step after this many events: about 150 MB of columns."""
FIRST_STEPS = 3
"""Steps after which no further device is expected to come into use before the end."""

_recorders: weakref.WeakSet[Recorder] = weakref.WeakSet()


class Recorder:
    """Records the coming steps of `model`, or of every outermost module when it is None.

    `steps` ends the recording after that many; `label` names the model (several labels for several
    models, one for the recording where none is given); `names` maps a source file to how people know
    it. Raises UsageError for arguments that are not modules, optimizers or a positive number.
    """

    def __init__(
        self,
        model: Models = None,
        optimizer: Optimizers = None,
        *,
        steps: int | None = None,
        label: str | Sequence[str] = "model",
        names: Callable[[str], str] | None = None,
        max_events: int = MAX_EVENTS,
    ) -> None:
        models = checked_models(model)
        self._models = [weakref.ref(one) for one in models]
        self._labels = labels_of(models, label)
        self._whole = label if isinstance(label, str) else "model"
        self._given = [weakref.ref(o) for o in checked_optimizers(optimizer)]
        self._follows_any = model is None
        self._steps = checked_steps(steps)
        self._max_events = max_events
        self._names = names
        self.called: Callable[[torch.nn.Module], str] = lambda _: ""
        """What a model that nobody named is called; "" for its class."""
        self._history = self._history_of(models)
        self._snapshot: dict[str, Any] | None = None
        counts = None if self._history is None else self._history.counts
        self._observer = self._make_observer(names, counts)
        self._observer.on_new_step = self._may_begin_step
        self._observer.on_boundary = self._boundary
        self._observer.on_watch = self._watch
        self._observer.on_late_step = self._step_ended
        self._observer.adopt = self._adopt
        self._observer.meter.on_due = self._tick
        self._guard = guard = self._make_guard()
        self._probes = Probes(self._observer, guard)
        self._readings = Readings(self._observer.builder, self._observer.moments)
        self._attached = self._ended = False
        self._state = "recording"
        self._started = datetime.datetime.now(datetime.timezone.utc)
        self._identifier = uuid.uuid4().hex
        self.on_step: list[Callable[[], None]] = []
        """Called on the recording thread when a step has ended."""
        self.on_tick: list[Callable[[Tick], None]] = []
        """Called on the recording thread at most four times a second; must take under 2 ms."""
        _recorders.add(self)

    def _history_of(self, models: list[torch.nn.Module]) -> AllocatorHistory | None:
        return AllocatorHistory() if is_usable(models) else None

    def _make_observer(
        self, names: Callable[[str], str] | None, counts: Callable[[], tuple[int, int]] | None
    ) -> Observer:
        return Observer(names, self._history is None, counts)

    def _make_guard(self) -> Guard:
        return Guard(self._give_up)

    @property
    def identifier(self) -> str:
        """The name of the recording being made, which its facts have too."""
        return self._identifier

    @property
    def state(self) -> str:
        """`recording`, or how it ended: `complete`, `interrupted`, `failed`."""
        return self._state

    @property
    def finished(self) -> bool:
        """Whether nothing more will be recorded."""
        return self._ended

    @property
    def steps_done(self) -> int:
        """How many whole steps have been recorded."""
        phases = self._observer.phases
        return phases.step + (1 if phases.steps.is_whole else 0)

    @property
    def progress(self) -> tuple[int, int]:
        """How many calls of tracked models and how many events there have been; cheap."""
        return self._observer.calls_seen(), self._observer.moments.cut()

    def attach(self) -> None:
        """Register the hooks and take in what is alive. Does nothing the second time.

        Where the user's own classes make that fail, the recording ends here and the run goes on.
        """
        if self._attached:
            return
        if self._ended:
            raise RecordingStateError(text("This recording has ended."), text("Start a new one."))
        self._attached = True
        try:
            with torch_api.unseen():
                self._begin()
        except MemtrackError:
            raise
        except Exception as error:  # noqa: BLE001 - code of the user's classes may raise anything
            self._guard.give_up(error)

    def _begin(self) -> None:
        observer = self._observer
        self._take_in_living()
        for reference, label in zip(self._models, self._labels, strict=True):
            model = reference()
            if model is not None:
                self._add_root(model, label)
        for optimizer in observer.optimizers.all():
            observer.notice_state(optimizer)
        observer.phases.steps.expect(id(one) for one in observer.optimizers.all())
        if self._history is not None:
            self._watch_devices(self._history)
            self._history.start()
        observer.blocks.begun = True
        self._read(ReadingKind.START)
        self._probes.attach()
        if self._follows_any:
            for module in compiled_modules():
                self._probes.watch_compiled(module)

    def enter(self) -> None:
        """Watch operations and saved tensors on this thread until `leave`."""
        if self._ended:
            return
        self.attach()
        if self.finished:  # something of the user's classes has made that fail
            return
        self._observer.adopt_thread()
        try:
            hears_of_saved = self._probes.enter()
        except Exception as error:  # noqa: BLE001 - the installation may be such that torch raises
            self._guard.give_up(error)
            return
        if not hears_of_saved:
            self._observer.notices.add("saved_hooks_disabled")

    def enter_call(self, module: torch.nn.Module, args: Any) -> None:
        """Enter from a pre-hook of a call whose hooks torch has gathered before ours were there."""
        self.enter()
        self._probes.enter_call(module, args)

    def leave_call(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        """Tell the end of a call that was entered so, where no hook of ours does."""
        self._probes.leave_call(module, args, output)

    def leave(self) -> None:
        """Stop watching this thread: the cell or block is over, whichever way it ended."""
        with torch_api.unseen():
            self._observer.settle()
        self._probes.leave()
        done = self._steps is not None and self.steps_done >= self._steps
        if done and not self._ended:
            self._end("complete")

    def detach(self) -> None:
        """Take every hook off. Safe at any time and any number of times."""
        self._probes.detach()
        if self._history is not None:
            self._history.stop()
        self._attached = False

    def place(self, seen: Place) -> Place:
        """Return where this thread is: what its frames told (`seen`), and what is recorded besides."""
        phase, layer, step = self._observer.whereabouts()
        phase = "" if phase == PhaseKind.OTHER.id else phase
        return Place(seen.phase or phase, seen.layer or layer, step, seen.site)

    def mark(self, label: str) -> None:
        """Name this moment."""
        observer = self._observer
        string = observer.builder.strings.add(label)
        moment = {"cut": observer.moments.cut(), "time_ns": observer.moments.now_ns()}
        observer.builder["marks"].add(**moment, label=string)
        self._readings.take(observer.blocks.device_rows(), ReadingKind.MARK, string)

    def tick(self) -> Tick:
        """Return the state at this moment."""
        phases = self._observer.phases
        reserved = None if self._history is None else self._history.reserved()
        return self._observer.meter.tick(phases.step, phases.current.id, reserved)

    def data(self) -> RecordingData:
        """Return the recording as it stands; it goes on."""
        observer = self._observer
        observer.phases.close()
        self._readings.flush()
        if self._history is None:
            tables = tables_of_storages(observer, sizes_of_buckets(self._living_models()))
        else:
            tables = tables_of_history(observer, self._history_so_far(), self._names)
        return observer.builder.build(self._facts(), tables)

    def _history_so_far(self) -> History:
        history = self._history
        assert history is not None
        return History(
            snapshot=self._snapshot or history.read(),
            initial=history.initial,
            beginning_ns=self._observer.moments.base_ns + history.clock_offset_ns,
            libraries=sizes_of_libraries(self._living_models()),
        )

    def finish(self, state: str = "complete") -> RecordingData:
        """End the recording, take every hook off and return it."""
        with torch_api.unseen():
            if not self._ended:
                self._observer.settle()
                self._end(state)
            return self.data()

    def _end(self, state: str) -> None:
        if self._ended:
            return
        observer = self._observer
        observer.phases.close()
        if self._history is not None:
            self._watch_devices(self._history)
        self._read(ReadingKind.END)
        self._ended = True
        self._state = state
        if self._history is not None and self._attached:
            observer.notice_models()
            self._snapshot = self._history.read()
        self.detach()
        observer.blocks.release_all()
        self._call(self.on_step)

    def _give_up(self) -> None:
        """Something of ours has failed: end here, with what there is."""
        self._observer.notices.add("gave_up")
        self._observer.settle()
        self._end("failed")

    def _take_in_living(self) -> None:
        observer = self._observer
        tensors, optimizers = living_objects()
        observer.notice_living(tensors)
        parameters = [p for model in self._living_models() for p in model.parameters()]
        for optimizer in optimizers:
            if self._follows_any or share_parameters(optimizer, parameters):
                observer.optimizers.add(optimizer)
        for reference in self._given:
            given = reference()
            if given is not None:
                observer.optimizers.add(given)

    def _living_models(self) -> list[torch.nn.Module]:
        return [one for reference in self._models if (one := reference()) is not None]

    def _add_root(self, model: torch.nn.Module, label: str) -> int:
        observer = self._observer
        root = observer.layers.add_root(model, label)
        observer.notice_model(root)
        observer.facts.saw_model(model)
        for module in model.modules():
            if torch_api.is_compiled_module(module):
                observer.notice_compiled()
                self._probes.watch_compiled(module)
            elif torch_api.is_scripted_module(module):
                observer.notices.add("scripted")
        return root

    def _adopt(self, module: torch.nn.Module) -> int:
        """Track an outermost module nobody named, when asked to follow any."""
        if not self._follows_any or self._ended:
            return -1
        self._models.append(weakref.ref(module))
        taken = {self._observer.builder.strings.get(path) for path in self._root_paths()}
        label = unique(self.called(module) or type(module).__name__, taken)
        return self._add_root(module, label)

    def _root_paths(self) -> Iterable[int]:
        layers = self._observer.builder["layers"]
        return (layers.get(root, "path") for root in self._observer.layers.roots())

    def _may_begin_step(self) -> bool:
        """A step is over. Return False, having ended the recording, when it was the last."""
        observer = self._observer
        done = observer.phases.step + 1
        if self._steps is not None and done >= self._steps:
            self._end("complete")
            return False
        if self._history is not None and done <= FIRST_STEPS:
            self._watch_devices(self._history)
        if self._events_so_far() > self._max_events:
            observer.notices.add("full")
            self._end("complete")
            return False
        self._readings.take(observer.blocks.device_rows(), ReadingKind.STEP)
        self._step_ended()
        return True

    def _events_so_far(self) -> int:
        if self._history is None:
            return self._observer.moments.cut()
        return self._history.events_so_far()

    def _boundary(self, kind: ReadingKind) -> None:
        """A phase has ended."""
        observer = self._observer
        devices = observer.blocks.device_rows()
        observer.samples.take(devices)
        self._readings.take(devices, kind)
        if self._history is not None:
            observer.meter.observe(*self._history.levels())

    def _watch_devices(self, history: AllocatorHistory) -> None:
        for device in history.devices():
            self._observer.blocks.device_row(device)

    def _read(self, kind: ReadingKind) -> None:
        """Read what allocator and driver say, however recent the last reading."""
        devices = self._observer.blocks.device_rows()
        self._observer.samples.take(devices, force=True)
        self._readings.take(devices, kind)

    def _watch(self, watched: bool) -> None:
        """The coming forward pass is watched, or repeats earlier ones and needs no hooks."""
        if self._attached and not self._guard.is_shut:
            self._probes.watch(watched)

    def _step_ended(self) -> None:
        self._call(self.on_step)

    def _tick(self) -> None:
        # What is alive is taken in tensor by tensor: a figure of half of it would be wrong.
        if self.on_tick and self._observer.blocks.begun:
            tick = self.tick()
            for listener in list(self.on_tick):
                listener(tick)

    def _call(self, listeners: list[Callable[[], None]]) -> None:
        for listener in list(listeners):
            listener()

    def _facts(self) -> Facts:
        notices = [Notice(identifier) for identifier in sorted(self._limits())]
        if not self._observer.calls_seen():
            notices.append(Notice("no_steps"))
        return Facts(
            label=", ".join(self._labels) or self._whole,
            state=self._state,
            evidence="measured",
            source="storages" if self._history is None else "allocator",
            started=self._started.isoformat(timespec="seconds"),
            identifier=self._identifier,
            versions={"torch": torch.__version__, "python": platform.python_version()},
            notices=tuple(notices),
            extra=self._settings(),
        )

    def _limits(self) -> set[str]:
        """Return the ids of everything this recording could not see."""
        observer = self._observer
        kinds = {device.type for device in observer.blocks.device_rows()} - {"cpu"}
        of_backends = {notice for kind in kinds for notice in describe(kind).notices}
        return observer.notices | observer.samples.notices | of_backends

    def _settings(self) -> dict[str, Any]:
        """Return the allocator's settings as its snapshot has them, and what the run was made of."""
        found = (self._snapshot or {}).get("allocator_settings")
        run = {KEY: self._observer.facts.to_json(on_cuda=self._history is not None)}
        return {"allocator_settings": found, **run} if isinstance(found, dict) else run


def active_recorder() -> Recorder | None:
    """Return a recorder that is attached now, None for none."""
    return next((one for one in list(_recorders) if one._attached), None)


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Let no recorder that is attached now see what runs inside: it is not the user's run."""
    attached = [one._guard for one in list(_recorders) if one._attached]
    open_guards = [guard for guard in attached if not guard.is_shut]
    for guard in open_guards:
        guard.is_shut = True
    try:
        yield
    finally:
        for guard in open_guards:
            guard.is_shut = False


def _silence_in_child() -> None:
    """A forked process, such as a DataLoader worker, inherits our modes; it must not pay for them."""
    for recorder in list(_recorders):
        recorder._guard.shut()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_silence_in_child)
