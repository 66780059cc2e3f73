// Writes the index of a run: a sink for the events of a source.
//
// Thread safety: as RunSink. Throws Error when the file cannot be written, and Cancelled when asked
// to stop. The file is complete when finish() has returned.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/waiting/cause_names.hpp"
#include "view/index/index.hpp"
#include "view/index/index_file.hpp"
#include "view/index/run_paths.hpp"

namespace timeloom::view {

// The progress of the work; other threads may read it and request its end.
struct Progress {
  std::atomic<std::uint64_t> events = 0;
  std::atomic<std::uint64_t> events_total = 0;  // 0: not known
  std::atomic<bool> cancelled = false;
};

struct Cancelled {};

class IndexWriter : public RunSink {
 public:
  // `source`: the identity of the archive, see source_identity(). REQUIRES: the file is empty.
  IndexWriter(IndexFile& file, std::uint64_t source, Progress& progress,
              std::uint32_t most_paths = RunPaths::kMost);

  // Gives call paths the numbers of this earlier index of the run. REQUIRES: called before begin().
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
  std::unique_ptr<const RegionCauses> causes_;  // of them
  std::vector<TrackRecord> tracks_;             // in the order of the locations
  std::mutex mutex_;
};

// True for properties that only reading the events yields, such as the repairs made.
bool is_property_of_reading(const std::string& name);

}  // namespace timeloom::view
