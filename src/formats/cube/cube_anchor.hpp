// anchor.xml, the member of a CUBE file that describes the rest.
//
// Plain functions; any thread may call them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cube/cube_model.hpp"

namespace timeloom::cube {

inline constexpr char kAnchorName[] = "anchor.xml";

// The defect of a file; becomes the Error that names the file.
struct Damage {
  std::string what;
};

// Takes a piece of the text.
using TextSink = std::function<void(std::string_view)>;

// Gives the text of the member; ids are the positions in the cube. Control characters,
// which XML cannot hold, become their pictures (U+2401 and so on), other bytes that it
// does not take U+FFFD.
void write_anchor(const Cube& cube, const TextSink& take);

// A cube as the file has it.
struct Anchor {
  Cube cube;
  // The numbers of the file, by id; values are found by those of metrics.
  std::vector<std::uint32_t> metrics;
  std::vector<std::uint32_t> regions;
  std::vector<std::uint32_t> cnodes;
};

// Gives the next piece of the text; empty at its end.
using TextSource = std::function<std::string_view()>;

// Reads and checks it. Unknown elements are ignored; a document
// type, which could define entities, is refused. Throws Damage.
Anchor parse_anchor(const TextSource& text);

}  // namespace timeloom::cube
