#include "doors/omnitrace/format/row_order.hpp"

#include <algorithm>
#include <map>

#include "core/child_table.hpp"

namespace timeloom::omnitrace {

namespace {

// A node of a thread on its way to a row.
struct Placed {
  const CallNode* node;
  const Visits* values;
  std::uint32_t parent;  // in the same list; kNone: a root
  std::uint32_t thread;
};

std::vector<const ThreadCalls*> threads_of(const Calls& calls, LocationGroupId process) {
  std::vector<const ThreadCalls*> threads;
  for (const ThreadCalls& thread : calls.threads) {
    if (thread.group == process) threads.push_back(&thread);
  }
  // In order of appearance, the first thread of the process in any case first.
  if (threads.size() > 2) {
    std::stable_sort(threads.begin() + 1, threads.end(), [](const auto* a, const auto* b) {
      return a->nodes[1].first < b->nodes[1].first;
    });
  }
  return threads;
}

// Adds all nodes of a process; parents are places in the list.
void place(const Calls& calls, const std::vector<const ThreadCalls*>& threads, bool flat,
           std::vector<Placed>& all) {
  // Nodes of a thread are together, here the nodes of the first one.
  const auto first = static_cast<std::uint32_t>(all.size());
  for (std::uint32_t t = 0; t < threads.size(); ++t) {
    const ThreadCalls& thread = *threads[t];
    const auto begin = static_cast<std::uint32_t>(all.size());
    std::uint32_t above = kNone;
    if (t > 0 && !flat) {
      const auto stood = threads[0]->stood.find(thread.location);
      if (stood != threads[0]->stood.end() && stood->second != 0) above = first + stood->second - 1;
    }
    for (std::uint32_t n = 1; n < thread.nodes.size(); ++n) {
      const CallNode& node = thread.nodes[n];
      const std::uint32_t parent = node.parent == 0 ? above : begin + node.parent - 1;
      all.push_back({&node, thread.values.data() + n * calls.values, parent, t});
    }
  }
}

// Nodes in order of their first call; parents come before their children.
std::vector<std::uint32_t> in_order_of_first_call(const std::vector<Placed>& all) {
  std::vector<std::uint32_t> order(all.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return all[i].node->first; });
  return order;
}

enum class Joined : std::uint8_t { kNothing, kSameThreads, kAll };

// The rows that nodes become, still in order of first call.
class Merger {
 public:
  Merger(const Calls& calls, const std::vector<Placed>& all, Joined joined)
      : calls_(calls), all_(all), joined_(joined), row_of_(all.size()) {}

  Rows merge(const std::vector<std::uint32_t>& order) {
    for (const std::uint32_t i : order) {
      const Placed& one = all_[i];
      const std::uint32_t parent = one.parent == kNone ? kNone : row_of_[one.parent];
      const std::uint32_t row = row_for(parent, one);
      row_of_[i] = row;
      rows_.rows[row].count += one.node->count;
      for (std::size_t v = 0; v < calls_.values; ++v) {
        rows_.values[row * calls_.values + v].add(one.values[v]);
      }
      if (joined_ == Joined::kNothing) continue;
      std::vector<std::uint32_t>& threads = rows_.threads[row];
      if (std::ranges::find(threads, one.thread) == threads.end()) threads.push_back(one.thread);
    }
    return std::move(rows_);
  }

 private:
  std::uint32_t row_for(std::uint32_t parent, const Placed& one) {
    const bool joins = joined_ != Joined::kNothing;
    const std::uint32_t table = joined_ == Joined::kAll ? 0 : one.thread;
    if (joins) {
      const std::uint32_t found = known_[table].find(parent, one.node->label);
      if (found != ChildTable::kNone) return found;
    }
    const auto row = static_cast<std::uint32_t>(rows_.rows.size());
    rows_.rows.push_back({parent, one.node->label, 0, one.thread, 0});
    rows_.values.resize(rows_.values.size() + calls_.values);
    if (joins) {
      rows_.threads.emplace_back();
      known_[table].insert(parent, one.node->label, row);
    }
    return row;
  }

  const Calls& calls_;
  const std::vector<Placed>& all_;
  Joined joined_;
  std::vector<std::uint32_t> row_of_;
  std::map<std::uint32_t, ChildTable> known_;  // by thread, or of all of them
  Rows rows_;
};

// Rows whose parents come before them, so that each is followed by the rows below it.
Rows in_preorder(Rows rows, std::size_t values) {
  const auto size = static_cast<std::uint32_t>(rows.rows.size());
  std::vector<std::uint32_t> first(size + 1, kNone), next(size, kNone);  // first[size]: of roots
  for (std::uint32_t i = size; i-- > 0;) {
    std::uint32_t& head = first[std::min(rows.rows[i].parent, size)];
    next[i] = head;
    head = i;
  }
  Rows ordered;
  ordered.thread_count = rows.thread_count;
  std::vector<std::uint32_t> place(size), pending;
  const auto push = [&](std::uint32_t head) {
    const std::size_t begin = pending.size();
    for (std::uint32_t i = head; i != kNone; i = next[i]) pending.push_back(i);
    std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(begin), pending.end());
  };
  push(first[size]);
  while (!pending.empty()) {
    const std::uint32_t i = pending.back();
    pending.pop_back();
    place[i] = static_cast<std::uint32_t>(ordered.rows.size());
    Row row = rows.rows[i];
    if (row.parent != kNone) {
      row.parent = place[row.parent];
      row.depth = ordered.rows[row.parent].depth + 1;
    }
    ordered.rows.push_back(row);
    const auto from = rows.values.begin() + static_cast<std::ptrdiff_t>(i * values);
    ordered.values.insert(ordered.values.end(), from, from + static_cast<std::ptrdiff_t>(values));
    if (!rows.threads.empty()) ordered.threads.push_back(std::move(rows.threads[i]));
    push(first[i]);
  }
  return ordered;
}

}  // namespace

Rows rows_of(const Calls& calls, const std::vector<LocationGroupId>& processes, Merge merge,
             bool flat, bool timeline) {
  std::vector<Placed> all;
  std::size_t most_threads = 0;
  for (const LocationGroupId process : processes) {
    const std::vector<const ThreadCalls*> threads = threads_of(calls, process);
    place(calls, threads, flat, all);
    most_threads = std::max(most_threads, threads.size());
  }
  const bool same = processes.size() > 1 && merge == Merge::kNothing;
  const Joined joined = timeline                   ? Joined::kNothing
                        : merge == Merge::kThreads ? Joined::kAll
                        : same                     ? Joined::kSameThreads
                                                   : Joined::kNothing;
  Merger merger(calls, all, joined);
  Rows rows = merger.merge(in_order_of_first_call(all));
  rows.thread_count = static_cast<std::uint32_t>(most_threads);
  return in_preorder(std::move(rows), calls.values);
}

}  // namespace timeloom::omnitrace
