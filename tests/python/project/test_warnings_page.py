"""docs/warnings.md has every line that is printed for the user: the page contains its fixed words."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]
# Text at the start of a line on stderr, or behind "!" in a report.
MARKS = ("print_line(", "print_not_recorded(", "line_start()", "fprintf(stderr", "losses.push_back(")
# Files whose texts are parts of such lines.
PARTS = ("src/core/throttled.cpp", "src/python/launch/end/end_of_run.cpp", "src/python/launch/plan/rank_run.cpp",
         "src/python/launch/end/summary_text.cpp", "src/weave/run_properties.cpp")  # fmt: skip
# Doors of other tools have pages of their own for their options; these are answers of a command to its user at once.
ELSEWHERE = ("src/doors/scorep/tools/", "src/tools/score/", "src/tools/view/", "src/tools/report/", "src/tools/main.cpp",
             "src/tools/convert/convert_command.cpp", "src/doors/omnitrace/tools/omnitrace_files.cpp", "src/tools/start/preload_command.cpp",
             "python/timeloom/_notebook/", "python/doors/timeloom_kernel/")  # fmt: skip
CODE = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|[;{}]|[^;{}\"/]+|/")
FIELDS = re.compile(r" ?\[TL\d+\]|%[\d.*]*l*[a-z]|\{[^{}]*\}|\\n|[`']")


def statements(path):
    """The statements of a file, each as its code and its texts; in Python a logical line is one."""
    text = path.read_text()
    if path.suffix == ".py":
        for line in re.findall(r"(?:sys\.stderr\.write|\b_?say|\b_print_line)\(.*", text):
            yield MARKS[0], re.findall(r"\"((?:[^\"\\]|\\.)*)\"", line)
        return
    code, texts = "", []
    for token in CODE.findall(text):
        if token in (";", "{", "}"):
            yield code, texts
            code, texts = "", []
        elif token.startswith('"'):
            follows = code.endswith('"') and texts
            texts = [*texts[:-1], texts[-1] + token[1:-1]] if follows else [*texts, token[1:-1]]
            code += '"'
        elif not token.startswith("//") and not (token.isspace() and code.endswith('"')):
            code += token


def fixed_words():
    """(file, words) of each part of a message that is not a field and has three words or more."""
    for path in sorted([*ROOT.glob("src/**/*.cpp"), *ROOT.glob("python/**/*.py")]):
        name = str(path.relative_to(ROOT))
        if name.startswith(ELSEWHERE):
            continue
        for code, texts in statements(path):
            if name in PARTS or any(mark in code for mark in MARKS):
                for words in (part.strip(" ,:;.()\"") for text in texts for part in FIELDS.split(text)):
                    if len(words.split()) >= 3:
                        yield name, re.sub("^(timeloom|scorep): ", "", words)


def plain(text):
    return " ".join(re.sub(r"[`']", "", text).split())


def test_every_line_is_in_the_page():
    page = plain((ROOT / "docs" / "warnings.md").read_text())
    words = list(fixed_words())
    assert len(words) > 50
    assert [one for one in words if plain(one[1]) not in page] == []
