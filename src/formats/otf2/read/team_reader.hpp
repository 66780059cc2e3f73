// Passes the events of teams of threads that the library reads to an event translator.
//
// A team has no number in an archive, only a communicator, which stands for all teams with its
// members. All members take part in such teams in the same order, so the teams are numbered by
// communicator and by the place in that order. A fork gets its number when its team begins.
//
// `Translator`: as in message_reader.hpp, and it has `TeamNumbers teams`.
#pragma once

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <vector>

#include "core/event.hpp"
#include "formats/otf2/read/definition_reader.hpp"

namespace timeloom::otf2 {

// The state of a location.
struct TeamNumbers {
  struct Open {
    OTF2_CommRef communicator;
    std::uint64_t number;
  };
  LocationId location;
  std::map<OTF2_CommRef, std::uint32_t> begun{};  // teams so far
  std::optional<std::uint32_t> fork{};            // threads requested, until the team begins
  std::vector<std::uint64_t> forked{};            // teams to be joined, outermost first
  std::vector<Open> open{};                       // teams to be ended, outermost first
};

template <typename Translator>
class TeamCallbacks {
 public:
  static void register_in(OTF2_EvtReaderCallbacks* all) {
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(all, on_fork);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(all, on_join);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(all, on_begin);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(all, on_end);
    OTF2_EvtReaderCallbacks_SetThreadTaskCreateCallback(all, on_task<EventKind::kTaskCreate>);
    OTF2_EvtReaderCallbacks_SetThreadTaskSwitchCallback(all, on_task<EventKind::kTaskSwitch>);
    OTF2_EvtReaderCallbacks_SetThreadTaskCompleteCallback(all, on_task<EventKind::kTaskComplete>);
  }

 private:
  static OTF2_CallbackCode on_fork(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data,
                                   OTF2_AttributeList*, OTF2_Paradigm model,
                                   std::uint32_t threads) noexcept {
    if (model == OTF2_PARADIGM_OPENMP) Translator::self(data).teams.fork = threads;
    return OTF2_CALLBACK_SUCCESS;
  }

  static OTF2_CallbackCode on_join(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                                   OTF2_AttributeList*, OTF2_Paradigm model) noexcept {
    TeamNumbers& teams = Translator::self(data).teams;
    if (model != OTF2_PARADIGM_OPENMP || teams.forked.empty()) return OTF2_CALLBACK_SUCCESS;
    const std::uint64_t number = teams.forked.back();
    teams.forked.pop_back();
    return Translator::self(data).add(time, EventKind::kTeamJoin, 0, number);
  }

  static OTF2_CallbackCode on_begin(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                    void* data, OTF2_AttributeList*,
                                    OTF2_CommRef communicator) noexcept try {
    Translator& translator = Translator::self(data);
    TeamNumbers& teams = translator.teams;
    const auto members = translator.references().teams.find(communicator);
    if (members == translator.references().teams.end()) return OTF2_CALLBACK_SUCCESS;
    const auto place = std::ranges::find(members->second, teams.location);
    if (place == members->second.end()) return OTF2_CALLBACK_SUCCESS;
    const std::uint64_t number = std::uint64_t{++teams.begun[communicator]} << 32 | communicator;
    if (teams.fork) {
      (void)translator.add(time, EventKind::kTeamFork, *teams.fork, number);
      teams.fork.reset();
      teams.forked.push_back(number);
    }
    teams.open.push_back({communicator, number});
    return translator.add(time, EventKind::kTeamBegin,
                          static_cast<std::uint32_t>(place - members->second.begin()), number);
  } catch (const std::bad_alloc&) {
    Translator::self(data).failure = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }

  static OTF2_CallbackCode on_end(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                                  OTF2_AttributeList*, OTF2_CommRef communicator) noexcept {
    TeamNumbers& teams = Translator::self(data).teams;
    if (teams.open.empty() || teams.open.back().communicator != communicator) {
      return OTF2_CALLBACK_SUCCESS;
    }
    const std::uint64_t number = teams.open.back().number;
    teams.open.pop_back();
    return Translator::self(data).add(time, EventKind::kTeamEnd, 0, number);
  }

  // Generation 0 is the implicit task. The lower half of a number tells tasks of different threads
  // apart, and tasks of different teams as far as 20 bits go.
  template <EventKind kKind>
  static OTF2_CallbackCode on_task(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                                   OTF2_AttributeList*, OTF2_CommRef communicator,
                                   std::uint32_t creator, std::uint32_t generation) noexcept {
    Translator& translator = Translator::self(data);
    if (!translator.references().teams.contains(communicator)) return OTF2_CALLBACK_SUCCESS;
    const std::uint32_t from = communicator << 12 | (creator & 0xfff);
    const std::uint64_t number = std::uint64_t{generation} << 32 | from;
    return translator.add(time, kKind, 0, generation == 0 ? 0 : number);
  }
};

}  // namespace timeloom::otf2
