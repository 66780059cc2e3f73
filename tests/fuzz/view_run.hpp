// A file in memory, and a small run, for the fuzzers of the viewer.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/mpi/mpi_event.hpp"
#include "view/answers/api.hpp"

namespace timeloom::view {

inline std::unique_ptr<IndexFile> file_in_memory(std::string_view bytes) {
  const int descriptor = ::memfd_create("timeloom-fuzz", MFD_CLOEXEC);
  if (descriptor < 0) std::abort();
  auto file = std::make_unique<IndexFile>(descriptor, "input");
  file->write_at(0, bytes);
  return file;
}

// Two processes of one thread, which are the ranks of a communicator, a parameter and a metric.
inline Definitions small_definitions() {
  Definitions definitions;
  for (const char* name : {"main", "f", "g"}) {
    Region region;
    region.name = name;
    region.file = std::string("src/") + name + ".py";
    region.first_line = 1;
    definitions.regions.push_back(region);
  }
  definitions.parameters.push_back({"n", ParameterType::kInt64});
  definitions.metrics.push_back({"rss", "B", "", MetricValueType::kInt64});
  definitions.communicators.emplace_back().name = "MPI_COMM_WORLD";
  for (const char* name : {"MainThread", "worker"}) {
    const std::size_t number = definitions.locations.size();
    definitions.groups.push_back({"Process", "node", number, "python", {"a.py"}});
    definitions.locations.push_back(
        {LocationId{number}, name, LocationGroupId{static_cast<std::uint32_t>(number)}});
    definitions.communicators[0].members.push_back(LocationId{number});
  }
  return definitions;
}

// A message from the first process to the second, and a collective operation of both.
inline void talk(std::vector<Event>& events, std::uint64_t time, std::uint32_t rank) {
  const Timestamp now{time};
  events.push_back(operand(now, OperandKind::kPeerAndTag, pair_of(1 - rank, 7)));
  events.push_back({now, rank == 0 ? EventKind::kMpiSend : EventKind::kMpiRecv, 0, 80});
  const auto kind = static_cast<std::uint32_t>(CollectiveKind::kBarrier);
  events.push_back({now, EventKind::kMpiCollectiveBegin, 0, 0});
  events.push_back(operand(now, OperandKind::kPeerAndTag, pair_of(kind, UINT32_MAX)));
  events.push_back({now, EventKind::kMpiCollectiveEnd, 0, 0});
}

inline std::shared_ptr<const Index> small_index(const Definitions& definitions) {
  auto file = file_in_memory({});
  Progress progress;
  IndexWriter writer(*file, 0, progress);
  writer.begin(definitions);
  for (const Location& location : definitions.locations) {
    const auto sink = writer.open_location(location);
    std::vector<Event> events;
    const auto add = [&](std::uint64_t time, EventKind kind, std::uint32_t ref) {
      events.push_back({Timestamp{time}, kind, ref, time});
    };
    add(10, EventKind::kEnter, 0);
    for (std::uint64_t time = 20; time < 30'000; time += 5) {
      add(time, EventKind::kEnter, 1);
      add(time, EventKind::kParameterInt, 0);
      add(time, EventKind::kMetric, 0);
      if (time % 1000 == 0) talk(events, time, static_cast<std::uint32_t>(location.id.value()));
      if (time % 7 == 0)
        add(time, time % 2 == 0 ? EventKind::kRecordingOff : EventKind::kRecordingOn, 0);
      add(time + 1, EventKind::kEnter, 2);
      add(time + 2, EventKind::kLeave, 2);
      add(time + 3, EventKind::kLeave, 1);
    }
    add(30'000, EventKind::kLeave, 0);
    sink->consume(events);
    sink->finish();
  }
  writer.finish();
  return std::make_shared<const Index>(std::move(file), 0);
}

}  // namespace timeloom::view
