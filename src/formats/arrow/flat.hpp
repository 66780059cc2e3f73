// FlatBuffers, as far as the messages of Arrow need them. A buffer is built from the front: a table
// before what it refers to.
//
// A plain value. Nothing throws but what memory can.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::arrow {

// A field of a table, in the order of its schema. The size in bytes is also its alignment; 0: it is
// left out.
struct Field {
  std::uint8_t size = 0;
  std::int64_t value = 0;
};
inline constexpr Field kNone{};
// Filled by point().
inline constexpr Field kReference{4, 0};

class Flat {
 public:
  // A place in the buffer that will refer to something.
  using Place = std::size_t;

  Flat() { append(0, 4); }  // the reference to the root
  static constexpr Place kRoot = 0;

  // `place` refers to what is added next.
  void point(Place place, std::size_t alignment, std::size_t ahead = 0);
  // Adds a table that `from` refers to. Returns the places of its fields.
  std::vector<Place> table(Place from, std::initializer_list<Field> fields);
  void text(Place from, std::string_view value);
  // A vector of references; returns their places.
  std::vector<Place> references(Place from, std::size_t count);
  // A vector of structs of 8-byte words.
  void words(Place from, std::size_t count, const std::vector<std::int64_t>& values);

  // Padded to 8 bytes.
  std::string take();

 private:
  void append(std::uint64_t value, std::size_t size);
  void put(std::size_t place, std::uint64_t value, std::size_t size);
  // Pads so that the place `ahead` bytes from the end on is aligned.
  void align(std::size_t alignment, std::size_t ahead = 0);

  std::string bytes_;
};

}  // namespace timeloom::arrow
