// The file as a whole: reads its definitions, finds the blocks of each location, replays them.

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/teams/team_scan.hpp"
#include "formats/packed/location_replay.hpp"
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

class PackedReader : public RunSource {
 public:
  explicit PackedReader(const std::filesystem::path& path) : file_(path) {
    Bytes bytes;
    if (!text_of(file_.sections().front(), bytes) || !read_definitions(bytes, definitions_)) {
      throw Error(path.string() + ": its definitions are damaged; copy it again [TL166]");
    }
    name_unnamed();
    blocks_.resize(definitions_.locations.size());
    part_of_.resize(definitions_.locations.size());
    counts_.resize(definitions_.locations.size());
    lost_at_opening_ = file_.damaged_parts();
    for (const Section& section : std::span(file_.sections()).subspan(1)) take(section);
    const std::uint16_t version = file_.sections().front().head.version;
    const bool had_original = version == kVersionOfOriginal || version == kVersion;
    if (had_original && !definitions_.original) ++lost_at_opening_;
    for (auto& blocks : blocks_) sort_blocks(blocks);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      definitions_.locations[i].event_count = counts_[i].events;
    }
    tell({lost_without_end(), 0});
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
  std::size_t unsound() const { return lost_without_end() + (has_end_ ? 0 : 1); }

 private:
  std::uint64_t lost_without_end() const {
    std::uint64_t parts = lost_at_opening_;
    for (std::size_t i = 0; i < blocks_.size() && has_end_; ++i) {
      parts += counts_[i].blocks - std::min<std::uint64_t>(counts_[i].blocks, blocks_[i].size());
    }
    return parts;
  }

  using Blocks = std::vector<Section>;
  static constexpr std::size_t kNowhere = SIZE_MAX;
  struct Part {
    Section meaning;
    std::map<std::uint64_t, std::size_t> locations;  // place by id in the part
  };

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
    if (section.head.kind == SectionKind::kPart) return take_part(section);
    if (section.head.kind == SectionKind::kOriginal) return take_original(section);
    std::size_t index = kNowhere;
    if (section.head.kind == SectionKind::kBlock) index = location_of(section.head);
    if (index == kNowhere) {
      ++lost_at_opening_;
      return;
    }
    blocks_[index].push_back(section);
  }

  // The place of the location among the definitions; else kNowhere.
  std::size_t location_of(const SectionHead& block) const {
    if (block.run == file_.run()) {
      const std::size_t index = place_of(LocationId{block.location});
      return index != kNowhere && part_of_[index] == nullptr ? index : kNowhere;
    }
    const auto part = parts_.find(block.run);
    if (part == parts_.end()) return kNowhere;
    const auto found = part->second.locations.find(block.location);
    return found == part->second.locations.end() ? kNowhere : found->second;
  }
  std::size_t place_of(LocationId location) const {
    const auto found =
        std::ranges::lower_bound(definitions_.locations, location, {}, &Location::id);
    if (found == definitions_.locations.end() || found->id != location) return kNowhere;
    return static_cast<std::size_t>(found - definitions_.locations.begin());
  }

  bool read_part(const Section& section, PartMeaning& meaning) const {
    Bytes bytes;
    return text_of(section, bytes) && read_meaning(bytes, meaning) &&
           meaning.fits(counts_of(definitions_));
  }

  // A location has the blocks of one part, or blocks of the run itself.
  void take_part(const Section& section) {
    PartMeaning meaning;
    const auto [part, is_new] = parts_.try_emplace(section.head.location, Part{section, {}});
    if (!is_new || !read_part(section, meaning)) {
      ++lost_at_opening_;
      return;
    }
    for (const PartMeaning::OfLocation& one : meaning.locations) {
      const std::size_t index = place_of(one.here);
      if (index == kNowhere || part_of_[index] != nullptr || !blocks_[index].empty()) {
        ++lost_at_opening_;
        continue;
      }
      part_of_[index] = &part->second;
      part->second.locations.emplace(one.there.value(), index);
    }
  }

  void take_original(const Section& section) {
    Bytes bytes;
    OriginalFiles files;
    if (definitions_.original) {
      ++lost_at_opening_;
      return;
    }
    // That it is missing is counted once.
    if (!text_of(section, bytes) || !read_original(bytes, files)) return;
    definitions_.original = std::make_shared<const OriginalFiles>(std::move(files));
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
    PartMeaning meaning;
    const Part* const part = part_of_[index];
    // Read again: there may be very many parts.
    const bool known = part == nullptr || read_part(part->meaning, meaning);
    LocationReplay replay(file_, definitions_, part == nullptr ? nullptr : &meaning, open);
    Losses losses;
    std::uint64_t next = 0;
    for (const Section& block : blocks_[index]) {
      losses.blocks += block.head.number - next;
      next = std::uint64_t{block.head.number} + 1;
      if (!known || !replay.pass(block)) ++losses.blocks;
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
  std::map<std::uint64_t, Part> parts_;     // by their numbers
  std::vector<const Part*> part_of_;        // by location; null: its blocks are of the run itself
  std::vector<Blocks> blocks_;              // the same
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
