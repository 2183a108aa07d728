"""Check that each room of the code imports only the rooms it may: one allow-list, two languages.

In: the sources. Out: one line for each arrow that is not allowed, and exit code 1. Changing what
a room may import means changing the lists below, in the same commit.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / "python_pkg" / "memtrack"
TYPESCRIPT = ROOT / "src"

# ---------------------------------------------------------------------------- Python
# In the order the data passes: a room imports the rooms above it, and itself.
PYTHON_BASE = (
    "errors",
    "folders",
    "units",
    "sizes",
    "tracebacks",
    "i18n",
    "words",
    "rankfacts",
    "_version",
    "_frontend",
)
PYTHON_ORDER = (
    "base",
    "recording",
    "allocator",
    "readers",
    "analysis",
    "comparison",
    "diagnosis",
    "remedies",
    "planners",
    "devices",
    "capture",
    "prediction",
    "runs",
    "reports",
    "exports",
    "planning",
    "api",
    "explaining",
    "advising",
    "tracking",
    "comparing",
    "predicting",
    "ranks",
)
# The doors import every room above, and of each other only what is written here.
PYTHON_DOORS: dict[str, tuple[str, ...]] = {
    "widgets": (),
    "notebook": ("widgets",),
    "server": (),
    "scripts": (),
    "cli": ("scripts",),
    "integrations": ("notebook", "scripts"),
}
# Arrows that exist only while a function runs: a recording that a notebook shows has a live view.
PYTHON_LATE: dict[str, tuple[str, ...]] = {
    "api": ("widgets", "predicting", "ranks"),
    "planning": ("widgets",),
    "comparing": ("widgets",),
}
# The front of the package hands out names on demand; when it is imported, it takes base alone.
PYTHON_FRONT = ("__init__", "_jupyter")
# `python -m memtrack` is the command line and nothing else.
PYTHON_MAIN = "__main__"

TORCH = ("torch", "torchvision", "torchaudio")
TORCH_ROOMS = ("capture", "prediction")
TORCH_TYPES_ROOMS = ("notebook",)
JUPYTER = (
    "IPython",
    "comm",
    "ipykernel",
    "ipywidgets",
    "jupyter_client",
    "jupyter_core",
    "jupyter_server",
    "jupyterlab",
    "jupyterlab_server",
    "nbclient",
    "nbconvert",
    "nbformat",
    "notebook",
    "tornado",
    "traitlets",
)

# ---------------------------------------------------------------------------- TypeScript
TYPESCRIPT_ROOMS: dict[str, tuple[str, ...]] = {
    "base": (),
    "wire": ("base",),
    "model": ("base", "wire"),
    "draw": ("base", "wire", "model"),
    "views": ("base", "wire", "model", "draw"),
    "widgets": ("base", "wire", "model", "draw", "views"),
    "api": ("base", "wire", "model"),
    "tokens": ("base", "wire", "model", "api"),
    "panel": ("base", "wire", "model", "draw", "views", "api", "tokens"),
    "plugins": (
        "base",
        "wire",
        "model",
        "draw",
        "views",
        "widgets",
        "api",
        "tokens",
        "panel",
    ),
    "index": ("plugins", "tokens"),
    "embed": ("base", "widgets"),
}
# Packages that only some rooms may import, by the beginning of their name.
TYPESCRIPT_PACKAGES: dict[str, tuple[str, ...]] = {
    "plotly.js": ("draw",),
    "@jupyter-widgets/": ("widgets", "plugins"),
    "@lumino/widgets": ("views", "widgets", "panel", "plugins", "tokens"),
    "@jupyterlab/services": ("api", "panel", "plugins", "tokens"),
    "@jupyterlab/notebook": ("api", "panel", "plugins", "tokens"),
    "@jupyterlab/application": ("panel", "plugins", "tokens", "index"),
}
# Files that are lists: no function and no class.
TYPESCRIPT_LISTS = ("index", "embed", "tokens")

# ---------------------------------------------------------------------------- debt
# Arrows that should not be there, each with the reason: (file, room or package) -> reason.
DEBT: dict[tuple[str, str], str] = {}


@dataclass(frozen=True, slots=True)
class Arrow:
    """One import: from a file, in a room, at a line, to a room or an outside package."""

    file: str
    line: int
    room: str
    target: str
    problem: str


def main() -> int:
    """Print each forbidden arrow and each debt that is paid; 1 if there is any."""
    found = [*check_python(PYTHON), *check_typescript(TYPESCRIPT)]
    owed = {(arrow.file, arrow.target) for arrow in found}
    for arrow in found:
        if (arrow.file, arrow.target) not in DEBT:
            print(f"{arrow.file}:{arrow.line}: {arrow.problem}")
    paid = [debt for debt in DEBT if debt not in owed]
    for file, target in paid:
        print(f"{file}: the debt '{target}' is paid: take it off the list in {Path(__file__).name}")
    return int(bool(paid) or any((arrow.file, arrow.target) not in DEBT for arrow in found))


def python_room(module: str) -> str:
    """Name the room of a dotted path below memtrack, such as `analysis.peak`."""
    first = module.partition(".")[0]
    return "base" if first in PYTHON_BASE else first or "__init__"


def python_allowed(room: str) -> tuple[str, ...]:
    """List the rooms that a room may import."""
    if room in PYTHON_DOORS:
        return (*PYTHON_ORDER, room, *PYTHON_DOORS[room])
    return PYTHON_ORDER[: PYTHON_ORDER.index(room) + 1]


def check_python(package: Path) -> Iterator[Arrow]:
    """Find the forbidden arrows of the Python package."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        room = python_room(".".join(parts))
        if room == PYTHON_MAIN:
            continue
        known = room in PYTHON_FRONT or room in PYTHON_DOORS or room in PYTHON_ORDER
        file = path.relative_to(package.parent.parent).as_posix()
        if not known:
            yield Arrow(file, 1, room, room, f"there is no room '{room}' in the allow-list")
            continue
        inside = parts[:-1]
        for node, module, lazy, typing_only in python_imports(ast.parse(path.read_text()), inside):
            problem = python_problem(room, module, lazy=lazy, typing_only=typing_only)
            if problem is not None:
                target, sentence = problem
                yield Arrow(file, node.lineno, room, target, sentence)


