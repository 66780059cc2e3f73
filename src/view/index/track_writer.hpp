// Writes the track of one location, from its events.
//
// Used by one thread at a time; the file, the paths, the definitions and the causes outlive it.
// Memory grows with the call paths, and by some bytes for each block (kBlockEvents events) and each
// tile. Throws Error when the file cannot be written, and when the events do not balance.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/child_table.hpp"
#include "core/definitions.hpp"
#include "core/event.hpp"
#include "core/waiting/cause_names.hpp"
#include "view/index/index_file.hpp"
#include "view/index/path_sums.hpp"
#include "view/index/run_paths.hpp"
#include "view/index/track.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

class TrackWriter {
 public:
  // `causes`: of the definitions.
  TrackWriter(const Location& location, const Definitions& definitions, const RegionCauses& causes,
              RunPaths& paths, IndexFile& file);

  void consume(std::span<const Event> events);
  // Writes the remaining events, the sums of groups, tiles and tables.
  TrackRecord finish();

 private:
  struct NodeState {
    Node node;
    std::uint32_t ordinal = 0;   // among the children of its parent
    std::uint32_t children = 0;  // that it has
  };

  void take(const Event& event);
  void add_held();
  void begin_gap(std::uint64_t end);
  void add(const Event& event);
  void enter(std::uint32_t region, std::uint64_t time);
  void leave(std::uint32_t region, std::uint64_t time);
  void other(const Event& event);
  void append_other(std::uint64_t time, const Event& event);
  bool keeps(const Event& event);
  bool has_changed(const Event& event);
  std::uint64_t time_of(const Event& event) const;
  std::uint32_t child_of(std::uint32_t node, std::uint32_t region);
  void append_enter(std::string& to, const Frame& frame) const;
  void begin_block(std::uint64_t time);
  void end_block();
  void pass(std::uint64_t until);
  void head(std::uint64_t time, unsigned kind);
  void flush();
  void write_groups(Track& track);
  TrackRecord write_tables(const Track& track);
  [[noreturn]] void fail(const char* what) const;

  const Definitions& definitions_;
  const RegionCauses& causes_;
  RunPaths& paths_;
  IndexFile& file_;
  std::string name_;
  TrackRecord record_;

  std::vector<Frame> open_;
  std::vector<NodeState> nodes_;
  std::uint32_t roots_ = 0;
  ChildTable children_;  // from (node + 1, region) to a node; (0, region): a root
  PathSums sums_;

  std::vector<std::optional<std::uint64_t>> sampled_;  // by metric: the last value

  bool waiting_is_known_, causes_are_known_;
  CauseTicks waited_{};      // for the next enter or leave
  Waited gap_;               // the time up to it, while it is being added
  std::vector<Event> held_;  // events that waiting time may still be assigned to

  bool off_ = false;
  std::uint64_t last_ = 0;  // time of the last event
  std::uint32_t low_ = 0;   // the fewest open calls in this block
  // By power of two: the fewest open calls since the last block whose number is a multiple of it.
  std::array<std::uint32_t, 32> lows_{};
  std::vector<BlockRecord> blocks_;  // the last one is being filled
  std::string tokens_;               // of it
  std::string frames_;
  std::string pending_;            // whole blocks that are not in the file yet
  std::size_t first_pending_ = 0;  // the first of them
};

}  // namespace timeloom::view
