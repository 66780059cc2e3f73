// anchor.xml: the member of a CUBE file that describes all others.
//
// Plain functions; any thread may call them. They throw Damage and std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cube/cube_model.hpp"

namespace timeloom::cube {

inline constexpr char kAnchorName[] = "anchor.xml";

// A defect of a file; callers turn it into an Error that names the file.
struct Damage {
  std::string what;
};

// Takes a piece of the text.
using TextSink = std::function<void(std::string_view)>;

// Passes the text of the member to `take`; ids are positions in the cube. Control characters, which
// XML cannot represent, become their pictures (U+2401 and so on); other invalid bytes become
// U+FFFD.
void write_anchor(const Cube& cube, const TextSink& take);

// A cube as read from a file.
struct Anchor {
  Cube cube;
  // The numbers in the file, by id; values are found by the metrics' numbers.
  std::vector<std::uint32_t> metrics;
  std::vector<std::uint32_t> regions;
  std::vector<std::uint32_t> cnodes;
};

// Gives the next piece of the text; empty at its end.
using TextSource = std::function<std::string_view()>;

// Reads and checks the text. Unknown elements are ignored. A document type is refused, since it
// could define entities. Throws Damage.
Anchor parse_anchor(const TextSource& text);

}  // namespace timeloom::cube