def python_problem(
    room: str, module: str, *, lazy: bool, typing_only: bool
) -> tuple[str, str] | None:
    """Tell what is wrong with an import of `module` in `room`: its target and a sentence."""
    top, _, rest = module.partition(".")
    if top == "memtrack":
        target = python_room(rest)
        if room in PYTHON_FRONT:
            if target in ("base", *PYTHON_FRONT) or lazy or typing_only:
                return None
            return target, f"the front of the package imports '{target}' before it is asked for"
        if target in python_allowed(room) or (lazy and target in PYTHON_LATE.get(room, ())):
            return None
        return target, f"'{room}' must not import '{target}'"
    if top in TORCH and room not in TORCH_ROOMS:
        if typing_only and room in TORCH_TYPES_ROOMS:
            return None
        return top, f"'{room}' must not import {top}: only {' and '.join(TORCH_ROOMS)} do"
    if room in PYTHON_FRONT and (lazy or typing_only):
        return None
    if top in JUPYTER and room not in PYTHON_DOORS:
        return top, f"'{room}' must not import {top}: Jupyter stays behind the doors"
    return None


def python_imports(
    tree: ast.Module, package: tuple[str, ...]
) -> Iterator[tuple[ast.stmt | ast.expr, str, bool, bool]]:
    """Give each import as (node, absolute module, inside a function, for type checkers only)."""

    def walk(
        node: ast.AST, lazy: bool, typing_only: bool
    ) -> Iterator[tuple[ast.AST, str, bool, bool]]:
        if isinstance(node, ast.Import):
            yield from ((node, alias.name, lazy, typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for module in from_modules(node, package):
                yield node, module, lazy, typing_only
        elif isinstance(node, ast.Call) and is_dynamic_import(node):
            name = node.args[0]
            assert isinstance(name, ast.Constant)
            yield node, str(name.value), True, typing_only
        guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, lazy or function, typing_only or guarded)

    for node, module, lazy, typing_only in walk(tree, False, False):
        assert isinstance(node, ast.stmt | ast.expr)
        yield node, module, lazy, typing_only


def from_modules(node: ast.ImportFrom, package: tuple[str, ...]) -> list[str]:
    """Resolve `from X import names` to modules; a name directly below memtrack may be a room."""
    module = node.module or ""
    if node.level:
        above = ("memtrack", *package)
        above = above[: len(above) - node.level + 1]
        module = ".".join((*above, module)) if module else ".".join(above)
    if module == "memtrack":
        return [f"memtrack.{alias.name}" for alias in node.names]
    return [module]


def is_dynamic_import(node: ast.Call) -> bool:
    """Recognise `import_module("name")` and `__import__("name")`."""
    called = ast.unparse(node.func).rpartition(".")[2]
    return (
        called in ("import_module", "__import__")
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
    )


IMPORT_TS = re.compile(
    r"""^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]"""
    r"""|^\s*import\s*['"]([^'"]+)['"]"""
    r"""|\bimport\(\s*(?:/\*.*?\*/\s*)?['"]([^'"]+)['"]\s*\)"""
    r"""|\brequire\(\s*['"]([^'"]+)['"]\s*\)""",
    re.MULTILINE | re.DOTALL,
)
COMMENT_TS = re.compile(r"^\s*//[^\n]*|^\s*/\*.*?\*/", re.MULTILINE | re.DOTALL)


def check_typescript(sources: Path) -> Iterator[Arrow]:
    """Find the forbidden arrows of the front end."""
    for path in sorted([*sources.rglob("*.ts"), *sources.rglob("*.tsx")]):
        parts = path.relative_to(sources).parts
        if "__tests__" in parts or ".spec." in path.name or path.name.endswith(".d.ts"):
            continue
        room = parts[0].partition(".")[0]
        file = path.relative_to(sources.parent).as_posix()
        if room not in TYPESCRIPT_ROOMS:
            yield Arrow(file, 1, room, room, f"there is no room '{room}' in the allow-list")
            continue
        text = COMMENT_TS.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
        if len(parts) == 1 and room in TYPESCRIPT_LISTS:
            code = re.search(r"\b(?:function|class)\b\s*\w*\s*[({]|=>\s*\{", text)
            if code:
                line = text.count("\n", 0, code.start()) + 1
                yield Arrow(file, line, room, "code", f"{file} is a list: it holds no code")
        for match in IMPORT_TS.finditer(text):
            specifier = next(group for group in match.groups() if group)
            problem = typescript_problem(room, parts, specifier)
            if problem is not None:
                line = text.count("\n", 0, match.end()) + 1
                yield Arrow(file, line, room, *problem)


def typescript_problem(room: str, parts: tuple[str, ...], specifier: str) -> tuple[str, str] | None:
    """Tell what is wrong with an import of `specifier` in a file: its target and a sentence."""
    if not specifier.startswith("."):
        for package, rooms in TYPESCRIPT_PACKAGES.items():
            if specifier.startswith(package) and room not in rooms:
                return package, f"'{room}' must not import {specifier}: only {', '.join(rooms)} do"
        return None
    folder = list(parts[:-1])
    for step in specifier.split("/"):
        if step == "..":
            if not folder:
                return specifier, f"{specifier} leads out of src"
            folder.pop()
        elif step != ".":
            folder.append(step)
    target = folder[0].partition(".")[0] if folder else "index"
    if target == room or target in TYPESCRIPT_ROOMS[room]:
        return None
    return target, f"'{room}' must not import '{target}'"


if __name__ == "__main__":
    sys.exit(main())
