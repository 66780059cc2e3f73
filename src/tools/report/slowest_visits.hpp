// `timeloom report --slowest`: the slowest single visits of a trace, with their parameters.
//
// A sink for the events of a run. SlowestVisits follows the rules of RunSink; visits() and the
// functions that write are for one thread, after finish().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct Visit {
  RegionId region;
  LocationId location;
  std::uint64_t begin = 0;  // ticks
  std::uint64_t total = 0;
  std::uint64_t exclusive = 0;
  std::vector<Event> parameters{};
  bool impossible = false;  // it lies outside of the run, or ends before it begins
};

class SlowestVisits final : public RunSink {
 public:
  // `regions`: only visits of these, by their total time; empty: all, by their own time, since by
  // the total one the callers of the slowest are always slower. `locations`: only these.
  SlowestVisits(std::size_t most, std::vector<RegionId> regions, std::set<LocationId> locations)
      : most_(most), regions_(std::move(regions)), locations_(std::move(locations)) {}

  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

  // The slowest first.
  const std::vector<Visit>& visits() const { return visits_; }
  // "n=2, name=x"
  std::string parameters_of(const Visit& visit) const;

  void write(const Terminal& terminal, Output& output) const;
  void write_json(Output& output) const;

 private:
  class OneLocation;
  bool is_possible(std::uint64_t begin, std::uint64_t end) const;
  bool slower(const Visit& a, const Visit& b) const;
  void shorten(std::vector<Visit>& visits) const;
  std::string name_of_location(LocationId id) const;

  std::size_t most_;
  std::vector<RegionId> regions_;
  std::set<LocationId> locations_;
  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  std::vector<Visit> visits_;
};

}  // namespace timeloom::tools
