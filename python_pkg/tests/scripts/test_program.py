"""A program that memtrack runs cannot tell, nor can who reads its output: Python is the reference."""

import os
import py_compile
import re
import sys
import time
import zipfile

import pytest
from scripts.running import memtrack_run, python

NAMESPACE = """
import sys
from __main__ import __name__ as imported
names = {name: value for name, value in sorted(globals().items()) if name != "__loader__"}
names["__builtins__"] = type(names["__builtins__"]).__name__
names.pop("sys")
print(names)
print(type(__loader__).__name__, sys.argv, sys.path, imported, vars(sys.modules["__main__"]) is globals())
import beside
"""

PROGRAMS = {
    "namespace": NAMESPACE,
    "error": "def f(x):\n    return 1 / x\n\nprint('before')\nf(0)\n",
    "cause": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('no') from error\n",
    "syntax": "print('x')\ndef f(:\n    pass\n",
    "indentation": "if True:\nprint(1)\n",
    "exit": "import sys\nsys.exit(7)\n",
    "exit_with_words": "import sys\nsys.exit('that was it')\n",
    "exit_without": "raise SystemExit\n",
    "interrupt": "print('before')\nraise KeyboardInterrupt\n",
    "missing_import": "import no_such_module_anywhere\n",
    "atexit": "import atexit\natexit.register(print, 'late')\nprint('early')\n1 / 0\n",
    "own_hook": (
        "import sys\n"
        "sys.excepthook = lambda kind, error, tb: print(kind, error, tb.tb_lineno, tb.tb_next)\n"
        "raise ValueError('x')\n"
    ),
    "failing_hook": (
        "import sys\ndef hook(*a):\n    raise RuntimeError('hook')\n"
        "sys.excepthook = hook\nraise ValueError('x')\n"
    ),
    "last_error": (
        "import sys, atexit\n"
        "def show():\n"
        "    tb = sys.last_traceback\n"
        "    print(sys.last_value, tb.tb_lineno, tb.tb_next, sys.last_value.__traceback__ is tb)\n"
        "atexit.register(show)\nraise ValueError('x')\n"
    ),
    "thread": (
        "import threading\nthread = threading.Thread(target=lambda: 1 / 0, name='t')\n"
        "thread.start()\nthread.join()\n"
    ),
    "late_thread": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()\nprint('main')\n"
    ),
    "spawn": (
        "import multiprocessing\n\nclass Box:\n    pass\n\ndef work(box):\n    return type(box).__name__\n"
        "\nif __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(work, [Box()]))\n"
    ),
    "fork": (
        "import os, sys\nif os.fork() == 0:\n    print('child', flush=True)\n    sys.exit(0)\n"
        "os.wait()\nprint('parent')\n"
    ),
    "pickle": (
        "import pickle\n\nclass Box:\n    pass\n\n"
        "print(type(pickle.loads(pickle.dumps(Box()))), Box.__module__)\n"
    ),
    "source": "import inspect\n\ndef f():\n    return 1\n\nprint(inspect.getsource(f))\n",
    "annotations": "x: int = 1\nprint(__annotations__)\n\ndef f(a: undefined = 1): ...\n",
    "warning": "import warnings\nwarnings.warn('careful')\n",
    "hard_exit": "import os\nprint('x', flush=True)\nos._exit(5)\n",
    "group": "raise ExceptionGroup('many', [ValueError('a'), TypeError('b')])\n",
    "input": "import sys\nprint(sys.stdin.isatty(), sys.flags.interactive, sys.flags.optimize)\n",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "beside.py").write_text("print('beside', __name__)\n")
    return tmp_path


def same(folder, *arguments, **environment):
    """Assert that both ways to run a program come to the same; return it."""
    expected = python(folder, *arguments, **environment)
    assert memtrack_run(folder, "--no-record", *arguments, **environment) == expected
    return expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_runs_as_python_runs_it(folder, name):
    (folder / "program.py").write_text(PROGRAMS[name])
    same(folder, "program.py", "--out", "x", "-m", "--", "last argument")


def test_the_comparison_sees_what_it_should(folder):
    (folder / "program.py").write_text(PROGRAMS["namespace"])
    found = same(folder, "program.py", "a")
    assert f"'__file__': '{folder / 'program.py'}'" in found.out
    assert f"['program.py', 'a'] ['{folder}'" in found.out
    (folder / "program.py").write_text(PROGRAMS["interrupt"])
    assert same(folder, "program.py").code == -2


