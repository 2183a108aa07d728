"""Check that every sentence is translated, in every language there is: check_locale.py [--write].

In: the literals in `text("…")` (Python) and `trans.__('…')`, `_n`, `_p`, `_np` (TypeScript), the texts of
the schemas of settings, and the catalogues. Out: one line for each sentence that is missing, stale or has lost a placeholder, and
exit code 1. With --write, missing sentences are added untranslated and stale ones taken out.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python_pkg" / "memtrack"
FRONT = ROOT / "src"
SCHEMAS = ROOT / "schema"
# The texts of schemas, and their contexts, as in jupyterlab_server's translation_utils.py.
SCHEMA_TEXTS = ("title", "description", "jupyter.lab.setting-icon-label")
CATALOGUES = "locale/*/LC_MESSAGES/memtrack.json"
# JupyterLab takes a plural's translation only if it has two forms, also where both read the same.
PLURAL_FORMS = 2
# JupyterLab joins a context and a sentence with this in its catalogues.
CONTEXT = "\x04"
PLACEHOLDER = re.compile(r"\{(\w*)[^}]*\}|%(\d)")

CALL_TS = re.compile(r"\b_?trans\s*\.\s*(__|_n|_p|_np)\s*\(", re.IGNORECASE)
STRING_TS = re.compile(r"""\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")\s*(,?)""")


def main() -> int:
    """Print what is wrong with the catalogues, or write them anew."""
    front, plurals = typescript_sentences()
    used = {**python_sentences(), **front, **schema_sentences()}
    catalogues = sorted(PACKAGE.glob(CATALOGUES))
    if not catalogues:
        print(f"there is no catalogue {CATALOGUES}")
        return 1
    problems = [problem for path in catalogues for problem in check(path, used, plurals)]
    if "--write" in sys.argv[1:]:
        for path in catalogues:
            write(path, used)
    else:
        print("\n".join(problems), end="\n" if problems else "")
    return int(bool(problems))


def check(path: Path, used: dict[str, str], plurals: set[str]) -> Iterator[str]:
    """Compare one catalogue with the sentences in use."""
    language = path.parent.parent.name
    entries: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    for sentence, place in used.items():
        forms = entries.get(sentence, [])
        if not any(forms):
            yield f"{place}: no {language} for {sentence!r}"
        elif sentence in plurals and len(forms) < PLURAL_FORMS:
            yield f"{place}: {language} needs {PLURAL_FORMS} forms for {sentence!r}"
        for form in filter(None, forms):
            # A form of a plural may leave out its number, but may not invent a placeholder.
            lost = placeholders(sentence) ^ placeholders(form)
            if lost:
                yield f"{place}: {language} and English differ in {sorted(lost)}: {form!r}"
    for sentence in entries:
        if sentence and sentence not in used:
            yield f"{path.relative_to(ROOT)}: no code says {sentence!r}"


def placeholders(sentence: str) -> set[str]:
    """Give the names of the values that a sentence takes."""
    return {name or number for name, number in PLACEHOLDER.findall(sentence)}


def write(path: Path, used: dict[str, str]) -> None:
    """Bring a catalogue up to the sentences in use, in their order, keeping what is translated."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    fresh = {"": entries[""]} | {key: entries.get(key, [""]) for key in sorted(used)}
    path.write_text(json.dumps(fresh, ensure_ascii=False, indent=4) + "\n", encoding="utf-8")


def python_sentences() -> dict[str, str]:
    """Find the sentences of the Python package: sentence -> where."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        if path.name == "i18n.py" or "i18n" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("text", "i18n.text"):
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.setdefault(first.value, place)
                else:
                    sys.exit(f"{place}: text() takes a literal, so that it can be translated")
    return found


def typescript_sentences() -> tuple[dict[str, str], set[str]]:
    """Find the sentences of the front end: sentence, after its context if any -> where; plurals."""
    found: dict[str, str] = {}
    plurals: set[str] = set()
    for path in sorted([*FRONT.rglob("*.ts"), *FRONT.rglob("*.tsx")]):
        if "__tests__" in path.parts:
            continue
        source = path.read_text()
        for call in CALL_TS.finditer(source):
            place = f"{path.relative_to(ROOT)}:{source.count(chr(10), 0, call.start()) + 1}"
            wanted = 2 if call[1] in ("_p", "_np") else 1
            strings = list(literals(source, call.end(), wanted))
            if len(strings) < wanted:
                sys.exit(
                    f"{place}: trans.{call[1]}() takes literals, so that they can be translated"
                )
            found.setdefault(CONTEXT.join(strings), place)
            if call[1] in ("_n", "_np"):
                plurals.add(CONTEXT.join(strings))
    return found, plurals


def schema_sentences() -> dict[str, str]:
    """Find the texts of the schemas of settings: context and sentence -> where."""
    found: dict[str, str] = {}
    for path in sorted(SCHEMAS.glob("*.json")):
        place = str(path.relative_to(ROOT))
        texts = schema_texts(json.loads(path.read_text(encoding="utf-8")), "schema")
        found.update(dict.fromkeys(texts, place))
    return found


def schema_texts(value: object, context: str) -> Iterator[str]:
    """Give the texts below a value of a schema, each after its context."""
    if isinstance(value, list):
        for item in value:
            yield from schema_texts(item, context)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        is_lab = key.startswith("jupyter.lab")
        if key in SCHEMA_TEXTS and isinstance(inner, str):
            yield CONTEXT.join(("settings" if is_lab else context, inner))
        elif key != "default" and not is_lab:
            yield from schema_texts(inner, "settings" if key == "properties" else context)


def literals(source: str, start: int, count: int) -> Iterator[str]:
    """Read up to `count` string literals separated by commas."""
    for _ in range(count):
        match = STRING_TS.match(source, start)
        if match is None:
            return
        body = match[1][1:-1].replace("\\'", "'")
        yield ast.literal_eval('"' + re.sub(r'(?<!\\)"', r"\"", body) + '"')
        start = match.end()


if __name__ == "__main__":
    sys.exit(main())
