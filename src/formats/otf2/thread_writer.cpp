#include "formats/otf2/thread_writer.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "core/run_properties.hpp"
#include "formats/otf2/global_definitions.hpp"

namespace timeloom::otf2 {

namespace {

// Names from Score-P; kThreadsName is Timeloom's.
constexpr char kThreadParadigm[] = "Pthread";
constexpr char kOrphans[] = "Orphan thread";
constexpr char kLocations[] = "PTHREAD";
constexpr char kProcess[] = "SCOREP_GROUP_PTHREAD";

bool is_by_process(const Definitions& definitions) {
  const auto layout = definitions.properties.find(kLayout);
  return layout != definitions.properties.end() && layout->second == kScorepLayoutName;
}

std::vector<const Location*> threads_of(const Definitions& definitions) {
  std::vector<const Location*> threads;
  for (const Location& location : definitions.locations) {
    const bool thread =
        location.type != LocationType::kMetric && location.type != LocationType::kAcceleratorStream;
    if (thread) threads.push_back(&location);
  }
  return threads;
}

bool has_pthreads(const Definitions& definitions) {
  return std::ranges::find(definitions.regions, Paradigm::kPthread, &Region::paradigm) !=
         definitions.regions.end();
}

bool has_process_of_threads(const Definitions& definitions) {
  std::set<LocationGroupId> seen;
  const auto threads = threads_of(definitions);
  return std::ranges::any_of(threads,
                             [&](const Location* one) { return !seen.insert(one->group).second; });
}

// Left out for runs with one thread, or with more than a record can hold.
// `events`: some refer to other threads, which a part of a run may lack.
bool is_written(const Definitions& definitions, bool events) {
  const std::size_t count = threads_of(definitions).size();
  if (count > kGroupMembers) return false;
  if (!is_by_process(definitions)) return count > 1 || events;
  return has_process_of_threads(definitions) || has_pthreads(definitions);
}

class ThreadCommunicators {
 public:
  ThreadCommunicators(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group)
      : shared_(shared),
        threads_(threads_of(*shared.definitions)),
        writer_(writer),
        group_(group) {}

  OTF2_GroupRef write_one() {
    write_locations(kThreadsName);
    std::vector<std::uint64_t> places(threads_.size());
    std::iota(places.begin(), places.end(), std::uint64_t{0});
    write_communicator(kThreads, kThreadsName, kThreadsName, places);
    return group_;
  }

  // The members of a group are indices into the group of all locations.
  OTF2_GroupRef write_by_process() {
    write_paradigm(OTF2_PARADIGM_PTHREAD, kThreadParadigm);
    write_paradigm(OTF2_PARADIGM_UNKNOWN, kOrphans);
    write_locations(kLocations);
    std::vector<std::vector<std::uint64_t>> processes(shared_.definitions->groups.size());
    for (std::size_t place = 0; place < threads_.size(); ++place) {
      processes.at(threads_[place]->group.value()).push_back(place);
    }
    OTF2_CommRef communicator = kThreads;
    for (const auto& places : processes) write_communicator(communicator++, "", kProcess, places);
    return group_;
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }
  OTF2_StringRef ref(const char* text) { return shared_.strings.intern(text); }

  void write_paradigm(OTF2_Paradigm paradigm, const char* name) {
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer_, paradigm, ref(name),
                                          OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT));
  }

  void write_locations(const char* name) {
    std::vector<std::uint64_t> locations;
    for (const Location* thread : threads_) locations.push_back(thread->id.value());
    write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, name, locations);
  }

  void write_communicator(OTF2_CommRef self, const char* name, const char* group,
                          const std::vector<std::uint64_t>& places) {
    write_group(OTF2_GROUP_TYPE_COMM_GROUP, group, places);
    ok(OTF2_GlobalDefWriter_WriteComm(writer_, self, ref(name), group_ - 1, OTF2_UNDEFINED_COMM,
                                      OTF2_COMM_FLAG_NONE));
  }

  void write_group(OTF2_GroupType type, const char* name, std::span<const std::uint64_t> members) {
    ok(OTF2_GlobalDefWriter_WriteGroup(writer_, group_++, ref(name), type, OTF2_PARADIGM_PTHREAD,
                                       OTF2_GROUP_FLAG_NONE,
                                       static_cast<std::uint32_t>(members.size()), members.data()));
  }

  Shared& shared_;
  const std::vector<const Location*> threads_;
  OTF2_GlobalDefWriter* const writer_;
  OTF2_GroupRef group_;
};

}  // namespace

// The lower half of a run's number is the number in the process.
OTF2_ErrorCode write_thread_event(OTF2_EvtWriter* writer, const Event& event,
                                  const Location& location, const Shared& shared) {
  if (shared.first_communicator == kThreads) return OTF2_SUCCESS;  // threads have none
  const bool by_process = shared.threads_by_process;
  shared.has_thread_events.store(true, std::memory_order_relaxed);
  const OTF2_CommRef communicator = by_process ? kThreads + location.group.value() : kThreads;
  const std::uint64_t number = by_process ? event.value >> 32 : event.value;
  switch (event.kind) {
    case EventKind::kThreadCreate:
      return OTF2_EvtWriter_ThreadCreate(writer, nullptr, ticks(event.time), communicator, number);
    case EventKind::kThreadBegin:
      return OTF2_EvtWriter_ThreadBegin(writer, nullptr, ticks(event.time), communicator, number);
    case EventKind::kThreadEnd:
      return OTF2_EvtWriter_ThreadEnd(writer, nullptr, ticks(event.time), communicator, number);
    case EventKind::kThreadWait:
      return OTF2_EvtWriter_ThreadWait(writer, nullptr, ticks(event.time), communicator, number);
    default: return OTF2_ERROR_INVALID_ARGUMENT;
  }
}

void intern_thread_names(Shared& shared) {
  const Definitions& definitions = *shared.definitions;
  shared.threads_by_process = is_by_process(definitions);
  shared.strings.intern(kThreadsName);
  if (!shared.threads_by_process) return;
  for (const char* text : {"", kThreadParadigm, kOrphans, kLocations, kProcess}) {
    shared.strings.intern(text);
  }
  const std::size_t count = is_written(definitions, false) ? definitions.groups.size() : 0;
  shared.first_communicator = kThreads + static_cast<OTF2_CommRef>(count);
}

OTF2_GroupRef write_thread_communicators(Shared& shared, OTF2_GlobalDefWriter* writer,
                                         OTF2_GroupRef group) {
  if (!is_written(*shared.definitions, shared.has_thread_events)) return group;
  ThreadCommunicators communicators(shared, writer, group);
  return shared.threads_by_process ? communicators.write_by_process() : communicators.write_one();
}

}  // namespace timeloom::otf2
