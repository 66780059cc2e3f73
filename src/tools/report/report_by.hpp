// `timeloom report --by WORD`: the time by module, package, file, thread, process or host.
//
// Plain values made from a CallTree. Throw std::bad_alloc; write_by() and write_by_json() throw as
// Output does, too.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/measuring_cost.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/code_owner.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// For the workers and tasks of an engine see engines/task_rows.hpp.
enum class GroupKey : std::uint8_t {
  kModule,
  kPackage,
  kFile,
  kThread,
  kProcess,
  kHost,
  kWorker,
  kTask
};

// The word of the option.
std::string_view by_word(GroupKey key);
// The group of a region, by module, package or file, and of a location, by thread, process or
// host.
std::string group_name(const Definitions& definitions, RegionId region, GroupKey key,
                       const CodeOwner& owner);
std::string group_name(const Definitions& definitions, const Location& location, GroupKey key);

// Times in seconds. Of threads, processes and hosts `total` is working, waiting and unmeasured
// together, else the working time with all that was called, which in a recursion counts once.
struct GroupRow {
  std::string name;
  double working = 0;
  double waiting = 0;
  double unmeasured = 0;
  double total = 0;
  std::int64_t visits = 0;
  std::uint64_t functions = 0;  // each once, on however many threads
  bool at_least = false;        // as many visits: a function was not timed to the end
  bool project = false;
  bool idle = false;  // a thread that had_nothing_to_do(); its row is one of the last
};

// The rows by their working time, from which `cost` is subtracted.
std::vector<GroupRow> group_rows(const profile::CallTree& tree, GroupKey key,
                                 const std::set<LocationId>& locations,
                                 const std::optional<CallCost>& cost = {});

// `visits`: the word for them, visits_word(). `losses`: sentences about the run, as in RunFacts.
void write_by(const std::vector<GroupRow>& rows, GroupKey key, const char* visits,
              const std::vector<std::string>& losses, const Terminal& terminal, Output& output);
void write_by_json(const std::vector<GroupRow>& rows, GroupKey key, const char* visits,
                   const std::vector<std::string>& losses, Output& output);

}  // namespace timeloom::tools
