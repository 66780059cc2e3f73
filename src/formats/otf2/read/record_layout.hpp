// Checks that the fields of a record lie inside it, as the library reads them.
//
// The library checks that a record fits into its file, but trusts the counts and lengths inside it.
// With a damaged record it reads beyond its memory or allocates gigabytes. So every record is
// walked here before the library decodes it. Pure functions on bytes; any thread may call them.
// Nothing throws.
//
// A layout names the fields of a record, one letter each:
//   b 1 byte   q 8 bytes   u, U number of at most 4, 8 bytes behind its length
//   s text up to a zero byte   v type of a value (1 byte) and the value
//   c(...), n(...) 1-byte count, u count, and that many groups of the fields in parentheses
//   m mapping table   | older versions of the format end here
#pragma once

#include <cstdint>

namespace timeloom::otf2 {

// Bytes that are still to be walked.
struct Bytes {
  const std::uint8_t* at;
  const std::uint8_t* end;
  bool big_endian;

  std::uint64_t left() const { return static_cast<std::uint64_t>(end - at); }
};

// Walks the fields of `layout`; false if they do not fit into `bytes`.
bool walk(const char* layout, Bytes& bytes);

// Walks a number behind its length and gives it; false if it does not fit.
bool walk_number(unsigned longest, Bytes& bytes, std::uint64_t& value);

enum class FileKind { kEvents, kGlobalDefinitions, kLocalDefinitions, kMarkers };

struct RecordLayout {
  const char* fields = nullptr;  // none: a kind of record the library skips as a whole
  bool bare = false;             // without a length before the fields
};

RecordLayout layout_of(FileKind file, std::uint8_t record);

}  // namespace timeloom::otf2
