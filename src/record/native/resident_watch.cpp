#include "record/native/resident_watch.hpp"

#include <array>

#include "core/memory/resident_peak.hpp"
#include "os/memory.hpp"

namespace timeloom::record {

void ResidentWatch::begin() noexcept {
  noted_ = 0;
  limit_ = os::memory_limit();
}

void ResidentWatch::look(spool::Writer& writer, bool at_end) noexcept {
  const std::uint64_t peak = os::resident_memory().peak;
  const std::uint64_t least = at_end ? noted_ : noted_ + noted_ / 64;
  if (peak <= least) return;
  noted_ = peak;
  std::array<char, 48> buffer;
  writer.define_short_property(kResidentPeak, to_text({peak, limit_}, buffer));
}

}  // namespace timeloom::record
