// FlatBuffers: the part that Arrow's messages need. A buffer is built from the front: a table
// precedes the objects that it refers to.
//
// A plain value. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::arrow {

// A field of a table, in the order of its schema. The size in bytes is also the alignment; 0: the
// field is left out.
struct Field {
  std::uint8_t size = 0;
  std::int64_t value = 0;
};
inline constexpr Field kNone{};
// A reference, filled in by point().
inline constexpr Field kReference{4, 0};

class Flat {
 public:
  // A position in the buffer that will hold a reference.
  using Place = std::size_t;

  Flat() { append(0, 4); }  // the reference to the root
  static constexpr Place kRoot = 0;

  // Makes `place` refer to the object that is added next.
  void point(Place place, std::size_t alignment, std::size_t ahead = 0);
  // Adds a table that `from` refers to. Returns the positions of its fields.
  std::vector<Place> table(Place from, std::initializer_list<Field> fields);
  void text(Place from, std::string_view value);
  // Adds a vector of references and returns their positions.
  std::vector<Place> references(Place from, std::size_t count);
  // Adds a vector of structs of 8-byte words.
  void words(Place from, std::size_t count, const std::vector<std::int64_t>& values);

  // Returns the buffer, padded to 8 bytes.
  std::string take();

 private:
  void append(std::uint64_t value, std::size_t size);
  void put(std::size_t place, std::uint64_t value, std::size_t size);
  // Pads so that the position `ahead` bytes behind the end is aligned.
  void align(std::size_t alignment, std::size_t ahead = 0);

  std::string bytes_;
};

}  // namespace timeloom::arrow
