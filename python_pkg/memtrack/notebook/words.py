"""The table of what `%memtrack` understands: its sub-commands and options, each with its help.

Parser, help and completion read this table and nothing else, so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass

from memtrack.i18n import Text, text


@dataclass(frozen=True, slots=True)
class SubCommand:
    """A word after `%memtrack`; `argument` is what follows it, "" where nothing may.

    In brackets it may be left out. Each of several `words` may have quotes.
    """

    name: str
    argument: str
    help: Text
    words: bool = False

    @property
    def takes_words(self) -> bool:
        """Whether any number of words may follow, rather than exactly one argument."""
        return self.words or self.argument.startswith("[")


@dataclass(frozen=True, slots=True)
class Option:
    """An option of `%memtrack MODEL`; `value` stands for what follows it."""

    name: str
    value: str
    help: Text


SUB_COMMANDS = {
    command.name: command
    for command in (
        SubCommand("off", "", text("end the recording; its report stays")),
        SubCommand("status", "", text("say in one line what is being recorded")),
        SubCommand("mark", "LABEL", text("name this moment, to find it in the timeline")),
        SubCommand(
            "summary",
            "[MOMENT [MOMENT]]",
            text("the allocator's statistics at a moment, or at two"),
        ),
        SubCommand(
            "explain",
            "[TEXT]",
            text("explain the last failure, or a given error"),
        ),
        SubCommand(
            "advise",
            "[NAME] [--budget SIZE]",
            text("what would help in the latest run, and how much"),
        ),
        SubCommand(
            "plan",
            "[7B | kv CONFIG | …]",
            text("what a model would need, from its size alone"),
        ),
        SubCommand(
            "predict",
            "BUILD [--gpu NAME|SIZE] [OPTION …]",
            text("whether a training step fits a GPU, without a GPU"),
            words=True,
        ),
        SubCommand("open", "PATH", text("the report of a .memtrack file or a torch snapshot")),
        SubCommand(
            "export",
            "FILE [--table NAME] [--force]",
            text("the latest run as .html, .csv, .parquet, .json"),
            words=True,
        ),
        SubCommand(
            "save", "[NAME] [--baseline]", text("name the latest run, or make it the baseline")
        ),
        SubCommand(
            "history",
            "[FILTER | WORD RUN …]",
            text("the runs kept here; names, tags, notes, pins, undo"),
        ),
        SubCommand(
            "diff",
            "[A [B]] [--steps | --rank N]",
            text("what changed from run A to B; or from step to step"),
        ),
        SubCommand("who", "", text("who keeps GPU memory alive here, by name")),
        SubCommand("free", "[NAME …]", text("give back the last error, outputs, variables named")),
        SubCommand("gpu", "", text("what is on the GPUs here, and whose it is")),
        SubCommand("track", "MODEL", text("track a model whose name is a sub-command")),
        SubCommand("help", "", text("show this help")),
    )
}

OPTIONS = {
    option.name: option
    for option in (
        Option(
            "--optimizer",
            "OPT",
            text("the optimizer, or a list; found by itself if not given"),
        ),
        Option("--steps", "N", text("stop by itself after N steps")),
        Option("--label", "NAME", text("what the report calls the model")),
    )
}

OTHER_WORDS = {
    "stop": "off",
    "end": "off",
    "start": "track",
    "record": "track",
    "watch": "track",
    "profile": "track",
    "compare": "diff",
    "gpus": "gpu",
    "load": "open",
}
"""What people try, and the sub-command that does it."""

HELP_WORDS = ("help", "-h", "--help", "?")

EXAMPLES = (
    ("%memtrack model", text("record the coming steps, in whichever cells they run")),
    ("%memtrack trainer.model --steps 5", text("record five steps, then stop")),
    ("%memtrack [gen, disc] --optimizer [opt_g, opt_d]", text("two models, two optimizers")),
    ("%%memtrack model", text("record this cell")),
    ("%memtrack", text("show the latest report again")),
    ("%memtrack explain error", text("explain an exception or a text called `error`")),
    ("%memtrack free loss --cache", text("drop `loss` as well; give the cache to others")),
    ("%memtrack save before --baseline", text("name this run, and compare later ones with it")),
    ("%memtrack diff", text("what the last run changed against the baseline")),
    ("%memtrack diff before model.memtrack", text("a kept run against a file")),
    ("%memtrack history tag 12 bf16 wide", text("tag run 12; `history bf16` finds it again")),
    ("%memtrack summary step 2 end", text("what changed in the allocator since step 2")),
)
