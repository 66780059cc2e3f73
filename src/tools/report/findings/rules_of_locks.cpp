// Rules about locks that were recorded (--locks).

#include "core/locks/lock_facts.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/report/locks/report_locks.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::uint64_t kManyWaiters = 3;
constexpr double kMuchOfTheRun = 0.3;  // on average in a thread that waited
constexpr double kFewSeconds = 0.05;   // the same

double lock_seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

void add_recorded_convoy(const FoundIn& run, const LockRow& row, Findings& findings) {
  const LockHolder* const holder = worst_holder(row);
  if (row.is_signal() || row.threads < kManyWaiters || holder == nullptr) return;
  const double waited = lock_seconds(row.waited);
  const double each = waited / static_cast<double>(row.threads);
  if (each < kMuchOfTheRun * run.wall || each < kFewSeconds) return;
  findings.push_back({"lock-convoy",
                      formatted("{}: held {} by {}, {} threads waited {}", lock_name(row),
                                duration(lock_seconds(holder->held), run.terminal, " "),
                                printable(lock_function(holder->line)), row.threads,
                                duration(waited, run.terminal, " ")),
                      "report --locks",
                      each,
                      {{"threads", static_cast<double>(row.threads)},
                       {"waiting_s", waited},
                       {"waits", static_cast<double>(row.waits)},
                       {"held_s", lock_seconds(holder->held)}}});
}

}  // namespace

void find_deadlocks(const FoundIn& run, Findings& findings) {
  const LockFacts facts = locks_in(run.tree.definitions.properties);
  std::size_t at = 0;
  for (const std::string& sentence : stuck_sentences(facts, run.tree.definitions, run.terminal)) {
    const std::uint64_t circle = facts.stuck[at].circle;
    const bool gave_up = facts.stuck[at].by == StuckBy::kGaveUp;
    double waited = 0, threads = 0;
    for (; at < facts.stuck.size() && facts.stuck[at].circle == circle; ++at) {
      waited += lock_seconds(facts.stuck[at].waited);
      ++threads;
    }
    // Before all findings about time: the program did not go on. A thread that waits for a lock of
    // its own may wait for a signal of another one, so only its time counts. So does the time of
    // threads that went on when one of them gave up.
    findings.push_back({"deadlock",
                        sentence,
                        "report --locks",
                        threads > 1 && !gave_up ? run.wall + waited : waited,
                        {{"threads", threads}, {"waiting_s", waited}}});
  }
}

bool find_recorded_convoys(const FoundIn& run, Findings& findings) {
  const LockFacts facts = locks_in(run.tree.definitions.properties);
  for (const LockRow& row : facts.rows) add_recorded_convoy(run, row, findings);
  return facts.recorded;
}

}  // namespace timeloom::tools
