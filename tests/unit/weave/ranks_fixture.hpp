// The spools of three ranks of a job on two hosts.
#pragma once

#include <bit>
#include <map>
#include <string>

#include "core/code_object.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/run_properties.hpp"
#include "weave_fixture.hpp"

namespace timeloom::weave {

class RanksTest : public WeaveTest {
 protected:
  static constexpr std::uint64_t kSecond = 1'000'000'000;

  bool packed_ = false;  // the run is a packed one
  CodeObject object_;
  std::map<std::uint32_t, CodeAddress> code_;  // by region; the same in each rank

  // Ticks of its host's counter; two ranks share a host.
  static std::uint64_t begin_of(std::uint32_t rank) { return kSecond * (rank < 2 ? 1000 : 5000); }
  fs::path spool_of(std::uint32_t rank) const {
    return run() / "spool" / ("rank-" + std::to_string(rank)) / "p-1-1-0";
  }

  // Each rank has different ids for regions, strings and parameters, and has measured another speed
  // of its clock.
  spool::Writer& rank(std::uint32_t number, const Lines& regions) {
    clock_is_lost_ = true;
    fs::create_directories(spool_of(number).parent_path());
    spool::Writer& writer = spool("rank-" + std::to_string(number) + "/p-1-1-0", regions);
    const std::string host = number < 2 ? "a" : "b";
    writer.define_process({"app.py", host, 7 + number, "", {}, {}, ""}, "");
    writer.define_property(kRank, std::to_string(number));
    if (packed_) writer.define_property(kTraceFormat, kPackedTrace);
    for (const std::uint64_t second : {0u, 1u}) {
      const std::uint64_t drift = second * (100 + 50 * number);
      writer.define_clock_sync({begin_of(number) + second * kSecond,
                                (100 + second) * kSecond + number * 1000 + drift,
                                (1'700'000'000 + second) * kSecond});
    }
    writer.define_parameter(ParameterId{number}, {"n", ParameterType::kInt64});
    writer.define_parameter(ParameterId{number + 1}, {"who", ParameterType::kString});
    writer.define_parameter(ParameterId{number + 2}, {"share", ParameterType::kFloat});
    writer.define_string(StringId{5 - number}, "rank " + std::to_string(number));
    writer.define_string(StringId{9}, "both");
    writer.define_metric(MetricId{3 - number}, {"load of " + std::to_string(number), "#", ""});
    writer.define_metric(MetricId{7}, {"load", "#", ""});
    if (!code_.empty()) writer.define_object(0, object_);
    for (const auto& [id, address] : code_) writer.define_address(RegionId{id}, address);
    return writer;
  }

  void record(std::uint32_t number, const Lines& regions) {
    spool::Writer& writer = rank(number, regions);
    spool::Pen pen(writer, 0);
    std::uint64_t now = begin_of(number) + 1000;
    pen.enter(now, 0);
    // Fewer than fill a segment, see spool(): these clocks are not the machine's.
    for (std::uint32_t i = 0; i < 60; ++i) {
      const auto inner = static_cast<std::uint32_t>(1 + i % (regions.size() - 1));
      pen.enter(now += 1000 + 7 * i, inner);
      pen.valued(now, EventKind::kParameterInt, number, i % 3);
      pen.valued(now, EventKind::kParameterString, number + 1, i % 2 == 0 ? 9 : 5 - number);
      pen.valued(now, EventKind::kParameterFloat, number + 2,
                 std::bit_cast<std::uint64_t>(i % 4 + 0.125 * number));
      const std::uint64_t load = std::bit_cast<std::uint64_t>(0.5 * i);
      pen.valued(now, EventKind::kMetric, i % 2 == 0 ? 7 : 3 - number, load);
      pen.leave(now += 100'000 + 11 * i, inner);
    }
    pen.leave(now += 1000, 0);
    pen.retire();
    writer.close();
  }
  void record_three() {
    record(0, {"main", "f", "g"});
    record(1, {"main", "g", "of rank 1", "f"});
    record(2, {"other main", "h", "f"});
  }
};

}  // namespace timeloom::weave
