#include "tools/report/locks/report_locks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

constexpr double kPerNanosecond = 1e-9;

double seconds_of_lock(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * kPerNanosecond;
}

std::string file_base_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }

// The lines at which threads wait, over all threads.
struct WaitingLine {
  LockLine line;
  std::uint64_t waits = 0, waited = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> threads;
};
std::vector<WaitingLine> waiting_lines(const LockRow& row) {
  std::map<LockLine, WaitingLine> lines;
  for (const LockWaiter& waiter : row.waiters) {
    WaitingLine& line = lines[waiter.line];
    line.line = waiter.line;
    line.waits += waiter.waits;
    line.waited += waiter.waited;
    line.threads.emplace(waiter.process, waiter.thread);
  }
  std::vector<WaitingLine> sorted;
  for (auto& [key, line] : lines) sorted.push_back(std::move(line));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &WaitingLine::waited);
  return sorted;
}

class LockWriter {
 public:
  LockWriter(const LockFacts& facts, const Definitions& definitions, const Terminal& terminal,
             Output& output)
      : facts_(facts), definitions_(definitions), terminal_(terminal), output_(output) {}

  void write() {
    for (const std::string& sentence : stuck_sentences(facts_, definitions_, terminal_))
      output_.write(sentence + "\n");
    if (facts_.lost > 0) {
      output_.write(formatted(
          "! {} without a place in the tables: locks, lines or threads are missing below [TL447]\n",
          plural(facts_.lost, "record")));
    }
    std::vector<const LockRow*> locks, signals;
    for (const LockRow& row : facts_.rows) (row.is_signal() ? signals : locks).push_back(&row);
    if (locks.empty() && signals.empty()) {
      output_.write("No lock was taken.\n");
      return;
    }
    summary(locks);
    table("lock", locks, true);
    const auto waited_for =
        std::ranges::find_if(signals, [](const LockRow* row) { return row->waits > 0; });
    if (waited_for != signals.end()) {
      output_.write("\n");
      table("signal", signals, false);
    }
    output_.write(
        terminal_.paint(
            "waited: by all threads together; of a line that held it, what others waited meanwhile",
            Ink::kDim) +
        "\n");
  }

 private:
  void summary(const std::vector<const LockRow*>& locks) {
    std::uint64_t waits = 0, waited = 0, takes = 0, made = 0;
    for (const LockRow* row : locks) {
      waits += row->waits;
      waited += row->waited;
      takes += row->takes;
      made += row->locks;
    }
    output_.write(formatted("{}, taken {}, {} of waiting in {}\n\n", plural(made, "lock"),
                            plural(takes, "time"), time(waited), plural(waits, "wait")));
  }

  std::string time(std::uint64_t nanoseconds) const {
    return duration(seconds_of_lock(nanoseconds), terminal_, " ");
  }
  std::string cell(std::uint64_t nanoseconds) const {
    return nanoseconds == 0 ? "" : duration(seconds_of_lock(nanoseconds), terminal_);
  }
  static std::string number(std::uint64_t value) {
    return value == 0 ? "" : short_count(static_cast<std::int64_t>(value));
  }

  void table(const char* title, const std::vector<const LockRow*>& rows, bool with_holders) {
    Table table(terminal_, 2, title);
    table.add_column("waited");
    table.add_column("waits");
    table.add_column("threads");
    if (with_holders) table.add_column("held");
    if (with_holders) table.add_column("taken");
    const std::size_t room = terminal_.height > 12 ? terminal_.height - 12 : 3;
    const std::size_t lines = with_holders ? room * 2 / 3 : room / 3;
    const bool any_waits =
        std::ranges::any_of(rows, [](const LockRow* row) { return row->waits > 0; });
    std::size_t used = 0;
    for (const LockRow* row : rows) {
      // Locks for which nobody waited are shown only where nobody waited at all.
      if (used >= lines || (any_waits && row->waits == 0)) break;
      add(table,
          {cell(row->waited), number(row->waits), number(row->threads), cell(row->held),
           number(row->takes)},
          lock_name(*row), {}, with_holders);
      ++used;
      used += parts(table, *row, with_holders);
    }
    table.write(output_);
  }

