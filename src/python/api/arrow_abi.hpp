// The structures of Arrow's C data and C stream interfaces, which define their layout:
// https://arrow.apache.org/docs/format/CDataInterface.html, .../CStreamInterface.html.
//
// The receiver of a structure calls its `release`, from any thread; a null `release` marks a
// released structure.
#pragma once

#include <cstdint>

namespace timeloom::python::arrow {

inline constexpr std::int64_t kNullable = 2;

struct Schema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t children_count;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema*);
  void* owner;
};

struct Array {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t buffers_count;
  std::int64_t children_count;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* owner;
};

struct Stream {
  int (*get_schema)(Stream*, Schema* out);
  int (*get_next)(Stream*, Array* out);
  const char* (*get_last_error)(Stream*);
  void (*release)(Stream*);
  void* owner;
};

static_assert(sizeof(Schema) == 72 && sizeof(Array) == 80 && sizeof(Stream) == 40);

}  // namespace timeloom::python::arrow
