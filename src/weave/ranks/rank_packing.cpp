#include "weave/ranks/rank_packing.hpp"

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "formats/packed/host_file.hpp"
#include "formats/packed/part.hpp"
#include "run/contents.hpp"
#include "run/open_directory.hpp"
#include "spool/spool_format.hpp"
#include "weave/ranks/new_conversion.hpp"
#include "weave/ranks/packed_ranks.hpp"
#include "weave/trace/on_disk.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

constexpr char kBlocks[] = "blocks";

// Passes events with times in nanoseconds to a sink, from a source whose times are ticks.
class InNanoseconds : public RunSink {
 public:
  InNanoseconds(RunSink& sink, const ProcessClock& clock) : sink_(sink), clock_(clock) {}

  bool wants_teams() const override { return sink_.wants_teams(); }
  void begin(const Definitions& definitions) override { sink_.begin(definitions); }
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<OfLocation>(sink_.open_location(location), clock_);
  }
  void finish() override { sink_.finish(); }

 private:
  class OfLocation : public LocationSink {
   public:
    OfLocation(std::unique_ptr<LocationSink> sink, const ProcessClock& clock)
        : sink_(std::move(sink)), clock_(clock) {}
    void consume(std::span<const Event> events) override {
      events_.assign(events.begin(), events.end());
      for (Event& event : events_) event.time = clock_.to_time(ticks(event.time));
      sink_->consume(events_);
    }
    void finish() override { sink_->finish(); }

   private:
    const std::unique_ptr<LocationSink> sink_;
    const ProcessClock clock_;
    std::vector<Event> events_;
  };

  RunSink& sink_;
  const ProcessClock clock_;
};

// The events of the rank in a file, and everything else about them.
struct Packed {
  RankResult result;
  std::uint64_t number = 0;
  bool whole = true;
};

Packed pack(const SpoolSource& in_ns, const spool::SpoolDirectory& spool, const fs::path& file,
            std::uint32_t ranks) {
  SpoolSource source({spool}, SpoolSource::RankResults::kIgnoredInTicks);
  const std::unique_ptr<packed::BlocksSink> blocks = packed::create_blocks(file);
  profile::LocationAggregators aggregators(share_of_rank(ranks));
  SampledTimeSink sampled(aggregators, in_ns.sampled_times(), in_ns.sampled_time_metric());
  InNanoseconds profile(sampled, in_ns.clock_of_rank());
  std::vector<RunSink*> sinks{blocks.get()};
  if (in_ns.wants_profile()) sinks.push_back(&profile);
  source.replay(sinks, 1);
  Packed packed{source.rank_result(), blocks->number(),
                source.damaged_segments() + source.foreign_segments() == 0};
  RankResult& result = packed.result;
  const RankResult moments = in_ns.rank_result();
  result.begin = moments.begin;
  result.end = moments.end;
  result.is_packed = true;
  result.definitions = size_of_definitions(spool);
  std::vector<profile::AggregatedLocation> aggregated = aggregators.take_locations();
  for (std::size_t i = 0; i < result.locations.size(); ++i) {
    if (i < aggregated.size()) result.locations[i].aggregated = std::move(aggregated[i]);
    result.locations[i].packed = blocks->facts(result.locations[i].there);
  }
  return packed;
}

// The locked file of this host; a closed one if it cannot be opened or locked.
os::File open_host_file(const os::Directory& spools) {
  const std::string name = host_file_name();
  int error = 0;
  os::File file = spools.create_file(name, &error);
  if (error == EEXIST) file = spools.open_to_write(name, &error);
  // Ranks hold it only while they append.
  for (const auto end = std::chrono::steady_clock::now() + 60s; error == 0;) {
    error = file.try_lock();
    if (error != EAGAIN || std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(5ms);
    error = 0;
  }
  return error == 0 ? std::move(file) : os::File();
}

// An errno value.
int sync(os::File& file, const os::Directory& directory) noexcept {
  const int error = file.sync();
  return error == 0 ? directory.sync() : error;
}

// Not while the run is woven: that weave may read the log.
void remove_log(const run::Directory& run, const os::Directory& spool) {
  for (const auto end = std::chrono::steady_clock::now() + 2s; !run.try_lock();) {
    if (std::chrono::steady_clock::now() > end) return;  // it stays, and does no harm
    std::this_thread::sleep_for(1ms);
  }
  (void)spool.remove_file(spool::kLogName);
}

}  // namespace

void pack_rank(const SpoolSource& source, const spool::SpoolDirectory& spool,
               const os::Directory& own, std::uint32_t ranks, const RankPacking& packing) {
  const std::string spools_path = packing.run.path() + "/" + run::name_of(run::Item::kSpool);
  const bool below = !packing.run.path().empty() && spool.path().starts_with(spools_path + "/");
  if (!below || !source.can_be_packed()) return;
  NewConversion converted(own);
  const Packed packed = pack(source, spool, converted.path() / kBlocks, ranks);
  if (!packed.whole) return;
  int error = 0;
  const run::Directory run = run::Directory::open(packing.run);
  const os::Directory spools = run.open_plain(run::Item::kSpool);
  if (!spools.is_open()) return;
  const os::File blocks = spool.open(std::string(kConvertedName) + "/" + kBlocks, &error);
  if (error != 0) throw std::system_error(error, std::generic_category());
  const std::uint64_t key = key_of_spool(spool.path().substr(spools_path.size() + 1));
  os::File host = open_host_file(spools);
  if (!host.is_open()) return;
  const auto part =
      packed::append_rank(host, packed.number, key, bytes_of(packed.result), blocks, &error);
  host.close();
  if (!part) throw std::system_error(error, std::generic_category());
  os::File written = spools.open_file(host_file_name(), &error);
  if (error == 0 && !packing.keep_log && is_worth_a_sync(run)) error = sync(written, spools);
  if (error != 0 || !packed::is_sound(std::move(written), *part)) return;
  if (!packing.keep_log) remove_log(run, own);
}

}  // namespace timeloom::weave
