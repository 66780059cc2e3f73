// The lines in front of the names of a call tree, which lead from callers to callees.
//
//   main              called by nobody
//   run               the only call of main: no mark, no indentation
//   |- step           run calls step and write
//   |  relax          the only call of step
//   `- write
//
// Traces of Python are deep, and most of their call paths have one child;
// without this rule the names would be pushed off the screen. A plain value, used by one thread;
// throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace timeloom::tools {

class TreeGlyphs {
 public:
  explicit TreeGlyphs(bool unicode) : unicode_(unicode) {}

  // The marks of the next row, in pre-order; `depth` of a root is 0.
  std::string next(std::uint32_t depth, bool only_child, bool last_child) {
    stems_.resize(depth + std::size_t{1});
    const std::string stem = depth == 0 ? std::string() : stems_[depth - 1];
    if (only_child) {
      stems_[depth] = stem;
      return draw(stem);
    }
    stems_[depth] = shortened(stem + (last_child ? ' ' : '|'));
    return draw(shortened(stem + (last_child ? '`' : '+')));
  }

 private:
  static constexpr std::size_t kLongest =
      64;  // levels; keeps deep trees from growing quadratically
  static std::string shortened(std::string marks) {
    if (marks.size() > kLongest) marks.erase(0, marks.size() - kLongest);
    return marks;
  }

  std::string draw(const std::string& marks) const {
    std::string drawn;
    for (const char mark : marks) {
      if (mark == ' ') drawn += "  ";
      if (mark == '|') drawn += unicode_ ? "\u2502 " : "| ";
      if (mark == '+') drawn += unicode_ ? "\u251c " : "|-";
      if (mark == '`') drawn += unicode_ ? "\u2514 " : "`-";
    }
    return drawn;
  }

  bool unicode_;
  std::vector<std::string> stems_;  // what stands in front of the children of each level
};

}  // namespace timeloom::tools
