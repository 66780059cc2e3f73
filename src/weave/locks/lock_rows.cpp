#include "weave/locks/lock_rows.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace timeloom::weave {
namespace {

using spool::LockData;

constexpr std::size_t kMostRows = 500;
constexpr std::size_t kMostParts = 20;  // holders of a row, and waiters

LockLine lock_line_of(const LockData::Place& place) {
  return {place.file, place.function, place.line};
}

bool can_be_owned(const LockData& data, std::uint32_t site_id) {
  if (site_id >= data.sites.size()) return true;
  const LockData::Site& site = data.sites[site_id];
  return site.kind != spool::LockKind::kCondition && site.kind != spool::LockKind::kSemaphore &&
         site.foreign == 0;
}

// The lock that a thread waits for, if another thread must release it; nullptr: there is none.
const LockData::Wanted* wanted_by(const LockData& data, std::uint32_t thread) {
  const std::uint32_t wanted = data.threads[thread].wanted;
  if (wanted == 0) return nullptr;
  const LockData::Wanted& lock = data.wanted[wanted - 1];
  return can_be_owned(data, lock.site) ? &lock : nullptr;
}

template <typename Part>
std::vector<Part> longest_parts(std::vector<Part> parts, std::uint64_t Part::*time) {
  std::ranges::stable_sort(parts, std::ranges::greater(), time);
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  return parts;
}

}  // namespace

std::vector<StuckChain> stuck_chains(const LockData& data) {
  std::vector<StuckChain> chains;
  std::vector<bool> seen(data.threads.size());
  for (std::uint32_t first = 0; first < data.threads.size(); ++first) {
    StuckChain chain;
    for (std::uint32_t at = first; !seen[at];) {
      const LockData::Wanted* const lock = wanted_by(data, at);
      if (lock == nullptr) {
        // A thread that ended with the lock; one that runs may yet release it.
        if (data.threads[at].ended && !chain.threads.empty()) chain.by = StuckBy::kEnded;
        break;
      }
      seen[at] = true;
      chain.threads.push_back(at);
      if (lock->owner == 0) {
        if (lock->since != 0) chain.by = StuckBy::kGone;
        break;
      }
      at = lock->owner - 1;
      const auto start = std::ranges::find(chain.threads, at);
      if (start == chain.threads.end()) continue;
      chains.push_back({StuckBy::kCircle, {start, chain.threads.end()}});
      break;
    }
    // Of a chain that ends at a lost owner, the thread that waits for that one.
    if (chain.by != StuckBy::kCircle) chains.push_back({chain.by, {chain.threads.back()}});
  }
  return chains;
}

void LockRows::add(const LockData& data, const Process& process) {
  if (!data.exists) return;
  recorded_ = true;
  lost_ += data.lost;
  std::vector<Row*> rows;
  std::set<Row*> counted;
  for (const LockData::Site& site : data.sites) {
    const auto kind = static_cast<LockRowKind>(site.kind);
    Row& row = rows_[Key{lock_line_of(site.place), site.maker, kind, site.unmade}];
    row.row.line = lock_line_of(site.place);
    row.row.maker = site.maker;
    row.row.kind = kind;
    row.row.unmade = site.unmade;
    row.row.locks += site.made;
    row.row.refused += site.refused;
    row.row.foreign += site.foreign;
    rows.push_back(&row);
  }
  for (const LockData::Hold& hold : data.holds) {
    if (hold.takes == 0) continue;
    Row& row = *rows[hold.site];
    LockHolder& holder = row.holders[lock_line_of(hold.place)];
    holder.line = lock_line_of(hold.place);
    holder.takes += hold.takes;
    holder.held += process.duration(hold.held);
    holder.longest = std::max(holder.longest, process.duration(hold.longest));
    holder.blocked += process.duration(hold.blocked);
    counted.insert(&row);
  }
  for (Row* row : counted) ++row->row.processes;
  for (const LockData::Wait& wait : data.waits) {
    add_wait(*rows[wait.site], data, process, wait.thread,
             {.line = lock_line_of(wait.place),
              .waits = wait.waits,
              .waited = process.duration(wait.waited),
              .longest = process.duration(wait.longest)});
  }
  add_open_waits(data, process, rows);
  add_stuck(data, process);
  add_given_up(data, process);
}

void LockRows::add_wait(Row& row, const LockData& data, const Process& process,
                        std::uint32_t thread, const LockWaiter& wait) {
  LockWaiter& waiter = row.waiters[{process.number, thread, wait.line}];
  waiter.location = process.location(data.threads[thread].location);
  waiter.process = process.number;
  waiter.thread = thread;
  waiter.line = wait.line;
  waiter.waits += wait.waits;
  waiter.waited += wait.waited;
  waiter.longest = std::max(waiter.longest, wait.longest);
}

