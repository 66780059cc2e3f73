#include "formats/otf2/team_writer.hpp"

#include <map>
#include <span>

#include "formats/otf2/global_definitions.hpp"

namespace timeloom::otf2 {

namespace {

constexpr char kTeamParadigm[] = "OpenMP";
constexpr char kTeamLocations[] = "OPENMP";
constexpr char kTeamName[] = "Thread team";

class TeamCommunicators {
 public:
  TeamCommunicators(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group)
      : shared_(shared), writer_(writer), group_(group) {}

  OTF2_GroupRef write() {
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_OPENMP, ref(kTeamParadigm),
                                          OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
    const auto& lists = shared_.definitions->teams->members;
    collect(lists);
    write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, kTeamLocations, locations_);
    OTF2_CommRef communicator = shared_.first_team;
    for (const std::vector<LocationId>& list : lists) {
      std::vector<std::uint64_t> places;
      for (const LocationId member : list) places.push_back(places_.at(member));
      write_group(OTF2_GROUP_TYPE_COMM_GROUP, kTeamName, places);
      ok(OTF2_GlobalDefWriter_WriteComm(writer_, communicator++, ref(""), group_ - 1,
                                        OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    return group_;
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }
  OTF2_StringRef ref(const char* text) { return shared_.strings.intern(text); }

  // The members of a group are places in the group of all locations.
  void collect(const std::vector<std::vector<LocationId>>& lists) {
    for (const Location& location : shared_.definitions->locations) {
      for (const std::vector<LocationId>& list : lists) {
        if (std::ranges::find(list, location.id) == list.end()) continue;
        places_[location.id] = locations_.size();
        locations_.push_back(location.id.value());
        break;
      }
    }
  }

  void write_group(OTF2_GroupType type, const char* name, std::span<const std::uint64_t> members) {
    const std::size_t count = std::min(members.size(), kGroupMembers);
    ok(OTF2_GlobalDefWriter_WriteGroup(writer_, group_++, ref(name), type, OTF2_PARADIGM_OPENMP,
                                       OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(count),
                                       members.data()));
  }

  Shared& shared_;
  OTF2_GlobalDefWriter* const writer_;
  OTF2_GroupRef group_;
  std::vector<std::uint64_t> locations_;
  std::map<LocationId, std::uint64_t> places_;
};

}  // namespace

OTF2_CommRef TeamWriter::communicator_of(const Teams::Team& team) const {
  return shared_.first_team + team.members;
}

OTF2_ErrorCode TeamWriter::write(OTF2_EvtWriter* writer, const Event& event) {
  const Teams* teams = shared_.definitions->teams.get();
  if (teams == nullptr) return OTF2_SUCCESS;
  if (event.kind >= EventKind::kTaskCreate) return write_task(writer, event);
  const Teams::Team* team = teams->team(event.value);
  if (team == nullptr) return OTF2_SUCCESS;
  const OTF2_TimeStamp time = ticks(event.time);
  switch (event.kind) {
    case EventKind::kTeamFork:
      return OTF2_EvtWriter_ThreadFork(writer, nullptr, time, OTF2_PARADIGM_OPENMP, event.ref);
    case EventKind::kTeamJoin:
      return OTF2_EvtWriter_ThreadJoin(writer, nullptr, time, OTF2_PARADIGM_OPENMP);
    case EventKind::kTeamBegin:
      teams_.push_back({team, event.ref});
      return OTF2_EvtWriter_ThreadTeamBegin(writer, nullptr, time, communicator_of(*team));
    default:
      if (!teams_.empty() && teams_.back().team == team) teams_.pop_back();
      return OTF2_EvtWriter_ThreadTeamEnd(writer, nullptr, time, communicator_of(*team));
  }
}

// The upper half of a number counts in the process. Number 0 is the implicit task of this location.
OTF2_ErrorCode TeamWriter::write_task(OTF2_EvtWriter* writer, const Event& event) const {
  if (teams_.empty()) return OTF2_SUCCESS;
  const Teams::Task* task = shared_.definitions->teams->task(event.value);
  if (event.value != 0 && task == nullptr) return OTF2_SUCCESS;
  const OTF2_TimeStamp time = ticks(event.time);
  const OTF2_CommRef team = communicator_of(*teams_.back().team);
  const std::uint32_t creator = event.value == 0 ? teams_.back().index : task->creator;
  const auto number = static_cast<std::uint32_t>(event.value >> 32);
  switch (event.kind) {
    case EventKind::kTaskCreate:
      return OTF2_EvtWriter_ThreadTaskCreate(writer, nullptr, time, team, creator, number);
    case EventKind::kTaskSwitch:
      return OTF2_EvtWriter_ThreadTaskSwitch(writer, nullptr, time, team, creator, number);
    default: return OTF2_EvtWriter_ThreadTaskComplete(writer, nullptr, time, team, creator, number);
  }
}

void intern_team_names(Shared& shared) {
  shared.first_team = shared.first_communicator +
                      static_cast<OTF2_CommRef>(shared.definitions->communicators.size());
  if (!shared.definitions->teams) return;
  for (const char* text : {"", kTeamParadigm, kTeamLocations, kTeamName}) {
    shared.strings.intern(text);
  }
}

OTF2_GroupRef write_team_communicators(Shared& shared, OTF2_GlobalDefWriter* writer,
                                       OTF2_GroupRef group) {
  const bool has_members = shared.definitions->teams && !shared.definitions->teams->members.empty();
  return has_members ? TeamCommunicators(shared, writer, group).write() : group;
}

}  // namespace timeloom::otf2
