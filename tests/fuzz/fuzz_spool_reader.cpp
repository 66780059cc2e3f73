// Any bytes as a spool: read, or refused with an Error.
#include <cstdlib>

#include "core/error.hpp"
#include "spool/reader.hpp"
#include "spool_input.hpp"

namespace timeloom {
namespace {

// What every reader of events relies on.
void check(const Event& event, Timestamp last) {
  if (event.time < last) std::abort();
  // The references of teams are numbers that the program gives, all others are ids.
  if (event.ref == UINT32_MAX && !is_of_team(event.kind)) std::abort();
  if (event.kind > EventKind::kTaskComplete) std::abort();
}

void read(const spool::Reader& reader) {
  for (const std::uint32_t location : reader.locations()) {
    spool::LocationReader events = reader.read(location);
    Timestamp last{};
    std::uint64_t count = 0;
    for (std::vector<Event> batch; events.next(batch);) {
      for (const Event& event : batch) {
        check(event, last);
        last = event.time;
      }
      count += batch.size();
    }
    if (count * sizeof(std::uint64_t) > reader.bytes(location)) std::abort();
  }
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  const std::string& spool = fuzz::write_spool({data, size});
  try {
    read(*spool::Reader::open(spool));
  } catch (const Error&) {
    // said clearly
  }
  return 0;
}
