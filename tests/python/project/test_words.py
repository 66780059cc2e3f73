"""scripts/check/words.py: the words that count, the words that do not, and a baseline that only shrinks."""

import json

import pytest
from scripts.check import words

pytestmark = pytest.mark.any_python


def groups(path: str, text: str) -> list[str]:
    return [group for _, _, group in words.places(path, text)]


@pytest.mark.parametrize(
    ("sentence", "group"),
    [
        ("The clock is that of the process.", "that_of"),
        ("The times are those\nof the parent.", "that_of"),
        ("It keeps what is open.", "what_is"),
        ("What was read stays.", "what_is"),
        ("A file that is no spool is left alone.", "is_no"),
        ("The numbers are no times.", "is_no"),
        ("The manifest says which.", "say"),
        ("As was said above.", "say"),
        ("Time counts from the begin of the run.", "begin"),
        ("Both have a begin and an end.", "begin"),
        ("It replaces files of who opened it.", "who"),
        ("Who calls it holds the lock.", "who"),
    ],
)
def test_words_that_count(sentence, group):
    comment = "".join(f"// {line}\n" for line in sentence.split("\n"))
    assert groups("docs/a.md", sentence) == [group]
    assert groups("src/a.hpp", comment) == [group]
    assert groups("src/a.cpp", f"/* {sentence} */ int that;") == [group]
    assert groups("python/a.py", comment.replace("//", "#")) == [group]
    assert groups("python/a.py", f'def of():\n    """{sentence}"""\n') == [group]
    assert groups("scripts/a.sh", comment.replace("//", "#")) == [group]
    assert groups("tests/python/test_a.py", f'def of():\n    """{sentence}"""\n') == [group]


@pytest.mark.parametrize(
    "sentence",
    [
        "The process's clock counts.",
        "There is no file, and there were no calls.",
        "It is no longer open, and is no more than a name.",
        "It prints what is wrong.",
        "A few files, say, ten.",
        "Users say so.",
        "What is measured?",
        "Who waits for whom, and what was it?",
        "Regions begin before they end; the first to begin is the root.",
        "The user who opened it, whoever it was.",
        "Write `that of` for it.",
        "```\nthe begin of what is said\n```",
    ],
)
def test_words_that_do_not_count(sentence):
    assert groups("docs/a.md", sentence.replace(", and what was it", "")) == []


def test_messages_count_and_code_does_not():
    assert groups("src/a.cpp", 'fail("what is that of");') == ["what_is", "that_of"]
    assert groups("src/a.cpp", 'char c = \'"\'; say(the, begin); // fine\nauto s = "say";') == []
    assert groups("src/a.cpp", "void say();  // what\nint is;\n") == []
    assert groups("python/a.py", "def say(what): is_no = f'{what} is no spool'") == ["is_no"]
    assert groups("cmake/a.cmake", 'message("of who")  # the begin') == ["who", "begin"]


def test_strings_of_tests_do_not_count():
    text = 'def test():\n    assert out == "what is said"  # that of\n    run("""\nthe begin of\n""")\n'
    assert groups("tests/python/test_a.py", text) == ["that_of"]
    assert groups("python/a.py", text) == ["what_is", "say", "that_of", "begin"]


def test_the_line_is_that_in_the_file():
    text = 'int a;\n/* one\n * two, and what\n * is three */\nconst char* b = "x";\n\n// says four\n'
    assert [(line, found) for line, found, _ in words.places("src/a.cpp", text)] == [(3, "what is"), (7, "says")]


def test_the_baseline_only_shrinks():
    baseline = {"a": 3, "b": 2}
    assert words.lowered(baseline, {"a": 1, "b": 0}) == {"a": 1}
    assert words.lowered(baseline, {"a": 3, "moved": 2}) == {"a": 3, "moved": 2}
    with pytest.raises(SystemExit, match="more are in a"):
        words.lowered(baseline, {"a": 4})
    with pytest.raises(SystemExit, match="new files"):
        words.lowered(baseline, {"a": 3, "b": 2, "new": 1})


@pytest.mark.parametrize(("allowed", "status"), [({"a.md": 1}, 0), ({}, 1)])
def test_a_tree_is_held_to_its_baseline(tmp_path, monkeypatch, capsys, allowed, status):
    (tmp_path / "a.md").write_text("Start.\n\nThe begin of it.\n")
    (tmp_path / "words.json").write_text(json.dumps(allowed))
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "BASELINE", tmp_path / "words.json")
    monkeypatch.setattr(words, "names_of_tree", lambda: ["a.md", "gone.md", "a.png"])
    assert words.main([]) == status
    assert capsys.readouterr().out == ('a.md:3: "The begin": the start\n' if status else "")


def test_write_lowers_the_baseline(tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text("The begin of it.\n")
    (tmp_path / "words.json").write_text(json.dumps({"a.md": 2, "gone.md": 1}))
    monkeypatch.setattr(words, "ROOT", tmp_path)
    monkeypatch.setattr(words, "BASELINE", tmp_path / "words.json")
    monkeypatch.setattr(words, "names_of_tree", lambda: ["a.md"])
    assert words.main(["--write"]) == 0
    assert json.loads((tmp_path / "words.json").read_text()) == {"a.md": 1}
