"""Extracts the subjects of the rules from C++, CMake and Python text, as (line, words)."""

import ast
import re
from collections.abc import Iterator

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
CONDITION = re.compile(r"\s*#\s*(?:if|elif|ifdef|ifndef|elifdef|elifndef)\b(.*)")
KEYWORDS = {"SOURCES", "USES", "LINKS"}  # of timeloom_library()


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without the comments at their end; lines that end in a backslash are joined."""
    begin, joined = 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        joined += re.sub(r"//.*|/\*.*?\*/", "", line)
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        yield begin, joined
        begin, joined = number + 1, ""


def namespaces(line: str) -> set[str]:
    """The names in front of `::` in a line of code, except std and the project's own namespace."""
    code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
    return set(re.findall(r"(?<![\w:])(?:timeloom::)?(\w+)::", code))


def standard_names(line: str) -> set[str]:
    """The names behind `std::` in a line of code."""
    return set(re.findall(r"\bstd::(\w+)", line))


def cmake_words(text: str) -> Iterator[tuple[int, str]]:
    """Words and parentheses of a CMake file, without comments."""
    for number, line in enumerate(text.split("\n"), 1):
        for word in re.findall(r'"[^"]*"|[()]|[^\s()"]+', re.sub(r"#.*", "", line)):
            yield number, word


def words_after(text: str, keyword: str) -> Iterator[tuple[int, str]]:
    """The words that follow a keyword of timeloom_library() up to the next keyword."""
    taking = False
    for number, word in cmake_words(text):
        if word in KEYWORDS or word == ")":
            taking = word == keyword
        elif taking:
            yield number, word


def used_targets(text: str) -> Iterator[tuple[int, str]]:
    """Names, without timeloom_ and _shared, of the targets that a CMakeLists.txt links to: from USES, and from
    target_link_libraries."""
    yield from words_after(text, "USES")
    linking = False
    own = set(re.findall(r"(?:add_library|add_executable|Python_add_library)\s*\(\s*(\w+)", text))
    for number, word in cmake_words(text):
        linking = word == "target_link_libraries" or (linking and word != ")")
        is_ours = word.startswith("timeloom_") and word not in own and word != "timeloom_options"
        if linking and is_ours:
            yield number, word.removeprefix("timeloom_").removesuffix("_shared")


def imports(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
                yield node.lineno, node.args[0].value