  // The worst lines below a lock that was waited for.
  std::size_t parts(Table& table, const LockRow& row, bool with_holders) {
    if (row.waits == 0) return 0;
    std::size_t used = 0;
    std::vector<const LockHolder*> holders;
    for (const LockHolder& one : row.holders) holders.push_back(&one);
    std::ranges::stable_sort(holders, std::ranges::greater(),
                             [](const LockHolder* one) { return one->blocked; });
    for (const LockHolder* one : holders) {
      if (!with_holders || used == 2 || one->blocked == 0) break;
      add(table, {cell(one->blocked), "", "", cell(one->held), number(one->takes)},
          "  held by " + printable(lock_function(one->line)), lock_line_text(one->line), true);
      ++used;
    }
    std::size_t waiting = 0;
    for (const WaitingLine& line : waiting_lines(row)) {
      if (waiting++ == 2) break;
      add(table, {cell(line.waited), number(line.waits), number(line.threads.size()), "", ""},
          "  waited in " + printable(lock_function(line.line)), lock_line_text(line.line),
          with_holders);
      ++used;
    }
    return used;
  }

  static void add(Table& table, std::vector<std::string> cells, std::string name, std::string place,
                  bool with_holders) {
    if (!with_holders) cells.resize(3);
    TableRow row;
    row.cells = std::move(cells);
    row.name = std::move(name);
    row.place = std::move(place);
    table.add_row(std::move(row));
  }

  const LockFacts& facts_;
  const Definitions& definitions_;
  const Terminal& terminal_;
  Output& output_;
};

ordered_json lock_line_json(const LockLine& line) {
  return {{"file", line.file}, {"function", line.function}, {"line", line.line}};
}

ordered_json lock_row_json(const LockRow& row, const Definitions& definitions) {
  ordered_json json = {{"name", lock_name(row)},
                       {"kind", lock_kind(row.kind)},
                       {"made_at", lock_line_json(row.line)},
                       {"made_seen", !row.unmade},
                       {"maker", row.maker},
                       {"is_signal", row.is_signal()},
                       {"locks", row.locks},
                       {"processes", row.processes},
                       {"taken", row.takes},
                       {"held_s", seconds_of_lock(row.held)},
                       {"waits", row.waits},
                       {"waited_s", seconds_of_lock(row.waited)},
                       {"threads", row.threads},
                       {"attempts_in_vain", row.refused},
                       {"released_by_others", row.foreign}};
  json["holders"] = ordered_json::array();
  json["waiters"] = ordered_json::array();
  for (const LockHolder& one : row.holders) {
    json["holders"].push_back({{"at", lock_line_json(one.line)},
                               {"taken", one.takes},
                               {"held_s", seconds_of_lock(one.held)},
                               {"longest_s", seconds_of_lock(one.longest)},
                               {"others_waited_s", seconds_of_lock(one.blocked)}});
  }
  for (const LockWaiter& one : row.waiters) {
    json["waiters"].push_back({{"thread", lock_thread_name(one.location, one.process, definitions)},
                               {"at", lock_line_json(one.line)},
                               {"waits", one.waits},
                               {"waited_s", seconds_of_lock(one.waited)},
                               {"longest_s", seconds_of_lock(one.longest)}});
  }
  return json;
}

const char* stuck_word(StuckBy by) {
  switch (by) {
    case StuckBy::kCircle: return "circle";
    case StuckBy::kEnded: return "owner_ended";
    case StuckBy::kGone: return "owner_in_parent";
    case StuckBy::kGaveUp: return "circle_until_gave_up";
  }
  return "circle";
}

std::string stuck_lock(const StuckThread& one) {
  const std::string place = lock_line_text(one.made_at);
  const std::string name = one.maker.empty() ? "lock" : "lock of " + printable(one.maker);
  return "the " + name + (place.empty() ? "" : " at " + place);
}

// "worker-1 took at a.py:14".
std::string stuck_owner(const StuckThread& one, bool alone, const StuckThread& next,
                        const Definitions& definitions) {
  const std::string place = lock_line_text(one.taken_at);
  const std::string took = place.empty() ? " has" : " took at " + place;
  switch (one.by) {
    case StuckBy::kGaveUp:
    case StuckBy::kCircle:
      if (alone) return "it" + took + "; only another thread can release it";
      return lock_thread_name(next.location, next.process, definitions) + took;
    case StuckBy::kEnded: return "a thread that has ended" + took;
    case StuckBy::kGone: break;
  }
  return "another thread" + took + " before the fork";
}

}  // namespace