// Waits that had not ended when the records did.
void LockRows::add_open_waits(const LockData& data, const Process& process,
                              const std::vector<Row*>& rows) {
  for (std::uint32_t i = 0; i < data.threads.size(); ++i) {
    const LockData::Thread& thread = data.threads[i];
    if (thread.wanted == 0) continue;
    const std::uint32_t site = data.wanted[thread.wanted - 1].site;
    if (site >= rows.size()) continue;
    const std::uint64_t ticks = process.last - std::min(process.last, thread.since);
    const std::uint64_t waited = process.duration(ticks);
    add_wait(*rows[site], data, process, i,
             {.line = lock_line_of(thread.place), .waits = 1, .waited = waited, .longest = waited});
  }
}

void LockRows::add_stuck(const LockData& data, const Process& process) {
  for (const StuckChain& chain : stuck_chains(data)) {
    for (const std::uint32_t number : chain.threads) {
      const LockData::Thread& thread = data.threads[number];
      const LockData::Wanted& lock = data.wanted[thread.wanted - 1];
      StuckThread stuck;
      stuck.by = chain.by;
      stuck.circle = circles_;
      stuck.location = process.location(thread.location);
      stuck.process = process.number;
      stuck.waits_at = lock_line_of(thread.place);
      stuck.waited = process.duration(process.last - std::min(process.last, thread.since));
      if (lock.site < data.sites.size()) {
        stuck.made_at = lock_line_of(data.sites[lock.site].place);
        stuck.maker = data.sites[lock.site].maker;
      }
      stuck.taken_at = lock_line_of(lock.place);
      stuck_.push_back(std::move(stuck));
    }
    ++circles_;
  }
}

// Circles that a thread has ended by giving up. Not of locks that other threads release, since they
// might have done so.
void LockRows::add_given_up(const LockData& data, const Process& process) {
  constexpr std::uint64_t kLeast = 10'000'000;  // ns: a thread may be late to note that it gave up
  for (std::size_t end = 0; end < data.circles.size();) {
    const std::size_t begin = end;
    bool owned = true;
    for (; end < data.circles.size() && data.circles[end].circle == data.circles[begin].circle;
         ++end) {
      owned = owned && can_be_owned(data, data.circles[end].site);
    }
    const std::uint64_t closed = process.duration(data.circles[begin].closed);
    if (!owned || end - begin < 2 || closed < kLeast) continue;
    for (std::size_t i = begin; i < end; ++i) stuck_.push_back(given_up(data, i, process, closed));
    ++circles_;
  }
}

StuckThread LockRows::given_up(const LockData& data, std::size_t at, const Process& process,
                               std::uint64_t closed) const {
  const LockData::Circle& one = data.circles[at];
  StuckThread stuck;
  stuck.by = StuckBy::kGaveUp;
  stuck.circle = circles_;
  stuck.location = process.location(data.threads[one.thread].location);
  stuck.process = process.number;
  stuck.waits_at = lock_line_of(one.place);
  stuck.waited = closed;
  if (one.site < data.sites.size()) {
    stuck.made_at = lock_line_of(data.sites[one.site].place);
    stuck.maker = data.sites[one.site].maker;
  }
  stuck.taken_at = lock_line_of(one.taken_at);
  return stuck;
}

LockFacts LockRows::take() {
  LockFacts facts;
  facts.recorded = recorded_;
  facts.lost = lost_;
  for (auto& [key, from] : rows_) {
    LockRow row = std::move(from.row);
    std::vector<LockHolder> holders;
    for (auto& [line, holder] : from.holders) {
      row.takes += holder.takes;
      row.held += holder.held;
      holders.push_back(std::move(holder));
    }
    std::vector<LockWaiter> waiters;
    std::set<std::pair<std::uint64_t, std::uint64_t>> threads;
    for (auto& [where, waiter] : from.waiters) {
      row.waits += waiter.waits;
      row.waited += waiter.waited;
      threads.emplace(waiter.process, waiter.thread);
      waiters.push_back(std::move(waiter));
    }
    row.threads = threads.size();
    if (row.takes == 0 && row.waits == 0 && row.refused == 0) continue;
    row.holders = longest_parts(std::move(holders), &LockHolder::held);
    row.waiters = longest_parts(std::move(waiters), &LockWaiter::waited);
    facts.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(facts.rows, [](const LockRow& a, const LockRow& b) {
    return std::tuple(a.waited, a.held) > std::tuple(b.waited, b.held);
  });
  if (facts.rows.size() > kMostRows) facts.rows.resize(kMostRows);
  facts.stuck = std::move(stuck_);
  return facts;
}

}  // namespace timeloom::weave
