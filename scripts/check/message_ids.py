"""Checks that each message has an id with one row in docs/warnings.md, and that each row belongs to a message.

usage: python3 -m scripts.check.message_ids

A message is a text that the code throws as one of our errors or writes for the user; its id ends it, as in
"no run in work; name one [TL201]". A call that passes on a text from elsewhere has no text of its own, and is not
looked at. EXEMPT lists the messages without an id, with the reasons.
"""

import ast
import collections
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/warnings.md"
ID = re.compile(r"\[(TL(?!000)[0-9]{3})\]")  # TL000 stands for any
ROW = re.compile(r"^\| <a id=\"(tl[0-9]{3})\"></a>(TL[0-9]{3}) \|", re.MULTILINE)
# What throws an error of ours, or writes a line for the user.
C_SITES = {"Error", "EnvironmentError", "WrongUsage", "fprintf", "print_line", "print_not_recorded",
           "print_nothing_measured"}  # fmt: skip
PYTHON_SITES = {"Error", "Refused", "UsageError", "_print_line", "write", "_failed", "PytestWarning",
                "SystemExit", "exit"}  # fmt: skip
TOKEN = re.compile(
    r"""//[^\n]*|/\*(?s:.*?)\*/|R"(\w*)\((?s:.*?)\)\1"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\w+|\s+|."""
)

# {file or folder: {a part of the text, or "" for all of its messages: the reason}}
EXEMPT = {
    "python/doors/scorep/__main__.py": {"Cannot run file": "a text of Score-P's Python bindings"},
    "python/timeloom/_scorep_words.py": {
        "Did not find a script": "a text of Score-P's Python bindings",
        "unkown": "a text of Score-P's Python bindings, with its misspelling",
    },
    "src/doors/scorep/tools": {"": "answers of the commands that have their names from Score-P"},
    "src/formats/cube/score_profile.cpp": {"": "scorep-score quotes it in a text of Score-P"},
    "src/formats/cube/value_type.cpp": {"": "the message about a damaged CUBE file quotes it"},
    "src/gpu/cuda/injection.cpp": {"timeloom: %s": "passes on a message"},
    "src/python/api/arrow_stream.cpp": {"": "Arrow's readers quote it in messages of theirs"},
    "src/python/launch/attaching.cpp": {"comes first": "a wrong call inside of the package"},
    "src/python/launch/preload.cpp": {" not recorded: ": "the callers give the second half, with the id"},
    "src/python/launch/run_program.cpp": {"": "as Python itself refuses a program"},
    "src/run/experiment_directory.cpp": {"Experiment directory": "a text of Score-P"},
    "src/tools/start/run_native.cpp": {" s, ": "the summary", "next: timeloom report": "the next step"},
    "src/tools/top/top_command.cpp": {"next: timeloom report": "the next step"},
    "src/tools/view/view_command.cpp": {
        "nobody asked": "the end that the user has asked for",
        "Ctrl-C ends it": "tells how to end it",
        "with the lines of": "progress",
        "wrote ": "progress",
    },
    "src/weave/ranks/rank_result.cpp": {"it ": "nobody sees it: the rank is woven again"},
}


def c_texts(source: str) -> Iterator[tuple[int, str]]:
    """The lines and the texts of the messages of a C++ file: all string literals of a call."""
    tokens = [(match[0], match.start()) for match in TOKEN.finditer(source)]
    tokens = [(text, at) for text, at in tokens if not text.isspace() and not text.startswith(("//", "/*"))]
    for index, (name, at) in enumerate(tokens[:-1]):
        if name not in C_SITES or tokens[index + 1][0] != "(":
            continue
        depth, literals = 0, []
        for text, _ in tokens[index + 1 :]:
            depth += (text in "([{") - (text in ")]}")
            if text.startswith('"') and len(text) > 2:
                literals.append(text[1:-1])
            if depth == 0:
                break
        text = " ".join(literals)
        is_ours = name != "fprintf" or text.startswith("timeloom: ")
        if is_ours and any(" " in literal.strip() for literal in literals):
            yield source.count("\n", 0, at) + 1, text


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "write" and ast.unparse(node.func) != "sys.stderr.write":
            continue
        if name in PYTHON_SITES and node.args:
            parts = (one.value for one in ast.walk(node.args[0]) if isinstance(one, ast.Constant))
            literals = [part for part in parts if isinstance(part, str)]
            if any(" " in literal.strip() for literal in literals):
                yield node.lineno, " ".join(literals)


def reason_of(file: str, text: str) -> tuple[str, str] | None:
    """The exemption of a text."""
    for place, parts in EXEMPT.items():
        if file == place or file.startswith(f"{place}/"):
            for part in parts:
                if part in text:
                    return place, part
    return None


def sources(root: pathlib.Path) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "src", "python"], cwd=root, check=True, capture_output=True,
        text=True)  # fmt: skip
    files = (name for name in listed.stdout.splitlines() if (root / name).is_file())
    return sorted(name for name in files if name.endswith((".cpp", ".hpp", ".in", ".py")))


def complaints(root: pathlib.Path) -> list[str]:
    found: list[str] = []
    used: collections.Counter[str] = collections.Counter()
    met: set[tuple[str, str]] = set()
    for file in sources(root):
        source = (root / file).read_text()
        used.update(ID.findall(source))
        if file.endswith(".in"):  # scripts of the shell
            continue
        for line, text in python_texts(source) if file.endswith(".py") else c_texts(source):
            exempt = reason_of(file, text)
            if exempt is not None:
                met.add(exempt)
            elif not ID.search(text):
                found.append(f"{file}:{line}: this message has no id: {text}")
    rows = collections.Counter(row for anchor, row in ROW.findall((root / PAGE).read_text()) if anchor == row.lower())
    found += [f"{PAGE}: no row for {one}" for one in sorted(set(used) - set(rows))]
    found += [f"{PAGE}: {one} ends no message" for one in sorted(set(rows) - set(used))]
    found += [f"{PAGE}: {one} has {count} rows" for one, count in sorted(rows.items()) if count > 1]
    unmet = [(place, part) for place, parts in EXEMPT.items() for part in parts if (place, part) not in met]
    return found + [f"EXEMPT: no message in {place} has {part!r}" for place, part in unmet]


def main() -> int:
    found = complaints(ROOT)
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
