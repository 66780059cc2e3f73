// Transfers of values to the workers of an engine (Dask), and the work of its scheduler.
//
// Plain values and functions; times in seconds since the start of the run. They throw nothing but
// std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace timeloom::tools {

struct Transfer {
  std::string worker;  // that fetches the values
  double start = 0, end = 0;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;  // as the engine knows it before
};

struct TransferRow {  // of a worker
  std::string worker;
  std::uint64_t transfers = 0;
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  double any = 0;    // in which at least one of its transfers ran
  double total = 0;  // of all of them, which may run at the same time
  double longest = 0;
};

// By `any`, the most first.
std::vector<TransferRow> transfer_rows(std::vector<Transfer> transfers);

// A time in which a scheduler worked on a thread.
struct Scheduling {
  double start = 0, end = 0;
  std::uint64_t thread = 0;
};

struct SchedulerWork {
  std::uint64_t times = 0;
  double busy = 0;
  double longest = 0;
};

// The parts between the two times, on the busiest thread: a program may have several clusters.
SchedulerWork scheduler_work(const std::vector<Scheduling>& all, double from, double to);

}  // namespace timeloom::tools
