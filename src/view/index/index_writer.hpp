// Writes the index of a run: a sink to which a source feeds it.
//
// Thread safety: as RunSink says. Throws Error when the file cannot be written, and Cancelled when
// it was asked to stop. The file is complete when finish() has returned.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/event.hpp"
#include "view/index/index.hpp"
#include "view/index/index_file.hpp"
#include "view/index/run_paths.hpp"

namespace timeloom::view {

// How far the work is; read by other threads, which may also ask for its end.
struct Progress {
  std::atomic<std::uint64_t> events = 0;
  std::atomic<std::uint64_t> events_total = 0;  // 0: not known
  std::atomic<bool> cancelled = false;
};

struct Cancelled {};

class IndexWriter : public RunSink {
 public:
  // `source`: the identity of the archive, see source_identity(). The file is empty.
  IndexWriter(IndexFile& file, std::uint64_t source, Progress& progress,
              std::uint32_t most_paths = RunPaths::kMost);

  // Call paths get the numbers that they have in this earlier index of the run. REQUIRED before
  // begin().
  void number_paths_as(const Index& earlier) { paths_.take_over(earlier.paths()); }

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

 private:
  class OfLocation;

  void put(std::size_t place, const TrackRecord& record);

  IndexFile& file_;
  std::uint64_t source_;
  Progress& progress_;
  RunPaths paths_;
  const Definitions* definitions_ = nullptr;
  std::vector<TrackRecord> tracks_;  // as the locations
  std::mutex mutex_;
};

// Properties that only reading the events tells, such as what had to be repaired.
bool is_property_of_reading(const std::string& name);

}  // namespace timeloom::view
