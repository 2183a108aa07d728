"""ARCHITECTURE.md speaks of what is: every file and symbol it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", TEXT)
PYTHON = ROOT / "python_pkg" / "memtrack"


def test_every_path_is_there():
    paths = [q for q in QUOTED if re.fullmatch(r"[\w./]+(\.(py|ts|md)|/)", q)]
    assert len(paths) > 30
    roots = (ROOT, PYTHON, ROOT / "src")
    missing = [p for p in paths if not any((root / p).exists() for root in roots)]
    assert not missing


def test_every_symbol_is_there():
    source = "\n".join(p.read_text(encoding="utf-8") for p in PYTHON.rglob("*.py"))
    source += "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "src").rglob("*.ts"))
    dotted = [q for q in QUOTED if re.fullmatch(r"[A-Z]\w+(\.\w+)?", q) and not q.isupper()]
    assert len(dotted) > 8
    missing = [q for q in dotted for part in q.split(".") if not re.search(rf"\b{part}\b", source)]
    assert not missing


def test_it_can_be_read_in_one_sitting():
    assert len(TEXT.splitlines()) <= 240
