"""Counts the turns of phrase that a reader has to read twice, and fails where a file has more than its baseline.

usage: python3 -m scripts.check.words [--list [FILE ...] | --write]

It reads comments, docstrings, messages (strings with a space) and documents without their code; of tests only comments
and docstrings, since their strings repeat what programs print. scripts/check/words.json holds the count of each file
that has any, so a new file starts with none. --list prints the places. --write lowers the counts to those found and
refuses to raise one; a new file takes only as many as others lost, since a file that is moved takes its count along.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASELINE = ROOT / "scripts" / "check" / "words.json"

# {group: (the words, what to write instead)}
PATTERNS = {
    "that_of": (r"(?:that|those)\s+of", "repeat the noun, or use a genitive (the thread's name)"),
    "what_is": (r"what\s+(?:is|was|has)", "name the thing (the recorded calls, the open regions)"),
    "is_no": (r"(?:is|are|was|were)\s+no", "is not a, has no"),
    "say": (r"(?:say|says|said|saying)", "reports print, files contain, runs record, words mean, tests check"),
    "begin": (
        r"(?:an?|the|its|their|each|every|from|at|since|before|after|between)\s+begin(?!\()|begin\s+(?:of|(?:and|or)\s+end)",
        "the start",
    ),
    "who": (r"(?:of|to|for|by|with|from|than|as|on|at)\s+who|(?-i:Who)", "whoever, or a noun (the user who)"),
}
# {words that are legal English, though a pattern is in them: the reason}
EXCEPTIONS = {
    r"there\s+(?:is|are|was|were)\s+no": "denies that a thing exists, not that it is of a kind",
    r"(?:is|are|was|were)\s+no\s+(?:longer|more|less|fewer|better|worse)": "an adverb follows, not a noun",
    r"what\s+(?:is|was)\s+(?:wrong|missing|new)": "no noun is as short",
    r"that\s+is\s+to\s+say|,\s+say,": "stands before an explanation or an example",
    r"(?:people|users?|they|we|you|standard|documentation)\s+(?:say|said)": "people do",
    r"(?-i:What\s+(?:is|was|has)|Who)\b[^.?!:]{0,100}\?": "a question",
}
GROUPS = "|".join(f"(?P<{name}>{turn})" for name, (turn, _) in PATTERNS.items())
COUNTED = re.compile(rf"\b(?:{'|'.join(EXCEPTIONS)})|\b(?:{GROUPS})\b", re.IGNORECASE)

STRING = r"(?P<string>\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')"
C_PROSE = r"//[^\n]*|/\*(?s:.*?)\*/|R\"(?P<end>\w*)\((?s:.*?)\)(?P=end)\"|" + STRING
PYTHON_PROSE = r"#[^\n]*|(?P<long>\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)''')|" + STRING
SCRIPT_PROSE = r"(?<!\S)#[^\n]*|" + STRING
TEXT_PROSE = r"^ *```(?s:.*?)^ *```|`[^`\n]*`|(?P<text>[^`]+)"
PROSE = {
    ending: re.compile(prose, re.MULTILINE)
    for prose, endings in {
        C_PROSE: ".c .cpp .h .hpp .inc .def .css .mjs .ts .tsx",
        PYTHON_PROSE: ".py .pyi .pyx",
        SCRIPT_PROSE: ".sh .cmake .in .toml .txt .yml Makefile",
        TEXT_PROSE: ".md",
    }.items()
    for ending in endings.split()
}
# What stands before the words of a line in a comment.
MARGIN = re.compile(r"^[ \t]*(?://+|#+|\*+)", re.MULTILINE)


def is_prose(path: str, text: str, piece: re.Match[str]) -> bool:
    groups = piece.groupdict()
    if path.endswith(".md"):
        return groups["text"] is not None
    if path.startswith("tests/") and groups.get("long"):
        before = text[max(0, piece.start() - 100) : piece.start()].rstrip()
        return before == "" or before.endswith(":")
    return not groups["string"] or (" " in piece[0] and not path.startswith("tests/"))


def prose_of(path: str, text: str) -> str:
    """The text with a semicolon in place of code; each line stays in its place."""
    parts = []
    end = 0
    for piece in PROSE[ending(path)].finditer(text):
        for part, kept in ((text[end : piece.start()], False), (piece[0], is_prose(path, text, piece))):
            parts.append(part if kept or part.isspace() else ";" + "\n" * part.count("\n"))
        end = piece.end()
    return MARGIN.sub("", "".join(parts))


def ending(path: str) -> str:
    return pathlib.PurePath(path).suffix or pathlib.PurePath(path).name


def places(path: str, text: str) -> list[tuple[int, str, str]]:
    """The line, the words and the group of each turn that counts."""
    prose = prose_of(path, text)
    found = [(match.start(), match[0], match.lastgroup) for match in COUNTED.finditer(prose)]
    return [(prose.count("\n", 0, start) + 1, " ".join(words.split()), group) for start, words, group in found if group]


def lowered(baseline: dict[str, int], counts: dict[str, int]) -> dict[str, int]:
    """The counts as the next baseline, or an exit where they have grown."""
    grown = sorted(path for path, count in counts.items() if count > baseline.get(path, count))
    if grown or sum(counts.values()) > sum(baseline.values()):
        sys.exit(f"words: the baseline only shrinks; more are in {', '.join(grown) or 'new files'}")
    return {path: count for path, count in sorted(counts.items()) if count}


def names_of_tree() -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")


def read_tree() -> dict[str, list[tuple[int, str, str]]]:
    files = sorted(name for name in names_of_tree() if ending(name) in PROSE and (ROOT / name).is_file())
    return {name: places(name, (ROOT / name).read_text(errors="replace")) for name in files}


def print_places(found: dict[str, list[tuple[int, str, str]]], paths: list[str]) -> None:
    for path in paths:
        for line, words, group in found.get(path, []):
            print(f'{path}:{line}: "{words}": {PATTERNS[group][1]}')


def main(arguments: list[str]) -> int:
    try:
        found = read_tree()
    except (OSError, subprocess.CalledProcessError):
        print("words: this is not a checkout of git; the words were not checked", file=sys.stderr)
        return 0
    baseline = json.loads(BASELINE.read_text())
    if arguments == ["--write"]:
        new = lowered(baseline, {path: len(hits) for path, hits in found.items()})
        BASELINE.write_text(json.dumps(new, indent=0) + "\n")
        return 0
    if arguments[:1] == ["--list"]:
        print_places(found, arguments[1:] or list(found))
        print(dict(collections.Counter(group for hits in found.values() for _, _, group in hits)))
        return 0
    more = [path for path, hits in found.items() if len(hits) > baseline.get(path, 0)]
    print_places(found, more)
    for path in more:
        print(f"{path}: {len(found[path])} such places, {baseline.get(path, 0)} in the baseline", file=sys.stderr)
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
