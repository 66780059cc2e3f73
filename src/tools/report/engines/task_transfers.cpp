#include "tools/report/engines/task_transfers.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace timeloom::tools {

std::vector<TransferRow> transfer_rows(std::vector<Transfer> transfers) {
  std::ranges::stable_sort(transfers, {}, &Transfer::start);
  std::map<std::string, std::pair<TransferRow, double>> workers;  // until when one of them ran
  for (const Transfer& one : transfers) {
    auto& [row, until] = workers[one.worker];
    const double time = one.end - one.start;
    ++row.transfers;
    row.keys += one.keys;
    row.bytes += one.bytes;
    row.total += time;
    row.longest = std::max(row.longest, time);
    const double from = row.transfers == 1 ? one.start : std::max(one.start, until);
    row.any += std::max(one.end - from, 0.0);
    until = row.transfers == 1 ? one.end : std::max(one.end, until);
  }
  std::vector<TransferRow> rows;
  for (auto& [worker, found] : workers) {
    found.first.worker = worker;
    rows.push_back(std::move(found.first));
  }
  std::ranges::stable_sort(rows, std::greater(), &TransferRow::any);
  return rows;
}

SchedulerWork scheduler_work(const std::vector<Scheduling>& all, double from, double to) {
  std::map<std::uint64_t, SchedulerWork> threads;
  for (const Scheduling& one : all) {
    const double time = std::min(one.end, to) - std::max(one.start, from);
    if (time <= 0) continue;
    SchedulerWork& work = threads[one.thread];
    ++work.times;
    work.busy += time;
    work.longest = std::max(work.longest, time);
  }
  const auto busy = [](const auto& thread) { return thread.second.busy; };
  const auto busiest = std::ranges::max_element(threads, {}, busy);
  return busiest == threads.end() ? SchedulerWork() : busiest->second;
}

}  // namespace timeloom::tools
