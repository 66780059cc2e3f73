#include "formats/otf2/copy_writer.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/teams/teams.hpp"
#include "formats/otf2/global_definitions.hpp"

namespace timeloom::otf2 {

namespace {

// Names from Score-P.
constexpr char kAcceleratorParadigm[] = "CUDA";
constexpr char kWindowLocations[] = "CUDA";
constexpr char kWindowGroup[] = "CUDA_GROUP";
constexpr char kWindowName[] = "CUDA_WINDOW";
// One copy of a queue is in progress at a time.
constexpr std::uint64_t kCopy = 42;

class WindowWriter {
 public:
  WindowWriter(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group)
      : shared_(shared), writer_(writer), group_(group) {}

  OTF2_GroupRef write() {
    write_paradigm();
    std::vector<std::uint64_t> locations;
    for (const auto& members : shared_.windows) {
      for (const LocationId member : members) locations.push_back(member.value());
    }
    write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, kWindowLocations, locations);
    std::uint64_t first = 0;
    for (std::uint32_t i = 0; i < shared_.windows.size(); ++i) {
      write_window(i, first);
      first += shared_.windows[i].size();
    }
    return group_;
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }
  OTF2_StringRef ref(const char* text) { return shared_.strings.intern(text); }

  void write_paradigm() {
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_CUDA, ref(kAcceleratorParadigm),
                                          OTF2_PARADIGM_CLASS_ACCELERATOR));
    OTF2_AttributeValue yes{};
    yes.uint8 = 1;
    ok(OTF2_GlobalDefWriter_WriteParadigmProperty(
        writer_, OTF2_PARADIGM_CUDA, OTF2_PARADIGM_PROPERTY_RMA_ONLY, OTF2_TYPE_UINT8, yes));
  }

  // The members of a group are places in the group of all locations.
  void write_window(std::uint32_t index, std::uint64_t first) {
    std::vector<std::uint64_t> places(shared_.windows[index].size());
    std::iota(places.begin(), places.end(), first);
    write_group(OTF2_GROUP_TYPE_COMM_GROUP, kWindowGroup, places);
    const OTF2_CommRef communicator = shared_.first_window + index;
    ok(OTF2_GlobalDefWriter_WriteComm(writer_, communicator, ref(""), group_ - 1,
                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    ok(OTF2_GlobalDefWriter_WriteRmaWin(writer_, index, ref(kWindowName), communicator,
                                        OTF2_RMA_WIN_FLAG_NONE));
  }

  void write_group(OTF2_GroupType type, const char* name, std::span<const std::uint64_t> members) {
    const std::size_t count = std::min(members.size(), kGroupMembers);
    ok(OTF2_GlobalDefWriter_WriteGroup(writer_, group_++, ref(name), type, OTF2_PARADIGM_CUDA,
                                       OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(count),
                                       members.data()));
  }

  Shared& shared_;
  OTF2_GlobalDefWriter* const writer_;
  OTF2_GroupRef group_;
};

// Its host is written, too, which a part of a run may lack.
bool has_window(const Location& location, const Definitions& all) {
  return location.context.defined() && has_location(all, location.feeder);
}

}  // namespace

bool has_location(const Definitions& all, LocationId id) {
  return std::ranges::binary_search(all.locations, id, {}, &Location::id);
}

OTF2_ErrorCode write_copy(OTF2_EvtWriter* writer, const Event& event, const Location& location,
                          const Shared& shared) {
  const auto place = shared.places_in_windows.find(location.id);
  if (place == shared.places_in_windows.end()) return OTF2_SUCCESS;
  const auto [window, host] = place->second;
  const OTF2_TimeStamp time = ticks(event.time);
  switch (event.kind) {
    case EventKind::kRmaGet:
      return OTF2_EvtWriter_RmaGet(writer, nullptr, time, window, host, event.value, kCopy);
    case EventKind::kRmaPut:
      return OTF2_EvtWriter_RmaPut(writer, nullptr, time, window, host, event.value, kCopy);
    default: return OTF2_EvtWriter_RmaOpCompleteBlocking(writer, nullptr, time, window, kCopy);
  }
}

void intern_windows(Shared& shared) {
  const Definitions& all = *shared.definitions;
  const std::size_t teams = all.teams ? all.teams->members.size() : 0;
  shared.first_window = shared.first_team + static_cast<OTF2_CommRef>(teams);
  std::map<LocationGroupId, std::uint32_t> numbers;
  for (const Location& location : all.locations) {
    if (!has_window(location, all)) continue;
    const auto next = static_cast<std::uint32_t>(shared.windows.size());
    const auto [number, fresh] = numbers.try_emplace(location.group, next);
    if (fresh) shared.windows.emplace_back();
    std::vector<LocationId>& members = shared.windows[number->second];
    auto host = std::ranges::find(members, location.feeder);
    if (host == members.end()) host = members.insert(host, location.feeder);
    const auto rank = static_cast<std::uint32_t>(host - members.begin());
    shared.places_in_windows[location.id] = {number->second, rank};
    members.push_back(location.id);
  }
  if (shared.windows.empty()) return;
  for (const char* text : {"", kAcceleratorParadigm, kWindowLocations, kWindowGroup, kWindowName}) {
    shared.strings.intern(text);
  }
}

OTF2_GroupRef write_windows(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group) {
  return shared.windows.empty() ? group : WindowWriter(shared, writer, group).write();
}

}  // namespace timeloom::otf2
