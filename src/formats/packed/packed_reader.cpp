// The file as a whole: reads its definitions, finds the blocks of each location, replays them.

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/teams/team_scan.hpp"
#include "formats/packed/block_unpacker.hpp"
#include "formats/packed/packed.hpp"
#include "formats/packed/packed_definitions.hpp"
#include "formats/packed/packed_file.hpp"
#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {
namespace {

// Definitions and the end become this much smaller at most.
constexpr std::uint64_t kMostGainOfText = 256;  // as of other streams: a writer keeps to it
constexpr std::uint64_t kAlwaysRead = 1 << 20;

struct Losses {
  std::uint64_t blocks = 0;
  std::uint64_t events = 0;
  void add(const Losses& other) {
    blocks += other.blocks;
    events += other.events;
  }
};

using Sinks = std::span<const std::unique_ptr<LocationSink>>;

// Passes the blocks of one location to its sinks. Regions whose leaves or enters are in a lost
// block are left at the last time before it, or entered at the first time after it.
class LocationReplay {
 public:
  LocationReplay(const FileReader& file, const Definitions& definitions, Sinks sinks)
      : file_(file), unpacker_(definitions), sinks_(sinks) {}

  // False: the block is lost.
  bool pass(const Section& section) {
    if (!file_.read(section, body_)) return false;
    if (!unpacker_.unpack({section.head.events, section.head.first}, body_)) return false;
    const std::vector<Event>& events = unpacker_.events();
    if (events.front().time < last_) return false;
    if (open_ != unpacker_.open()) bridge(unpacker_.open(), events.front().time);
    feed(events);
    open_ = unpacker_.open_at_end();
    last_ = events.back().time;
    passed_ += events.size();
    return true;
  }
  void close_all() { bridge(std::vector<std::uint32_t>(), last_); }
  std::uint64_t passed() const noexcept { return passed_; }

 private:
  void bridge(std::span<const std::uint32_t> open, Timestamp time) {
    const auto common = std::ranges::mismatch(open_, open).in1 - open_.begin();
    const auto kept = static_cast<std::size_t>(common);
    std::vector<Event> events;
    for (std::size_t i = open_.size(); i > kept; --i) {
      events.push_back({last_, EventKind::kLeave, open_[i - 1], 0});
    }
    for (const std::uint32_t region : open.subspan(kept)) {
      events.push_back({time, EventKind::kEnter, region, 0});
    }
    feed(events);
  }
  void feed(std::span<const Event> events) {
    if (events.empty()) return;
    for (const auto& sink : sinks_) sink->consume(events);
  }

  const FileReader& file_;
  BlockUnpacker unpacker_;
  Sinks sinks_;
  Bytes body_;
  std::vector<std::uint32_t> open_;
  Timestamp last_{};
  std::uint64_t passed_ = 0;
};

class PackedReader : public RunSource {
 public:
  explicit PackedReader(const std::filesystem::path& path) : file_(path) {
    Bytes bytes;
    if (!text_of(file_.sections().front(), bytes) || !read_definitions(bytes, definitions_)) {
      throw Error(path.string() + ": its definitions are damaged; copy it again [TL166]");
    }
    name_unnamed();
    blocks_.resize(definitions_.locations.size());
    counts_.resize(definitions_.locations.size());
    lost_at_opening_ = file_.damaged_parts();
    for (const Section& section : std::span(file_.sections()).subspan(1)) take(section);
    for (auto& blocks : blocks_) sort_blocks(blocks);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      definitions_.locations[i].event_count = counts_[i].events;
    }
  }

  const Definitions& definitions() const override { return definitions_; }

  void replay(std::span<RunSink* const> sinks, unsigned threads) override {
    if (!definitions_.teams && has_teams(definitions_) &&
        std::ranges::any_of(sinks, &RunSink::wants_teams)) {
      TeamScan scan;
      const std::array<RunSink*, 1> one = {&scan};
      read_all(one, threads);
      scan.finish();
      definitions_.teams = scan.take();
    }
    tell(read_all(sinks, threads));
    for (RunSink* sink : sinks) sink->finish();
  }

  // Found without unpacking anything.
  std::size_t unsound() const {
    std::uint64_t parts = lost_at_opening_ + (has_end_ ? 0 : 1);
    for (std::size_t i = 0; i < blocks_.size() && has_end_; ++i) {
      parts += counts_[i].blocks - std::min<std::uint64_t>(counts_[i].blocks, blocks_[i].size());
    }
    return parts;
  }

 private:
  using Blocks = std::vector<Section>;

