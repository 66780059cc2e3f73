// A checksum of the enters and leaves of a location, of events as they are handed to the library
// or of the file that it has made of them: both are the same if nothing happened on the way.
// A plain value.
#pragma once

#include <bit>
#include <cstdint>

namespace timeloom::otf2 {

class EventDigest {
 public:
  void add(std::uint64_t time, std::uint32_t region, bool leave) noexcept {
    // A sum, so that no event waits for the one before.
    const std::uint64_t event =
        ((std::uint64_t{region} << 1 | (leave ? 1 : 0)) ^ std::rotl(time, 33)) *
        0x9fb21c651e98df25u;
    value_ += event ^ (event >> 32);
  }
  bool operator==(const EventDigest&) const = default;

 private:
  std::uint64_t value_ = 1;
};

}  // namespace timeloom::otf2
