"""The naming rules of .clang-tidy on small snippets: wrong names are reported, right ones are not."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
INSTALLED = subprocess.run([ROOT / "scripts/newest_tool.sh", "clang-tidy"], capture_output=True, text=True).stdout
LINTER = INSTALLED.partition("\n")[0]

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(not LINTER, reason="clang-tidy is not installed")]

RIGHT = """
#include <cstdint>

namespace timeloom::record {
constexpr int kLimit = 3;
const int kOther = 4;
enum class Kind : std::uint8_t { kOne, kTwo };
struct Segment { int size = 0; static constexpr int kMost = 2; };
template <typename Tag, int kSize> class Ring {
 public:
  using value_type = Tag;
  using Words = Tag[kSize];
  explicit Ring(int first) : next_(first) {}
  int next_segment(int step) const { const int result = next_ + step; return result; }

 private:
  int next_;
  static inline thread_local int current_ = 0;
};
inline thread_local int t_depth = 0;
}  // namespace timeloom::record
#define TIMELOOM_FLAG 1
"""

# The kind of name that clang-tidy reports, the name, and code that has it.
WRONG = [
    ("namespace", "TimeLoom", "namespace TimeLoom {}"),
    ("class", "ring_buffer", "class ring_buffer {};"),
    ("struct", "segment", "struct segment {};"),
    ("enum", "kind", "enum class kind { kOne };"),
    ("enum constant", "ONE", "enum class Kind { ONE };"),
    ("enum constant", "One", "enum class Kind { One };"),
    ("type alias", "words_t", "using words_t = int;"),
    ("function", "nextSegment", "int nextSegment();"),
    ("method", "NextSegment", "struct S { int NextSegment(); };"),
    ("parameter", "Step", "int f(int Step);"),
    ("variable", "nextOne", "int f() { int nextOne = 1; return nextOne; }"),
    ("public member", "firstLine", "struct S { int firstLine; };"),
    ("private member", "size", "class C { int size; };"),
    ("private member", "m_size", "class C { int m_size; };"),
    ("constexpr variable", "LIMIT", "constexpr int LIMIT = 1;"),
    ("constexpr variable", "limit", "constexpr int limit = 1;"),
    ("global constant", "limit", "const int limit = 1;"),
    ("type template parameter", "tag", "template <typename tag> struct S {};"),
    ("value template parameter", "Size", "template <int Size> struct S {};"),
]
MACRO = "#define flag 1\n"  # in no namespace


def lint(directory: Path, code: str) -> subprocess.CompletedProcess:
    # The rules for headers count for files below src.
    source = directory / "src" / "snippet.cpp"
    source.parent.mkdir()
    source.write_text(code)
    command = [LINTER, f"--config-file={ROOT / '.clang-tidy'}", "--quiet", str(source), "--", "-std=c++20"]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))


def test_right_names_pass(tmp_path):
    done = lint(tmp_path, RIGHT)
    assert done.stdout == ""
    assert done.returncode == 0


def test_wrong_names_fail(tmp_path):
    """Each in a namespace of its own, which is the number of its line: a start of the linter takes longer than a name."""
    done = lint(tmp_path, "".join(f"namespace n{i} {{ {code} }}\n" for i, (_, _, code) in enumerate(WRONG)) + MACRO)
    found = re.findall(r"snippet.cpp:(\d+):\d+: error: invalid case style for ([a-z ]+) '(\w+)' \[readability-identifier-naming", done.stdout)
    expected = [*WRONG, ("macro definition", "flag", MACRO)]
    assert sorted((int(line), kind, name) for line, kind, name in found) == [
        (line, kind, name) for line, (kind, name, _) in enumerate(expected, start=1)
    ]
    assert done.returncode != 0


def test_headers_are_looked_at(tmp_path):
    header = tmp_path / "src" / "a.hpp"
    (tmp_path / "src").mkdir()
    header.write_text("#pragma once\nstruct wrong_name {};\n")
    (tmp_path / "src" / "a.cpp").write_text('#include "a.hpp"\n')
    command = [LINTER, f"--config-file={ROOT / '.clang-tidy'}", "--quiet", str(tmp_path / "src/a.cpp")]
    done = subprocess.run([*command, "--", "-std=c++20"], capture_output=True, text=True)
    assert f"{header}:2:8: error: invalid case style for struct 'wrong_name'" in done.stdout
