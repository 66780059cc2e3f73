// Writes the events of teams of threads, and the communicators that stand for teams.
//
// All teams with the same members share a communicator; these follow the communicators of MPI. An
// event of a team that the definitions do not have is left out.
//
// Events: one object for each location, used by one thread. Definitions: by the thread that
// finishes the archive. Definitions throw Error, events return the library's code.
#pragma once

#include <vector>

#include "core/teams/teams.hpp"
#include "formats/otf2/location_writer.hpp"

namespace timeloom::otf2 {

class TeamWriter {
 public:
  explicit TeamWriter(const Shared& shared) : shared_(shared) {}
  // REQUIRES: is_of_team(event.kind).
  OTF2_ErrorCode write(OTF2_EvtWriter* writer, const Event& event);

 private:
  struct Member {
    const Teams::Team* team;
    std::uint32_t index;
  };
  OTF2_CommRef communicator_of(const Teams::Team& team) const;
  OTF2_ErrorCode write_task(OTF2_EvtWriter* writer, const Event& event) const;

  const Shared& shared_;
  std::vector<Member> teams_;  // that the location is a member of, outermost first
};

// REQUIRES: called before the first location is opened.
void intern_team_names(Shared& shared);

// `group`: the first free id. Returns the first free id afterwards. Throws Error.
OTF2_GroupRef write_team_communicators(Shared& shared, OTF2_GlobalDefWriter* writer,
                                       OTF2_GroupRef group);

}  // namespace timeloom::otf2