def test_a_script_elsewhere_and_through_a_link(folder):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "beside.py").write_text("print('the other beside')\n")
    (inner / "program.py").write_text(NAMESPACE + "1 / 0\n")
    assert "the other beside" in same(folder, "inner/program.py").out
    (folder / "link.py").symlink_to(inner / "program.py")
    assert "the other beside" in same(folder, "link.py").out
    assert "the other beside" in same(folder, inner / "program.py").out


def test_a_script_in_another_encoding_or_with_a_mark(folder):
    (folder / "program.py").write_bytes("# -*- coding: latin-1 -*-\nprint('é')\n".encode("latin-1"))
    assert same(folder, "program.py").out == "é\n"
    (folder / "program.py").write_bytes("\ufeffprint('ü')\n".encode())
    assert same(folder, "program.py").out == "ü\n"


def test_a_script_in_an_encoding_that_it_does_not_declare(folder):
    (folder / "program.py").write_bytes(b"first = 1\nname = 'caf\xe9'\n")
    ours, pythons = memtrack_run(folder, "--no-record", "program.py"), python(folder, "program.py")
    assert ours.code == pythons.code == 1
    theirs = pythons.err.replace(str(folder) + os.sep, "")
    assert ours.err.replace(str(folder) + os.sep, "") == theirs


def test_a_compiled_script(folder):
    (folder / "program.py").write_text("import sys\nprint(__file__, sys.argv)\n")
    py_compile.compile(str(folder / "program.py"), cfile=str(folder / "compiled.pyc"))
    same(folder, "compiled.pyc", "x")


def test_a_folder_and_a_zip_file_with_a_main(folder):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "__main__.py").write_text(
        "import sys, other\nprint(sys.argv, sys.path[0], __file__, __package__, __spec__.name)\n"
    )
    (inner / "other.py").write_text("print('other')\n")
    assert "other" in same(folder, "inner", "x").out
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        for path in inner.glob("*.py"):
            archive.write(path, path.name)
    assert "other" in same(folder, "packed.zip", "x").out


def without_runpy(err):
    """Return a traceback without the frames by which `python -m` itself runs a module."""
    return re.sub(r'  File "<frozen (runpy|importlib[^>]*)>", line .*\n', "", err)


def same_module(folder, *arguments):
    expected, found = python(folder, *arguments), memtrack_run(folder, "--no-record", *arguments)
    assert (found.code, found.out) == (expected.code, expected.out)
    shown = without_runpy(expected.err)
    # Where only frames of Python's own stood, there is no traceback left.
    assert found.err in (shown, shown.removeprefix("Traceback (most recent call last):\n"))
    return found


@pytest.fixture
def package(folder):
    package = folder / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import sys\nprint('init', sys.argv)\n")
    shown = "import sys\nprint(sys.argv, sys.path[0], __package__, __spec__.name, __file__, __cached__)\n"
    (package / "__main__.py").write_text(shown + "from . import part\n")
    (package / "part.py").write_text("print('part', __name__)\n")
    (package / "error.py").write_text(shown + "def f():\n    1 / 0\nf()\n")
    (package / "syntax.py").write_text("def f(:\n")
    (package / "spawns.py").write_text(PROGRAMS["spawn"])
    return package


@pytest.mark.parametrize("name", ["package", "package.error", "package.spawns", "package.syntax"])
def test_a_module_runs_as_python_runs_it(folder, package, name):
    same_module(folder, "-m", name, "-m", "--steps", "x")


def test_the_name_may_follow_the_letter(folder, package):
    assert memtrack_run(folder, "--no-record", "-mpackage", "x") == memtrack_run(
        folder, "--no-record", "-m", "package", "x"
    )


def test_a_package_that_fails_shows_its_own_error(folder, package):
    (package / "__init__.py").write_text("import no_such_module_anywhere\n")
    found = memtrack_run(folder, "--no-record", "-m", "package.part")
    assert found.code == 1
    assert found.err == (
        "Traceback (most recent call last):\n"
        f'  File "{package / "__init__.py"}", line 1, in <module>\n'
        "    import no_such_module_anywhere\n"
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "memtrack run needs a program: a script, or -m and the name of a module."),
        (["-m"], "memtrack run needs a program: a script, or -m and the name of a module."),
        (["--steps", "0", "beside.py"], "steps must be a whole number from 1, not 0."),
        (["--out", "none/x", "beside.py"], "There is no folder {folder}/none."),
    ],
)
def test_wrong_use_is_one_line(folder, arguments, problem):
    found = memtrack_run(folder, *arguments)
    assert (found.code, found.err) == (2, problem.format(folder=folder) + "\n")
    assert "beside" not in found.out


