"""The comments in the code of advice, in every language: the code itself is the same in all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from memtrack.i18n import Text, catalogue, languages, text

COMMENTS: Sequence[Text] = (
    text("and no .cuda() inside the dataset"),
    text("and the embedding below them"),
    text("at the end of the loop's body"),
    text("before anything else on CUDA"),
    text("before CUDA starts"),
    text("before jax is imported"),
    text("before Python starts"),
    text("before the forward"),
    text("before the loop"),
    text("before the optimizer is made; and the batch"),
    text("before torch is imported"),
    text("before: what is made on first use is made now"),
    text("default: no limit"),
    text("divide, or the gradient is n times as large"),
    text("few files instead of many"),
    text("gives back what the last attempt prepared"),
    text("has to name render and video"),
    text("in a notebook, before the first import of torch:"),
    text("JAX: takes 75 % by default"),
    text("just before the line"),
    text("kill -9 only if that does not help"),
    text("no .item(), .cpu() or print of a tensor in it"),
    text("no optimizer.step()"),
    text("numbers of the batch in bfloat16 too: batch.to(torch.bfloat16)"),
    text("or --ipc=host"),
    text("or foreach=False"),
    text("or the number, once per step"),
    text("outside of autocast; no GradScaler"),
    text("run with torchrun"),
    text("shows first what it would release"),
    text("small things that stay: not here"),
    text("stays on the GPU, without its graph"),
    text("TensorFlow: takes all by default"),
    text("the CPU names the wrong index"),
    text("the default since CUDA 12.2"),
    text("the limit of this shell"),
    text("then the traceback names the right line"),
    text("then: memtrack open oom.pickle"),
    text("what is reserved is not free for others"),
    text("who holds the rest, by name"),
    text("who they are, and the command that ends each"),
    text("within, so that nothing outlives an attempt"),
    text("without the optimizer's state"),
)
"""Those that are sentences: names and code in comments stay as they are."""
_COMMENT = re.compile(r"(?:^|(?<=\s))#\s+(.+)$")


def in_language(code: str, language: str) -> str:
    """Return code with its comments in `language`; those without a translation stay."""
    known = catalogue(language)
    return "\n".join(_line(line, known) for line in code.splitlines()) if known else code


def in_each_language(code: str) -> dict[str, str]:
    """Return code in each shipped language, for a reader whose language is not known yet."""
    return {language: in_language(code, language) for language in languages()}


def _line(line: str, known: Mapping[str, str]) -> str:
    found = _COMMENT.search(line)
    if found is None:
        return line
    return line[: found.start(1)] + known.get(found[1].strip(), found[1])
