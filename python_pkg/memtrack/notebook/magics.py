"""`%memtrack` and `%%memtrack`: a request to what it asks for.

Errors for the user end here as IPython's one-line UsageError. It is raised where nothing of the
user's is in reach, since IPython keeps the exception with its frames.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from IPython.core.error import UsageError as ShellUsageError
from IPython.core.magic import (
    Magics,
    line_cell_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)
from traitlets import Bool, Int, TraitError, Unicode, observe, validate

from memtrack.advising import advise
from memtrack.analysis.moments import KEYWORDS
from memtrack.api import (
    Presentation,
    Recording,
    cell_namer,
    end_state,
    hold_finished,
    load_recorder,
)
from memtrack.api import open as open_recording
from memtrack.errors import MemtrackError
from memtrack.explaining import explain
from memtrack.i18n import preferred_language, text
from memtrack.notebook.advice import parse_advise, progress_line
from memtrack.notebook.exporting import parse_export
from memtrack.notebook.failures import Failures
from memtrack.notebook.giveback import free, show_who
from memtrack.notebook.gpus import show_gpus
from memtrack.notebook.grammar import (
    Command,
    ShowLatest,
    Track,
    parse_cell,
    parse_line,
    split_words,
    unquote,
)
from memtrack.notebook.help import help_text
from memtrack.notebook.latest import Latest
from memtrack.notebook.output import Output, say
from memtrack.notebook.plan import Plan
from memtrack.notebook.planner import plan_for
from memtrack.notebook.predict import predicted
from memtrack.notebook.runs import RunCommands
from memtrack.notebook.subjects import error_or_text, recording_named
from memtrack.notebook.targets import find_target
from memtrack.notebook.tracebacks import as_users
from memtrack.notebook.usage import UsageTarget
from memtrack.notebook.watch import Watch, failure_of
from memtrack.planning import Plan as NumbersPlan
from memtrack.reports.advice import Remedies
from memtrack.reports.bounded import LIMIT_BYTES
from memtrack.reports.comparison import Diff
from memtrack.reports.explanation import Explanation
from memtrack.reports.history import RunList
from memtrack.reports.rankdiffs import RankDiffs
from memtrack.reports.steps import Steps
from memtrack.reports.summary import Summary, moment_names
from memtrack.runs.files import checked_size, limit
from memtrack.runs.surroundings import origin_of
from memtrack.widgets import new_model
from memtrack.widgets.live import LiveUpdates, answers_while_busy, busy_teller

Answer: TypeAlias = (
    Recording
    | Summary
    | Explanation
    | Remedies
    | NumbersPlan
    | RunList
    | Diff
    | RankDiffs
    | Steps
    | None
)
"""What a line gives to be shown."""


@magics_class
class MemtrackMagics(Magics):
    """What `%load_ext memtrack` adds to a shell. `%config MemtrackMagics` shows its settings."""

    language = Unicode(
        "", help="Language of sentences, such as en or zh_CN; empty for that of the system."
    ).tag(config=True)
    live = Bool(True, help="Show the run while it goes on, where the front end can.").tag(
        config=True
    )
    history = Bool(True, help="Keep each recording that has ended as a run.").tag(config=True)
    history_files = Int(
        None, min=0, allow_none=True, help="Most whole recordings beside the runs; 50 by default."
    ).tag(config=True)
    history_size = Unicode(
        "", help="Most bytes of them, such as 20GiB; empty for 2GiB, or as the environment says."
    ).tag(config=True)
    payload_limit = Int(
        LIMIT_BYTES, min=10_000, help="Most bytes of one report in the notebook file."
    ).tag(config=True)

    def __init__(self, shell: Any) -> None:
        super().__init__(shell=shell)
        self._shell = shell
        self._latest = Latest(self._presentation)
        self._failures = Failures(shell, self._language)
        self._usage = UsageTarget(shell, self._language)
        self._runs = RunCommands(shell, self._latest.recording, self.end, self._presentation)
        self._commands = {
            "help": self._help,
            "off": self._off,
            "status": self._status,
            "mark": self._mark,
            "summary": self._summary,
            "open": self._open,
            "export": self._export,
            "save": self._runs.save,
            "who": self._who,
            "free": self._free,
            "gpu": self._gpu,
        }

        # Those whose words are expressions, or the user's own: nothing in them is filled in.
        self._unexpanded: dict[str, Callable[[str, Mapping[str, Any]], Answer]] = {
            "explain": self._explain,
            "advise": self._advise,
            "predict": self._predict,
            "plan": lambda argument, names: plan_for(argument, names, self._language()),
            "history": lambda argument, _: self._runs.history(argument),
            "diff": self._runs.diff,
        }

    @observe("history_files", "history_size")
    def _limit_history(self, _: Any) -> None:
        limit(self.history_files, self.history_size or None)

    @validate("history_size")
    def _size(self, proposal: Any) -> str:
        size = str(proposal["value"])
        try:
            if size:
                checked_size(size)
        except MemtrackError as error:
            raise TraitError(error.in_language(self._language())) from None
        return size

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def memtrack(
        self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None
    ) -> Answer:
        """Answer one line or cell; the help made from the table of words replaces this."""
        try:
            return self._answer(line, cell, local_ns)
        except MemtrackError as error:
            problem = error.in_language(self._language())
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - it goes on
            __tracebackhide__ = True  # as IPython asks for
            del local_ns
            raise as_users(error)  # noqa: B904 - what it came from is part of it
        del local_ns
        raise ShellUsageError(problem)

    memtrack.__doc__ = help_text()

    def begin(self) -> None:
        """Explain cells that fail of memory from now on, and answer pages that watch."""
        hold_finished(True)
        self._failures.begin()
        self._usage.begin()

    def end(self) -> None:
        """End what is being recorded."""
        self._latest.end()

    def stop(self) -> None:
        """End what is being recorded, explain no more failures, answer no more pages."""
        self.end()
        self._failures.end()
        self._usage.end()
        hold_finished(False)

    def moments(self) -> list[str]:
        """Return the names of moments that can be asked for; of a running recording the usual ones.

        To know those of a running recording takes as long as its report.
        """
        if self._latest.running is not None:
            return list(KEYWORDS)
        try:
            return moment_names(self._latest.recording().data)
        except MemtrackError:  # there is none, or it failed and has no data
            return []

    def run_names(self) -> list[str]:
        """Return what runs of the history can be called."""
        return self._runs.names()

    def _answer(self, line: str, cell: str | None, local_ns: Mapping[str, Any] | None) -> Answer:
        request = parse_line(line) if cell is None else parse_cell(line)
        if isinstance(request, Command) and request.name in self._unexpanded:
            return self._unexpanded[request.name](request.argument, self._names(local_ns))
        if isinstance(request, Command):
            return self._commands[request.name](self._expanded(request.argument))
        if isinstance(request, ShowLatest):
            return self._latest.recording()
        watch = self._track(request, self._names(local_ns))
        if cell is not None:
            self._run_cell(watch, cell)
        return None

    def _names(self, local_ns: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Return what names mean here: a copy, which must not live while `free` runs."""
        return {**self._shell.user_ns, **(local_ns or {})}

    def _track(self, request: Track, names: Mapping[str, Any]) -> Watch:
        recorder_type = load_recorder()
        target = find_target(request.model, request.optimizer, request.label, names)
        recorder = recorder_type(
            target.models,
            target.optimizers,
            steps=request.steps,
            label=target.labels,
            names=cell_namer(self._shell),
        )
        self.end()
        shown = self._presentation()
        model = new_model(self._shell) if self.live else None
        plan = Plan(target.subject, request.steps, request.this_cell, shown.language)
        recording = Recording.of(recorder, shown)
        watch = Watch(self._shell, plan, recorder, recording, Output(self._shell, shown, model))
        hears, say_busy = answers_while_busy(self._shell), busy_teller(self._shell)
        watch.on_end = self._failures.with_recording
        watch.origin = origin_of(self._shell) if self.history else None
        watch.begin(None if model is None else LiveUpdates(model, recorder, hears, say_busy))
        self._latest.begun(watch)
        return watch

    def _run_cell(self, watch: Watch, cell: str) -> None:
        """Run a cell that came through `run_cell_magic`, by name, rather than as a cell."""
        result = None
        try:
            result = self._shell.run_cell(cell)
        finally:
            watch.end(end_state(failure_of(result)))

    def _help(self, _: str) -> None:
        self._shell.display_pub.publish({"text/plain": help_text(self._language())}, {})

    def _off(self, _: str) -> None:
        if self._latest.running is None:
            say(self._shell, text("Nothing is being recorded."), self._language())
        else:
            self.end()

    def _status(self, _: str) -> None:
        say(self._shell, self._latest.status(), self._language())

    def _mark(self, label: str) -> None:
        watch = self._latest.running
        if watch is None:
            raise MemtrackError(
                text("Nothing is being recorded, so nothing can be marked."),
                text("%memtrack MODEL records a model."),
            )
        watch.recording.mark(label)

    def _summary(self, moments: str) -> Summary:
        return self._latest.recording().summary(*map(unquote, split_words(moments)))

    def _explain(self, argument: str, names: Mapping[str, Any]) -> Explanation:
        """Explain what a name or a text says; without one the last failure. Texts are not expanded."""
        if argument:
            subject = error_or_text(argument, names)
        elif self._failures.latest is not None:
            which = self._failures.which()
            if which is not None:
                say(self._shell, which, self._language())
            return self._failures.latest
        else:
            subject = getattr(sys, "last_value", None) or ""
        if isinstance(subject, ShellUsageError) and not argument:
            raise MemtrackError(
                text("The last error was a slip in a command, not a failure of your code."),
                text("%memtrack explain NAME explains an exception or a text."),
            )
        if isinstance(subject, BaseException):
            return self._failures.explain(subject)
        if not subject:
            raise MemtrackError(
                text("No error has been shown in this notebook yet."),
                text("%memtrack explain NAME explains an exception or a text."),
            )
        return replace(explain(subject), language=self._language())

    def _advise(self, argument: str, names: Mapping[str, Any]) -> Remedies:
        """Weigh remedies for the latest recording, or for the one that a name stands for."""
        wanted = parse_advise(argument)
        recording = (
            recording_named(wanted.subject, names) if wanted.subject else self._latest.recording()
        )
        return advise(
            recording,
            wanted.budget,
            gpus=wanted.gpus,
            language=self._language(),
            progress=progress_line(self._shell, self._language()),
        )

    def _predict(self, argument: str, names: Mapping[str, Any]) -> Answer:
        prediction = predicted(argument, names, self._shell, self._presentation())
        if prediction is not None:
            self._latest.opened(prediction)
        return prediction

    def _open(self, path: str) -> Recording:
        recording = open_recording(path, self._presentation())
        self._latest.opened(recording)
        return recording

    def _export(self, argument: str) -> None:
        wanted = parse_export(argument)
        latest: Any = self._latest.recording()
        written = latest.export(wanted.path, table=wanted.table, force=wanted.force)
        for path in written if isinstance(written, list) else [written]:
            say(self._shell, text("Wrote {path}.", path=path), self._language())

    def _who(self, _: str) -> None:
        show_who(self._shell, self._language())

    def _free(self, argument: str) -> None:
        free(self._shell, argument, self._language())

    def _gpu(self, _: str) -> None:
        show_gpus(self._shell, self._language())

    def _expanded(self, argument: str) -> str:
        """Fill in `$name` and `{name}` as IPython does for other magics."""
        if "$" not in argument and "{" not in argument:
            return argument
        return str(self._shell.var_expand(argument))

    def _presentation(self) -> Presentation:
        return Presentation(self._language(), self.payload_limit, self.live)

    def _language(self) -> str:
        return self.language or preferred_language()
