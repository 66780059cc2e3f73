// State shared by the locations of a run while they are written as packets.
//
// Constant while locations are written, except for the ordered output; see RunSink for threads.
// Throws Error where the output cannot be written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "exchange/destination.hpp"
#include "exchange/engines/task_arrows_of.hpp"
#include "exchange/in_order.hpp"
#include "exchange/names.hpp"
#include "exchange/protobuf.hpp"
#include "exchange/tracks.hpp"
#include "exchange/transfers.hpp"
#include "formats/perfetto/gpu_works.hpp"
#include "profile/gpu/gpu_launch.hpp"

namespace timeloom::perfetto {

// Numbers the tracks of the trace.
class TrackNumbers {
 public:
  TrackNumbers(const exchange::Tracks& tracks, std::size_t metrics)
      : processes_(tracks.processes.size()), locations_(tracks.tracks.size()), metrics_(metrics) {}
  std::uint64_t of_process(std::size_t process) const noexcept { return 1 + process; }
  std::uint64_t of_location(std::size_t location) const noexcept {
    return 1 + processes_ + location;
  }
  std::uint64_t of_counter(std::size_t location, std::size_t metric) const noexcept {
    return 1 + processes_ + locations_ + location * metrics_ + metric;
  }
  std::uint64_t of_process_counter(std::size_t process, std::size_t metric) const noexcept {
    return of_counter(locations_ + process, metric);
  }

 private:
  std::size_t processes_;
  std::size_t locations_;
  std::size_t metrics_;
};

struct Shared {
  Shared(const Definitions& all, exchange::MessageNumbers numbered,
         exchange::NumberedArrows between_tasks, GpuWorks of_gpus, std::string_view category,
         exchange::Destination& destination)
      : definitions(all),
        out(destination),
        ordered(destination, all.locations.size()),
        functions(category),
        messages(std::move(numbered)),
        arrows(std::move(between_tasks)),
        tracks(all),
        numbers(tracks, all.metrics.size()),
        clock(all.clock),
        launches(all),
        works(std::move(of_gpus)) {}

  const Definitions& definitions;
  exchange::Destination& out;  // not used directly while locations are written
  exchange::InOrder ordered;
  std::string_view functions;  // the name of their category
  exchange::MessageNumbers messages;
  exchange::NumberedArrows arrows;
  exchange::Tracks tracks;
  TrackNumbers numbers;
  exchange::RunClock clock;
  GpuLaunches launches;
  GpuWorks works;
  bool samples = false;  // the run has its samples
};

// Appends a packet in the form that the file has it.
void append_packet(std::string& to, const exchange::ProtoMessage& packet);

// The packets that describe the clocks, processes and timelines of the run.
std::string describe(const Shared& shared);
// The markers of the run, as instants of their timelines.
std::string describe_markers(const Shared& shared);
// The TrackDescriptor of a counter.
exchange::ProtoMessage describe_counter(const Metric& metric, std::uint64_t number,
                                        std::uint64_t parent);

std::unique_ptr<LocationSink> write_location(Shared& shared, const Location& location);
// Of a stream of a GPU.
std::unique_ptr<LocationSink> write_stream(Shared& shared, const Location& location,
                                           std::int32_t device);

}  // namespace timeloom::perfetto
