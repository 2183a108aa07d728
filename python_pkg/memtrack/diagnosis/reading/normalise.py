"""Lines as terminals, launchers, mail and JSON leave them, to the words that were meant.

Only what stands in front of the words and around them is taken away; the words stay. Wrapped lines
need no joining here: the search looks at the text without its spaces (`flat.py`).
"""

from __future__ import annotations

import html
import re
import unicodedata

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_ANSI_SPELT = re.compile(r"(?:\\{1,16}(?:u001b|x1b|033|e)|␛)\[[0-9;]*m", re.IGNORECASE)
_SPELT = re.compile(r"\\u([0-9a-fA-F]{4})")
# What is left of a colour where the escape character was lost on the way.
_ANSI_REST = re.compile(r"(?<!\w)\[(?:\d{1,3};?)+m")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\ufeff]")
_CERTAIN_END = re.compile(
    r"\\n(?=[\s\"]|[A-Z][\w.]*(?:Error|Exception|Warning)\b|Traceback|torch\.|$)"
)
_DRIVE = re.compile(r"\b[A-Za-z]:\\")

_TAGS = re.compile(r"</?(?:span|p|div|code|pre|b|i|em|strong|font|li|td|tr)(?:\s[^<>]*)?>")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\(https?://[^()\s]{1,300}\)")
_BREAKS = re.compile(r"<br\s*/?>")
_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL|NOTICE|TRACE|[DIWEF])"
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
_PREFIXES = (
    # Quoting: mail, comments, a box drawn around, a column of `docker compose`.
    r"[>|│┃╎]\s?",
    r"(?:#+|//+|\*)\s+",
    r"[\w.-]{1,40}\s+\|\s",
    # pytest's errors, and containers that note stream and whole or part of a line.
    r"E\s{3,}",
    r"std(?:out|err)\s[FP]\s",
    # Ranks: torchrun, Lightning, `srun --label`, mpirun.
    r"\[(?:rank|default|local_rank)?[ :]?\d{1,5}\]\s?:",
    r"(?:rank|node|worker)[ _-]?\d{1,5}\s?:\s",
    r"\[rank:?\s?\d+\]\s",
    r"\[\d+,\d+\]<std(?:out|err)>:",
    r"\d{1,4}:\s+(?=\S)",
    # Ray and vLLM: `(Name pid=12, ip=10.0.0.1)`, `(EngineCore_DP0 pid=12)`, `[repeated 3x …]`.
    r"\([\w.: -]{1,60}\bpid=\d+[^)]{0,80}\)",
    r"\(\w{1,40}\)\s(?=\(|" + _LEVEL + r"\b)",
    # Times.
    r"\[?\d{4}[-/]\d{1,2}[-/]\d{1,2}[T ]"
    + _CLOCK
    + r"(?:Z|[+-]\d{2}:?\d{2})?\]?(?:[,:|-]|\s[|-])?",
    r"\[?(?:\d{2}[-/])?\d{2}[-/]\d{2}[T ]" + _CLOCK + r"\]?(?:[,:|-]|\s[|-])?",
    r"\[?" + _CLOCK + r"\]?(?:[,:|-]|\s[|-])?\s",
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s" + _CLOCK + r"\s\S+\s",
    r"\[\s?\d+\.\d{4,6}\]\s",
    # What systemd's journal and syslog put between time and words: `node7 python3[812]: `.
    r"(?:[\w.-]{1,60}\s)?[\w./@-]{1,60}\[\d{1,7}\]:\s",
    # Levels and the place that logged.
    r"\[?" + _LEVEL + r"\]?\s*[:|]\s?",
    _LEVEL + r"\s+(?=\d{2,4}[-/:])",
    r"\[(?:" + _LEVEL + r"|[Dd]ebug|[Ii]nfo|[Ww]arn(?:ing)?|[Ee]rror|[Ff]atal)\]\s",
    r"\[[\w./-]+\.(?:py|cpp|cc|cu):\d+(?::\w+)?\]\s?",
    r"(?:[A-Z]{3,9}:)?[\w.]{2,60}:\w{1,40}:\d{1,5}\s[-|]\s",
)
_PREFIX = re.compile(r"\s*(?:" + "|".join(_PREFIXES) + ")")
_MOST_PREFIXES = 8
_INFORMATION = re.compile(
    r"(?:^|[\s\[|:])(?:INFO|DEBUG|NOTICE|TRACE)(?=[\s\]|:])|^\W?[IDV]\d{4}\s|(?:^|\s)[IV](?:\s|/)|\[[IV](?::|\])"
)
_TIMED = re.compile(r"^\W?(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}[T ])?" + _CLOCK)
_TROUBLE = re.compile(
    r"error|warn|fail|exception|exceed|insufficient|exhaust|not enough|out of|\boom\b|kill|crash|abort|\[[EWCF][\]:]",
    re.IGNORECASE,
)
_HEAD = 80
"""Characters of a line in which its level stands."""


def clean(line: str) -> str:
    """Return a line without colours, escapes and entities; it may hold line ends afterwards."""
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "\\" in line:
        line = unescape_json(line)
    if "[" in line:
        line = _ANSI_REST.sub("", line)
    if "&" in line:
        line = html.unescape(html.unescape(line))
    if "<" in line:
        line = _TAGS.sub("", _BREAKS.sub("\n", line))
    if "](" in line:  # a link, as Colab prints the files of a traceback
        line = _LINK.sub(r"\1", line)
    if "**" in line:
        line = line.replace("**", "")
    if not line.isascii():  # full-width signs, blanks that do not break
        line = unicodedata.normalize("NFKC", line)
    if "\r" in line:
        line = line.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", line) if not line.isprintable() else line


def unescape_json(line: str) -> str:
    r"""Return a line with `\n`, `\"` and spelt-out colours resolved, however often they were doubled.

    A line with a Windows drive keeps the backslashes of its paths: `C:\new` is no line end.
    """
    line = _ANSI_SPELT.sub("", line)
    while "\\\\" in line:
        line = line.replace("\\\\", "\\")
    if _DRIVE.search(line):
        return _CERTAIN_END.sub("\n", line).replace('\\"', '"')
    for escape, meant in (
        ("\\r\\n", "\n"),
        ("\\n", "\n"),
        ("\\t", " "),
        ('\\"', '"'),
        ("\\'", "'"),
        ("\\/", "/"),
        ("\\_", "_"),
    ):
        line = line.replace(escape, meant)
    return _SPELT.sub(lambda found: chr(int(found[1], 16)), line)


def is_information(line: str) -> bool:
    """Tell whether a logger has marked a clean line as information, or as less, or just with a time.

    >>> is_information("INFO 09-28 15:57 [worker.py:290] free memory 2 GiB"), is_information("INFORM")
    (True, False)
    """
    if _INFORMATION.search(line[:_HEAD]) is not None:
        return True
    return _TIMED.match(line) is not None and _TROUBLE.search(line) is None


def without_prefix(line: str) -> str:
    """Return a clean line without what a launcher, a logger or a quoting mail put before it.

    >>> without_prefix("(Trainer pid=7) ERROR 04-01 23:46:56 [engine.py:160] CUDA out of memory.")
    'CUDA out of memory.'
    """
    for _ in range(_MOST_PREFIXES):
        match = _PREFIX.match(line)
        if match is None or match.end() == 0:
            break
        line = line[match.end() :]
    return line.strip()
