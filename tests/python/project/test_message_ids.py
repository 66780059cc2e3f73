"""The ids of messages: each has an entry, each entry is used, and `timeloom explain` prints it."""

import re
import subprocess

import pytest
from scripts.check import message_ids

from timeloom._text import without_id

pytestmark = pytest.mark.any_python


@pytest.mark.skipif(not (message_ids.ROOT / ".git").exists(), reason="asks git for the files")
def test_each_message_has_an_id_and_each_id_a_row():
    assert message_ids.complaints(message_ids.ROOT) == []


C_SOURCE = """
// throw Error("in a comment");
throw Error("no run in " + path + "; name one [TL201]");
throw Error(
    "no run in " + word(path, "x") + "; name one");
say(line);
std::fprintf(stderr, "timeloom: %s is lost\\n", name);
std::fprintf(file, "%s and %s", a, b);
explicit Error(const std::string& message);
"""
PYTHON_SOURCE = '''
"""raise Error("in a docstring")"""
raise Error(f"no run in {path}; name one [TL201]") from None
raise timeloom.Error(
    f"no run in {path}; name one")
raise Error(str(error))
sys.stderr.write(f"timeloom: {name} is lost\\n")
file.write("a text of the program")
'''


@pytest.mark.parametrize(("texts", "source", "lines"), [
    (message_ids.c_texts, C_SOURCE, [3, 4, 7]), (message_ids.python_texts, PYTHON_SOURCE, [3, 4, 7]),
])  # fmt: skip
def test_the_messages_of_a_file(texts, source, lines):
    found = dict(texts(source))
    assert sorted(found) == lines
    assert [bool(message_ids.ID.search(found[line])) for line in lines] == [True, False, False]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for folder in ("src", "docs", "python"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(message_ids, "EXEMPT", {})
    monkeypatch.setattr(message_ids, "sources", lambda root: ["src/a.cpp"])
    return tmp_path


ROW = '| <a id="tl{0}"></a>TL{0} | `no run` | none | name one |\n'


@pytest.mark.parametrize(("text", "rows", "complaint"), [
    ("no run [TL201]", ["201"], []),
    ("no run", [], ["src/a.cpp:1: this message has no id: no run"]),
    ("no run [TL201]", [], ["docs/warnings.md: no row for TL201"]),
    ("no run [TL201]", ["201", "202"], ["docs/warnings.md: TL202 ends no message"]),
    ("no run [TL201]", ["201", "201"], ["docs/warnings.md: TL201 has 2 rows"]),
])  # fmt: skip
def test_what_the_check_finds(tree, text, rows, complaint):
    (tree / "src" / "a.cpp").write_text(f'throw Error("{text}");\n')
    (tree / "docs" / "warnings.md").write_text("".join(map(ROW.format, rows)))
    assert message_ids.complaints(tree) == complaint


def test_an_exemption_that_nothing_needs(tree, monkeypatch):
    (tree / "src" / "a.cpp").write_text('throw Error("no run"), Error("none here");\n')
    (tree / "docs" / "warnings.md").write_text("")
    monkeypatch.setattr(message_ids, "EXEMPT", {"src": {"no run": "", "here": "", "gone": ""}})
    assert message_ids.complaints(tree) == ["EXEMPT: no message in src has 'gone'"]


def explain(program, *words, status=0):
    done = subprocess.run([program, "explain", *words], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stderr if status else done.stdout


def test_explain(timeloom_program):
    entry = explain(timeloom_program, "TL201")
    assert re.fullmatch(r"TL201  there is no run in this directory; .+\n  meaning:     .+\n", entry)
    assert explain(timeloom_program, "tl201", "1") == entry + "\n" + explain(timeloom_program, "TL001")
    assert "`" not in entry and "](" not in explain(timeloom_program, "8")


def test_explain_of_an_id_that_is_none(timeloom_program):
    assert explain(timeloom_program, "TL998", status=2) == "timeloom: there is no message TL998; the nearest is TL736 [TL435]\n"
    assert explain(timeloom_program, "x", status=2) == "timeloom: 'x' is not the id of a message, such as TL001 [TL435]\n"
    assert explain(timeloom_program, status=2).startswith("timeloom: an id is missing; ")


def test_all_ids_are_explained(timeloom_program):
    ids = [row for _, row in message_ids.ROW.findall((message_ids.ROOT / message_ids.PAGE).read_text())]
    explained = explain(timeloom_program, *ids)
    assert [line[:5] for line in explained.splitlines() if line.startswith("TL")] == ids


def test_a_message_that_is_quoted():
    assert without_id(ValueError("no run; name one [TL201]")) == "no run; name one"
    for text in ("", "[TL201]", "a [TL2x1]", "a [TL2011]", "a [TL201] b"):
        assert without_id(text) == text