  bool text_of(const Section& section, Bytes& bytes) const {
    Bytes body;
    StreamReader streams;
    if (!file_.read(section, body) ||
        !streams.read(thread_decompressor(), body, kAlwaysRead + kMostGainOfText * body.size())) {
      return false;
    }
    const ByteSpan text = streams.stream(0);
    bytes.assign(text.begin(), text.end());
    return true;
  }

  // As readers of a trace do.
  void name_unnamed() {
    if (definitions_.machine_name.empty()) definitions_.machine_name = "Linux";
    for (Region& region : definitions_.regions) {
      if (region.canonical_name.empty()) region.canonical_name = region.name;
    }
  }

  void take(const Section& section) {
    if (section.head.kind == SectionKind::kEnd) return take_end(section);
    const LocationId location{section.head.location};
    const auto found =
        std::ranges::lower_bound(definitions_.locations, location, {}, &Location::id);
    const bool known = section.head.kind == SectionKind::kBlock &&
                       found != definitions_.locations.end() && found->id == location;
    if (!known) {
      ++lost_at_opening_;
      return;
    }
    blocks_[static_cast<std::size_t>(found - definitions_.locations.begin())].push_back(section);
  }

  void take_end(const Section& section) {
    Bytes bytes;
    RunEnd end;
    if (has_end_ || !text_of(section, bytes) || !read_end(bytes, end) ||
        end.locations.size() != counts_.size()) {
      ++lost_at_opening_;
      return;
    }
    has_end_ = true;
    definitions_.clock = end.clock;
    definitions_.properties = std::move(end.properties);
    counts_ = std::move(end.locations);
  }

  // Blocks that are there twice count once.
  void sort_blocks(Blocks& blocks) {
    const auto number = [](const Section& one) { return one.head.number; };
    std::ranges::stable_sort(blocks, {}, number);
    // Clang 14 cannot compile std::ranges::unique with GCC 12's library.
    const auto rest = std::unique(
        blocks.begin(), blocks.end(),
        [](const Section& a, const Section& b) { return a.head.number == b.head.number; });
    lost_at_opening_ += static_cast<std::uint64_t>(blocks.end() - rest);
    blocks.erase(rest, blocks.end());
  }

  Losses read_all(std::span<RunSink* const> sinks, unsigned threads) const {
    for (RunSink* sink : sinks) sink->begin(definitions_);
    Losses losses{lost_at_opening_, 0};
    std::mutex mutex;
    std::vector<std::size_t> order(blocks_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The longest first, so that the threads end at about the same time.
    std::ranges::stable_sort(order, std::ranges::greater(), [this](std::size_t i) {
      return definitions_.locations[i].event_count;
    });
    for_each_in_parallel(order.size(), threads, [&](std::size_t i) {
      const Losses found = replay_location(order[i], sinks);
      const std::lock_guard lock(mutex);
      losses.add(found);
    });
    return losses;
  }

  Losses replay_location(std::size_t index, std::span<RunSink* const> sinks) const {
    std::vector<std::unique_ptr<LocationSink>> open;
    for (RunSink* sink : sinks) open.push_back(sink->open_location(definitions_.locations[index]));
    LocationReplay replay(file_, definitions_, open);
    Losses losses;
    std::uint64_t next = 0;
    for (const Section& block : blocks_[index]) {
      losses.blocks += block.head.number - next;
      next = std::uint64_t{block.head.number} + 1;
      if (!replay.pass(block)) ++losses.blocks;
    }
    replay.close_all();
    const RunEnd::OfLocation& all = counts_[index];
    losses.blocks += all.blocks - std::min(all.blocks, next);
    losses.events += all.packed - std::min(all.packed, replay.passed());
    for (const auto& sink : open) sink->finish();
    return losses;
  }

  void tell(const Losses& losses) {
    const auto set = [this](const char* name, std::uint64_t count) {
      definitions_.properties.erase(name);  // of an earlier reading
      if (count > 0) definitions_.properties[name] = std::to_string(count);
    };
    set(kLostBlocks, losses.blocks);
    set(kLostEvents, losses.events);
    set(kEndIsLost, has_end_ ? 0 : 1);
  }

  FileReader file_;
  Definitions definitions_;
  std::vector<Blocks> blocks_;              // by location
  std::vector<RunEnd::OfLocation> counts_;  // the same; zeros: the end is lost
  bool has_end_ = false;
  std::uint64_t lost_at_opening_ = 0;
};

}  // namespace

std::unique_ptr<RunSource> open(const std::filesystem::path& file) {
  return std::make_unique<PackedReader>(file);
}

std::uint64_t run_number(const std::filesystem::path& file) { return FileReader(file).run(); }

std::size_t unsound_parts(const std::filesystem::path& file) {
  return PackedReader(file).unsound();
}

}  // namespace timeloom::packed
