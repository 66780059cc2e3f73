"""Checks that every folder uses only folders that the table of layers permits.

usage: python3 -m scripts.check.check_layers [ROOT]

The table is scripts/check/layers/table.py. Prints one line `file:line: error` for each violation
and fails if there is any.
"""

import ast
import dataclasses
import pathlib
import sys
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))  # it may be run by its path
from scripts.check.layers import parse, table

# Recorded runs in tests/data and pages in docs/ have names that others link to; they may be many.
FOLDERS_OF_BOUNDED_SIZE = ("src", "python", "scripts", "bench", "examples", "tests/python", "tests/unit")
CODE_SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp", ".inc"}


@dataclasses.dataclass(frozen=True, order=True)
class Violation:
    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


class Tree:
    """A source tree and its violations."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.src = root / "src"
        self.violations: list[Violation] = []
        # The folders that each folder uses, with the first use of each: {folder: {used: (path, line)}}.
        self.includes: dict[str, dict[str, tuple[pathlib.Path, int]]] = {}
        self.uses: dict[str, dict[str, tuple[pathlib.Path, int]]] = {}

    def report(self, path: pathlib.Path, line: int, what: str) -> None:
        self.violations.append(Violation(path.relative_to(self.root).as_posix(), line, what))

    def place(self, path: pathlib.Path) -> str:
        """The path below src; for a file elsewhere, the path below the root."""
        base = self.src if path.is_relative_to(self.src) else self.root
        return path.relative_to(base).as_posix()

    def check(self) -> list[Violation]:
        self.check_folders()
        self.check_headers()
        self.check_code()
        self.check_standard_headers()
        self.check_cmake()
        self.check_imports()
        self.check_cycles()
        return sorted(set(self.violations))

    def check_folders(self) -> None:
        for path in [*self.src.glob("*"), *self.src.glob("formats/*"), *self.src.glob("doors/*/*")]:
            name = self.place(path)
            if path.is_dir() and name not in ("formats", "doors") and table.row_of(name) is None:
                self.report(path, 1, f"src/{name} is not in the table of layers")
        for name in FOLDERS_OF_BOUNDED_SIZE:
            folder = self.root / name
            for path in [folder, *folder.rglob("*/")]:
                self.check_size(path)

    def check_size(self, folder: pathlib.Path) -> None:
        count = sum(path.is_file() for path in folder.glob("*") if not path.name.endswith((".pyc", ".so")))
        if count > table.MOST_FILES:
            self.report(folder, 1, f"has {count} files beside each other; more than {table.MOST_FILES} want folders")

    def check_headers(self) -> None:
        """Two headers with one name cannot be distinguished in text."""
        places: dict[str, list[pathlib.Path]] = {}
        for path in sorted(self.src.rglob("*.hpp")):
            places.setdefault(path.name, []).append(path)
        for name, paths in places.items():
            for path in paths[1:]:
                self.report(path, 1, f"{name} is the name of {paths[0].relative_to(self.root).as_posix()}, too")

    # ---- C and C++

    def check_standard_headers(self) -> None:
        """A header compiles whatever stands before it only if it includes what it uses."""
        for path in sorted(self.src.rglob("*.hpp")):
            lines = list(parse.code_lines(path.read_text(encoding="utf-8", errors="replace")))
            included = {found[1] for _, text in lines if (found := parse.INCLUDE.match(text))}
            for line, text in lines:
                for name in sorted(parse.standard_names(text) & table.STANDARD_HEADERS.keys()):
                    if (header := table.STANDARD_HEADERS[name]) not in included:
                        self.report(path, line, f"uses std::{name} and does not include <{header}>")

    def code_files(self) -> Iterator[pathlib.Path]:
        for folder in ("src", "include", "tests/unit", "tests/fuzz"):
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in CODE_SUFFIXES and path.is_file():
                    yield path

    def check_code(self) -> None:
        for path in self.code_files():
            for line, text in parse.code_lines(path.read_text(encoding="utf-8", errors="replace")):
                if include := parse.INCLUDE.match(text):
                    self.check_foreign(path, line, include[1])
                    self.check_include(path, line, include[1])
                    self.check_style(path, line, include[1])
                elif condition := parse.CONDITION.match(text):
                    self.check_condition(path, line, condition[1])
                elif path.is_relative_to(self.src):
                    self.check_names(path, line, text)

    def check_foreign(self, path: pathlib.Path, line: int, header: str) -> None:
        for rule in table.FOREIGN_HEADERS:
            if rule.pattern.fullmatch(header) and not rule.home.match(self.place(path)):
                self.report(path, line, f"{rule.whose} <{header}> may be included only in {rule.home_name}")

    def check_condition(self, path: pathlib.Path, line: int, condition: str) -> None:
        for rule in table.CONDITIONS:
            found = rule.pattern.search(condition)
            if found and not rule.home.match(self.place(path)):
                self.report(path, line, f"#if on {rule.what} ({found[0]}) belongs in {rule.home_name}")

    def check_names(self, path: pathlib.Path, line: int, text: str) -> None:
        folder = table.folder_of(self.place(path))
        for name in parse.namespaces(text):
            used = table.NAMESPACES.get(name)
            if used and folder and not table.may_use(folder, used):
                self.check_row("use names of", path, line, folder, used)

    def check_style(self, path: pathlib.Path, line: int, header: str) -> None:
        """Includes name Timeloom's headers from src/ on, so that readers and grep find them."""
        beside = path.parent / header
        if beside.is_file() and not (self.src / header).is_file() and path.is_relative_to(self.src):
            name = beside.resolve().relative_to(self.src).as_posix()
            self.report(path, line, f'"{header}" is to be written from src/: "{name}"')

    def included_folder(self, path: pathlib.Path, header: str) -> str | None:
        """The folder of src that contains a header; None if it is not one of Timeloom's."""
        beside = (path.parent / header).resolve()
        if beside.is_file() and beside.is_relative_to(self.src):
            return table.folder_of(self.place(beside))
        folder = table.folder_of(header)
        return folder if folder and table.row_of(folder) is not None else None

    def check_include(self, path: pathlib.Path, line: int, header: str) -> None:
        used = self.included_folder(path, header)
        if used is None:
            return
        words = path.relative_to(self.root).parts
        if words[0] == "src":
            self.check_inside(path, line, used)
        elif words[0] == "include":
            self.report(path, line, f"include/ is public and may not include src/{used}")
        elif words[1] == "unit" and words[2] in table.TESTED_ALONE and not table.may_use(words[2], used):
            allowed = f"{words[2]}, {table.describe_row(words[2])}"
            self.report(path, line, f"tests of src/{words[2]} may not include src/{used} (allowed: {allowed})")

    def check_inside(self, path: pathlib.Path, line: int, used: str) -> None:
        folder = table.folder_of(self.place(path))
        if folder is None:
            self.report(path, line, "lies in no folder of src")
            return
        self.includes.setdefault(folder, {}).setdefault(used, (path, line))
        self.check_row("include", path, line, folder, used)

    def check_row(self, verb: str, path: pathlib.Path, line: int, folder: str, used: str) -> None:
        if not table.may_use(folder, used):
            allowed = table.describe_row(folder)
            self.report(path, line, f"src/{folder} may not {verb} src/{used} (allowed: {allowed})")

    # ---- CMake

    def check_cmake(self) -> None:
        found = {table.folder_of(self.place(path)): path for path in self.src.rglob("CMakeLists.txt")}
        lists = {folder: path for folder, path in found.items() if folder is not None}
        folders = {table.target_of(folder): folder for folder in lists}
        for folder, path in lists.items():
            text = path.read_text(encoding="utf-8")
            self.check_uses(folder, path, text, folders)
            self.check_links(folder, path, text)
            self.check_uses_are_complete(folder)

    def check_uses(self, folder: str, path: pathlib.Path, text: str, folders: dict[str, str]) -> None:
        for line, name in parse.used_targets(text):
            used = folders.get(name)
            if used is None:
                self.report(path, line, f"uses timeloom_{name}, but no folder of src has that name")
                continue
            self.uses.setdefault(folder, {}).setdefault(used, (path, line))
            self.check_row("use", path, line, folder, used)

    def check_links(self, folder: str, path: pathlib.Path, text: str) -> None:
        if folder in table.TESTED_ALONE:
            for line, word in parse.words_after(text, "LINKS"):
                if table.NEVER_LINKED.search(word):
                    self.report(path, line, f"src/{folder} must build without {word}")

    def check_uses_are_complete(self, folder: str) -> None:
        named = self.uses.get(folder, {})
        for used, (path, line) in self.includes.get(folder, {}).items():
            # A use that the table forbids has been reported already.
            if used != folder and used not in named and table.may_use(folder, used):
                self.report(path, line, f"src/{folder}/CMakeLists.txt does not name src/{used} in USES")

    # ---- Python

    def check_imports(self) -> None:
        for package in table.ALLOWED_IMPORTS:
            for path in sorted((self.root / table.package_place(package)).rglob("*")):
                if path.suffix in {".py", ".pyi"}:
                    self.check_module(path, package)

    def check_module(self, path: pathlib.Path, package: str) -> None:
        try:
            module = ast.parse(path.read_text(encoding="utf-8"))
        except SyntaxError as error:
            self.report(path, error.lineno or 1, f"is not Python: {error.msg}")
            return
        allowed = table.ALLOWED_IMPORTS[package]
        for line, name in parse.imports(module):
            other = name.split(".")[0]
            if other in table.ALLOWED_IMPORTS and other != package and other not in allowed:
                said = ", ".join(allowed) or "none of our other packages"
                self.report(path, line, f"{table.package_place(package)} may not import {other} (allowed: {said})")

    # ---- all of it

    def check_cycles(self) -> None:
        edges: dict[str, dict[str, tuple[pathlib.Path, int]]] = {}
        for places in (self.includes, self.uses):
            for folder, used in places.items():
                edges.setdefault(folder, {}).update({k: v for k, v in used.items() if k != folder})
        if cycle := find_cycle({folder: set(used) for folder, used in edges.items()}):
            path, line = edges[cycle[0]][cycle[1]]
            circle = " -> ".join(f"src/{name}" for name in cycle)
            self.report(path, line, f"folders use each other in a circle: {circle}")


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """A cycle of the graph as [a, b, ..., a]; [] if there is none."""
    done: set[str] = set()

    def visit(node: str, way: list[str]) -> list[str]:
        if node in way:
            return way[way.index(node) :] + [node]
        if node in done:
            return []
        for after in sorted(graph.get(node, ())):
            if cycle := visit(after, [*way, node]):
                return cycle
        done.add(node)
        return []

    for node in sorted(graph):
        if cycle := visit(node, []):
            return cycle
    return []


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    root = root.resolve()
    if not (root / "src").is_dir():
        print(f"check_layers: {root} has no folder src", file=sys.stderr)
        return 2
    violations = Tree(root).check()
    for violation in violations:
        print(violation)
    if violations:
        print(f"check_layers: {len(violations)} against scripts/check/layers/table.py")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
