#include "record/native/resident_watch.hpp"

#include <new>
#include <utility>

#include "core/memory/resident_peak.hpp"
#include "os/memory.hpp"

namespace timeloom::record {

void ResidentWatch::look(spool::Writer& writer, bool at_end) noexcept try {
  if (!at_end && !std::exchange(looked_, true)) return;
  const std::uint64_t peak = os::resident_memory().peak;
  const std::uint64_t least = at_end ? noted_ : noted_ + noted_ / 64;
  if (peak <= least) return;
  noted_ = peak;
  writer.define_property(kResidentPeak, to_text(ResidentPeak{peak, os::memory_limit()}));
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace timeloom::record
