"""Comments in the code of advice are in the reader's language, and the code stays what it is."""

import ast
import io
import tokenize

import pytest

from memtrack.diagnosis.advice.comments import COMMENTS, in_each_language, in_language
from memtrack.i18n import languages
from memtrack.remedies.catalogue import recipes

CODE = {one.id: one.entry.code for one in recipes()}
CHINESE = "zh_CN"


def comments(code):
    """Return the comments of Python code, as the language itself finds them."""
    lines = io.StringIO(code).readline
    tokens = [one for one in tokenize.generate_tokens(lines) if one.type == tokenize.COMMENT]
    return [one.string.lstrip("# ").strip() for one in tokens]


def python(code):
    return "\n".join(line for line in code.splitlines() if not line.startswith("export "))


@pytest.mark.parametrize("identifier", CODE)
def test_every_comment_of_a_remedy_is_translated_and_nothing_else_is(identifier):
    code, translated = python(CODE[identifier]), python(in_language(CODE[identifier], CHINESE))
    known = {one.template: one.render(CHINESE) for one in COMMENTS}
    assert comments(translated) == [known[one] for one in comments(code)]
    assert ast.dump(ast.parse(translated)) == ast.dump(ast.parse(code))


def test_what_is_no_comment_stays():
    for code in ("print('#', x)", "a = '#1'", "# CUDAExecutionProvider", "", "x = 1\n\ny"):
        assert in_language(code, CHINESE) == code
    assert in_language("f()    # run with torchrun", "en") == "f()    # run with torchrun"
    assert in_language("f()    # run with torchrun", CHINESE) == "f()    # 用 torchrun 运行"
    assert set(in_each_language("f()")) == set(languages())