@pytest.mark.parametrize("recording", [(), ("--no-record",)], ids=["recorded", "not recorded"])
@pytest.mark.parametrize(
    "arguments",
    [
        "none.py",
        "none",
        "none/none.py",
        "beside.py/x",
        ".",
        "empty",
        "./empty/",
        "other.zip",
        "-m none",
        "-m no.such.module",
        "-m none.py",
        "-m beside.py",
        "-m beside.part",
        "-m package",
        "-m package.none",
        "-m empty",
        "-m .",
        "-m .beside",
        "-m sys",
        "-m 1+1",
    ],
)
def test_where_there_is_nothing_to_run_python_has_the_word(folder, arguments, recording):
    for name in ("package", "empty"):
        (folder / name).mkdir()
    (folder / "package" / "__init__.py").touch()
    with zipfile.ZipFile(folder / "other.zip", "w") as file:
        file.writestr("module.py", "")
    words = arguments.split()
    expected, found = python(folder, *words), memtrack_run(folder, *recording, *words)
    assert (found.code, found.out, found.err) == (expected.code, expected.out, expected.err)
    assert found.code in (1, 2) and found.err.count("\n") == 1
    assert not list(folder.glob("*.memtrack"))


def test_a_folder_and_a_zip_file_with_a_main_run_and_exit_as_it_says(folder):
    program = "import sys\nprint(sys.argv, sys.path[0], __file__, __spec__.name)\nsys.exit(3)\n"
    (folder / "app").mkdir()
    (folder / "app" / "__main__.py").write_text(program)
    with zipfile.ZipFile(folder / "app.zip", "w") as file:
        file.writestr("__main__.py", program)
    for words in (["app", "a"], ["./app/"], ["app.zip", "-m"], ["-m", "app", "b"]):
        assert same(folder, *words).code == 3


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python names no line any more")
def test_a_binary_file_is_no_program(folder):
    (folder / "program.py").write_bytes(b"x = 1\n\0\1\2")
    same(folder, "program.py")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--step", "3", "beside.py"], "There is no option '--step'. Did you mean '--steps'?"),
        (["--steps", "x", "beside.py"], "--steps takes a whole number, not 'x'."),
    ],
)
def test_an_option_that_is_none_is_one_line(folder, arguments, words):
    found = memtrack_run(folder, *arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.strip().startswith(words[:30])
    assert found.err.count("\n") == 1


def test_help_is_there_in_both_languages(folder):
    found = memtrack_run(folder, "--help")
    assert (found.code, found.err) == (0, "")
    assert "memtrack run [--out FILE] [--steps N] [--no-record] (SCRIPT | -m MODULE)" in found.out
    assert "--no-record" in memtrack_run(folder, "-h", MEMTRACK_LANG="zh_CN").out
    assert "不记录" in memtrack_run(folder, "-h", MEMTRACK_LANG="zh_CN").out
    assert "run a program as Python does" in python(folder, "-m", "memtrack", "--help").out


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.11 brought the option")
def test_nothing_is_put_on_the_path_where_python_was_told_not_to(folder):
    (folder / "program.py").write_text("import sys\nprint(sys.path)\n")
    same(folder, "program.py", PYTHONSAFEPATH="1")


def test_a_program_without_torch_starts_at_once(folder):
    (folder / "program.py").write_text("print(1)\n")

    def fastest(*arguments):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            assert python(folder, *arguments).code == 0
            times.append(time.perf_counter() - begin)
        return min(times)

    assert fastest("-m", "memtrack", "run", "program.py") - fastest("program.py") < 0.3


def test_a_program_without_torch_has_nothing_to_record(folder):
    (folder / "program.py").write_text("import sys\nprint('numpy' in sys.modules)\n")
    found = memtrack_run(folder, "program.py")
    assert (found.code, found.out) == (0, "False\n")
    assert found.err == (
        "memtrack: nothing was recorded, since the program did not import PyTorch.\n"
    )
    assert not list(folder.glob("*.memtrack"))