std::string_view lock_kind(LockRowKind kind) {
  switch (kind) {
    case LockRowKind::kLock: return "lock";
    case LockRowKind::kRLock: return "RLock";
    case LockRowKind::kSemLock: return "lock of processes";
    case LockRowKind::kCondition: return "condition";
    case LockRowKind::kSemaphore: return "semaphore of processes";
  }
  return "lock";
}

std::string lock_thread_name(std::uint64_t location, std::uint64_t process,
                             const Definitions& definitions) {
  const auto found = std::ranges::find(definitions.locations, LocationId{location}, &Location::id);
  const std::string name =
      found == definitions.locations.end() ? "a thread" : location_name(*found);
  return printable(name + of_process(definitions, process));
}

std::string lock_line_text(const LockLine& line) {
  if (line.file.empty()) return {};
  const std::string file = printable(file_base_name(line.file));
  return line.line == 0 ? file : file + ":" + std::to_string(line.line);
}

std::string lock_function(const LockLine& line) {
  return line.function.empty() || line.function == "<module>" ? file_base_name(line.file)
                                                              : line.function;
}

std::string lock_name(const LockRow& row) {
  const bool plain = row.maker.empty() || row.maker == "RLock";
  std::string name = plain ? std::string(lock_kind(row.kind)) : printable(row.maker);
  const std::string place = lock_line_text(row.line);
  if (!place.empty()) name += (row.unmade ? " first taken at " : " at ") + place;
  return row.locks > 1 ? name + formatted(" ({} locks)", row.locks) : name;
}

const LockHolder* worst_holder(const LockRow& row) {
  const auto worst = std::ranges::max_element(
      row.holders, {}, [](const LockHolder& one) { return std::pair(one.blocked, one.held); });
  return worst == row.holders.end() ? nullptr : &*worst;
}

namespace {

// "deadlock: ", or "deadlock, ended when worker-0 gave up after 500 ms: ".
std::string stuck_start(const StuckThread& first, const Definitions& definitions,
                        const Terminal& terminal) {
  if (first.by != StuckBy::kGaveUp) return "deadlock: ";
  return "deadlock, ended when " + lock_thread_name(first.location, first.process, definitions) +
         " gave up after " + duration(seconds_of_lock(first.waited), terminal, " ") + ": ";
}

}  // namespace

std::vector<std::string> stuck_sentences(const LockFacts& facts, const Definitions& definitions,
                                         const Terminal& terminal) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < facts.stuck.size();) {
    std::size_t end = i;
    while (end < facts.stuck.size() && facts.stuck[end].circle == facts.stuck[i].circle) ++end;
    const bool gave_up = facts.stuck[i].by == StuckBy::kGaveUp;
    std::string sentence = stuck_start(facts.stuck[i], definitions, terminal);
    for (std::size_t at = i; at < end; ++at) {
      const StuckThread& one = facts.stuck[at];
      const StuckThread& next = facts.stuck[at + 1 == end ? i : at + 1];
      if (at > i) sentence += "; ";
      sentence += lock_thread_name(one.location, one.process, definitions) +
                  (gave_up ? " waited" : " waits");
      if (const std::string place = lock_line_text(one.waits_at); !place.empty())
        sentence += " at " + place;
      sentence += " for " + stuck_lock(one) + ", which ";
      sentence += stuck_owner(one, at == i && at + 1 == end, next, definitions);
    }
    sentences.push_back(std::move(sentence));
    i = end;
  }
  return sentences;
}

void write_locks(const LockFacts& facts, const Definitions& definitions, const Terminal& terminal,
                 Output& output) {
  LockWriter(facts, definitions, terminal, output).write();
}

void write_locks_json(const LockFacts& facts, const Definitions& definitions, Output& output) {
  ordered_json all = {{"format", "timeloom-report-locks"}, {"version", 1}};
  all["locks"] = ordered_json::array();
  all["stuck"] = ordered_json::array();
  for (const LockRow& row : facts.rows) all["locks"].push_back(lock_row_json(row, definitions));
  for (const StuckThread& one : facts.stuck) {
    all["stuck"].push_back({{"circle", one.circle},
                            {"because", stuck_word(one.by)},
                            {"thread", lock_thread_name(one.location, one.process, definitions)},
                            {"waits_at", lock_line_json(one.waits_at)},
                            {"waited_s", seconds_of_lock(one.waited)},
                            {"lock_made_at", lock_line_json(one.made_at)},
                            {"lock_taken_at", lock_line_json(one.taken_at)}});
  }
  all["missing"] = facts.lost;
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
