// A checksum of the enters and leaves of a location. It is computed for the events passed to the
// library and for the file that the library wrote; both agree if nothing was lost or changed. A
// plain value.
#pragma once

#include <bit>
#include <cstdint>

namespace timeloom::otf2 {

class EventDigest {
 public:
  void add(std::uint64_t time, std::uint32_t region, bool leave) noexcept {
    // A sum, so that no event depends on the one before.
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
