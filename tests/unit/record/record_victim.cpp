// A program for the tests that kill it or fill its disk.
//
//   record_victim forever SPOOL COUNTERS THREADS
//   record_victim grows SPOOL COUNTERS THREADS    with segments of the usual size
//   record_victim newest SPOOL COUNTERS THREADS   with a size limit
//   record_victim limit SPOOL COUNTERS BYTES      files end at BYTES (ulimit -f)
//   record_victim tmpfs DIRECTORY COUNTERS BYTES  the disk is full after BYTES
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "../support/child.hpp"
#include "core/error.hpp"
#include "record/measurement.hpp"
#include "spool/reader.hpp"

namespace timeloom::record {
namespace {

constexpr int kNoTmpfs = 77;

void begin(const std::string& directory, bool small = true, std::uint64_t size_limit = 0) {
  StartOptions options;
  options.spool_directory = directory;
  if (small) {
    options.writer.segment_size = 4096;
    options.writer.ring_size = 16 * 4096;
  }
  options.writer.size_limit = {size_limit, AtLimit::kKeepNewest};
  start(options);
}

EventWord region() {
  Region region;
  region.name = "f";
  return enter_word(define_region(region));
}

// Counter t: number of events of thread t that are certainly recorded.
void record_forever(EventWord word, std::atomic<std::uint64_t>& count) {
  while (true) {
    t_recorder->enter(user_token(word), word);
    count.fetch_add(1, std::memory_order_release);
    t_recorder->leave(user_token(word));
    count.fetch_add(1, std::memory_order_release);
  }
}

int forever(const std::string& directory, const test::SharedCounters& counters, unsigned threads,
            bool small, std::uint64_t size_limit) {
  begin(directory, small, size_limit);
  const EventWord word = region();
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) {
    others.emplace_back([&, t] {
      attach_this_thread();
      counters[8 + t] = t_recorder->location();
      record_forever(word, counters[t]);
    });
  }
  record_forever(word, counters[0]);
  return 0;
}

// Counters: events put, lost as counted here, read, lost as reported by the spool, error, damage.
int until_full(const std::string& directory, const test::SharedCounters& counters) {
  begin(directory);
  const EventWord word = region();
  std::uint64_t put = 0;
  for (int i = 0; i < 50'000; ++i, put += 2) {
    t_recorder->enter(user_token(word), word);
    t_recorder->leave(user_token(word));
  }
  const Totals totals = stop();
  const auto reader = spool::Reader::open(directory);
  std::uint64_t read = 0;
  auto events = reader->read(0);
  for (std::vector<Event> batch; events.next(batch);) read += batch.size();
  counters[0] = put;
  counters[1] = totals.lost_events;
  counters[2] = read;
  counters[3] = reader->definitions().lost_events;
  counters[4] = static_cast<std::uint64_t>(totals.error);
  counters[5] =
      reader->damage().segments + reader->damage().missing_segments + events.damaged_segments();
  counters[6] = totals.events;
  return 0;
}

int with_limit(const std::string& directory, const test::SharedCounters& counters, rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_DFL);
  const struct rlimit limit { bytes, RLIM_INFINITY };
  ::setrlimit(RLIMIT_FSIZE, &limit);
  return until_full(directory, counters);
}

int on_tmpfs(const std::string& directory, const test::SharedCounters& counters,
             const std::string& bytes) {
  const std::string options = "size=" + bytes;
  const bool mounted =
      (::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::mount("none", directory.c_str(), "tmpfs", 0, options.c_str()) == 0;
  return mounted ? until_full(directory + "/spool", counters) : kNoTmpfs;
}

}  // namespace
}  // namespace timeloom::record

int main(int argc, char** argv) try {
  using namespace timeloom::record;
  if (argc != 5) return 2;
  const std::string mode = argv[1];
  const timeloom::test::SharedCounters counters(argv[3]);
  const auto number = static_cast<unsigned>(std::stoul(argv[4]));
  if (mode == "forever") return forever(argv[2], counters, number, true, 0);
  if (mode == "grows") return forever(argv[2], counters, number, false, 0);
  if (mode == "newest") return forever(argv[2], counters, number, true, 512 << 10);
  if (mode == "limit") return with_limit(argv[2], counters, std::stoul(argv[4]));
  if (mode == "tmpfs") return on_tmpfs(argv[2], counters, argv[4]);
  return 2;
} catch (const std::exception&) {
  return 3;  // cannot start
}
