#include "record/native/object_mappings.hpp"

#include <mutex>
#include <new>
#include <set>
#include <tuple>
#include <vector>

#include "os/clock.hpp"
#include "os/references.hpp"
#include "os/thread.hpp"
#include "record/measurement_state.hpp"
#include "record/native/mapped_object.hpp"

namespace timeloom::record {
namespace {

struct KnownMappings {
  std::uint32_t measurement = 0;
  std::uint64_t process = 0;
  std::uint64_t loaded = 0;  // objects, at the last look
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::string>> seen;  // begin, size, path
};

// Never destroyed: a thread of ours may look at the end of the process, and a forked child may have
// been left with what its parent had half changed.
KnownMappings& known_mappings() {
  const std::uint64_t process = os::process_id();
  static KnownMappings* known = new KnownMappings{0, process, 0, {}};
  if (known->process != process) known = new KnownMappings{0, process, 0, {}};
  if (known->measurement != measurement_number()) {
    *known = {measurement_number(), process, 0, {}};
  }
  return *known;
}

// An object that another one has replaced, at its place or a part of it, is defined again if it
// comes back.
void forget_replaced(KnownMappings& known, const MappedPart& part) {
  std::erase_if(known.seen, [&](const auto& one) {
    const auto& [begin, size, path] = one;
    return begin < part.begin + part.size && part.begin < begin + size;
  });
}

bool define_new(KnownMappings& known, const std::vector<MappedPart>& parts, bool wait) {
  State& s = state();
  std::unique_lock lock(s.mutex, std::defer_lock);
  if (wait) lock.lock();
  if (!wait) (void)lock.try_lock();
  if (!lock || !active() || measurement_number() != known.measurement) return false;
  const std::uint64_t now = os::now();
  for (const MappedPart& part : parts) {
    auto key = std::tuple(part.begin, part.size, part.object.path);
    if (known.seen.contains(key)) continue;
    forget_replaced(known, part);
    known.seen.insert(std::move(key));
    const std::uint32_t id = s.definitions.object(part.object);
    s.definitions.write_object(id, *s.writer);
    s.writer->define_mapping({id, part.begin, part.size, part.bias, now});
  }
  return true;
}

}  // namespace

void define_mapped_objects(bool wait) noexcept try {
  KnownMappings& known = known_mappings();
  const std::uint64_t loaded = os::loaded_objects();
  if (known.loaded == loaded) return;
  if (define_new(known, mapped_parts(), wait)) known.loaded = loaded;
} catch (const std::bad_alloc&) {
}

}  // namespace timeloom::record
