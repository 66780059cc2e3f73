#include "formats/arrow/flat.hpp"

#include <algorithm>

namespace timeloom::arrow {

void Flat::append(std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
}

void Flat::put(std::size_t place, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes_[place + i] = static_cast<char>(value >> (8 * i));
}

void Flat::align(std::size_t alignment, std::size_t ahead) {
  while ((bytes_.size() + ahead) % alignment != 0) bytes_ += '\0';
}

void Flat::point(Place place, std::size_t alignment, std::size_t ahead) {
  align(alignment, ahead);
  put(place, bytes_.size() - place, 4);
}

// The table of offsets precedes the table itself, which contains the distance to it and the fields.
std::vector<Flat::Place> Flat::table(Place from, std::initializer_list<Field> fields) {
  std::vector<std::uint16_t> offsets;
  std::size_t size = 4;
  for (const Field& field : fields) {
    if (field.size == 0) {
      offsets.push_back(0);
      continue;
    }
    size = (size + field.size - 1) / field.size * field.size;
    offsets.push_back(static_cast<std::uint16_t>(size));
    size += field.size;
  }
  align(2);
  const std::size_t description = bytes_.size();
  append(4 + 2 * offsets.size(), 2);
  append(size, 2);
  for (const std::uint16_t offset : offsets) append(offset, 2);
  point(from, 8);
  const std::size_t start = bytes_.size();
  append(start - description, 4);
  bytes_.resize(start + size);
  std::vector<Place> places;
  const Field* field = fields.begin();
  for (const std::uint16_t offset : offsets) {
    places.push_back(start + offset);
    if (field->size != 0)
      put(start + offset, static_cast<std::uint64_t>(field->value), field->size);
    ++field;
  }
  return places;
}

void Flat::text(Place from, std::string_view value) {
  point(from, 4);
  append(value.size(), 4);
  bytes_ += value;
  bytes_ += '\0';
}

std::vector<Flat::Place> Flat::references(Place from, std::size_t count) {
  point(from, 4);
  append(count, 4);
  std::vector<Place> places;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(bytes_.size());
    append(0, 4);
  }
  return places;
}

void Flat::words(Place from, std::size_t count, const std::vector<std::int64_t>& values) {
  point(from, 8, 4);  // the elements are aligned, not their count
  append(count, 4);
  for (const std::int64_t value : values) append(static_cast<std::uint64_t>(value), 8);
}

std::string Flat::take() {
  align(8);
  return std::move(bytes_);
}

}  // namespace timeloom::arrow
