#include "tools/view/view_text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "exchange/tracks.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/short_name.hpp"
#include "view/answers/range_table.hpp"
#include "view/index/tile.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kMostTracks = 30;
constexpr std::size_t kMostRows = 24;  // of the flame graph
constexpr std::size_t kNameWidth = 20;

// A cell in the colour of a region; colours that can be told apart on dark and light.
std::string coloured(const std::string& text, std::uint32_t region, const Terminal& terminal) {
  if (!terminal.colour) return text;
  constexpr std::array kColours = {24, 28, 58, 94, 130, 88, 90, 54, 60, 66, 100, 95};
  return "\033[48;5;" + std::to_string(kColours[region % kColours.size()]) + ";38;5;231m" + text +
         "\033[0m";
}

// The colour of waiting, darker than the ones of regions.
constexpr int kWaitingColour = 237;

std::string waiting(const std::string& text, const Terminal& terminal) {
  if (!terminal.colour) return text;
  return "\033[48;5;" + std::to_string(kWaitingColour) + ";38;5;250m" + text + "\033[0m";
}

// From 0 to 255.
std::string shade(std::uint32_t cover, const Terminal& terminal) {
  constexpr std::array<const char*, 5> kBlocks = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
  constexpr std::array<const char*, 5> kPlain = {" ", ".", ":", "+", "#"};
  const std::size_t step = cover == 0 ? 0 : 1 + std::min<std::size_t>(3, cover / 64);
  return terminal.unicode ? kBlocks[step] : kPlain[step];
}

// Stretches of columns with the same mark of waiting get their colour together.
std::string with_waiting(const std::vector<std::string>& cells, const std::vector<bool>& waits,
                         const Terminal& terminal) {
  std::string line;
  for (std::size_t i = 0, begin = 0; i < cells.size(); begin = i) {
    std::string text;
    while (i < cells.size() && waits[i] == waits[begin]) text += cells[i++];
    line += waits[begin] ? waiting(text, terminal) : text;
  }
  return line;
}

// The work of a track over the whole run, in `width` columns; a thin line where it waited for most
// of its time in calls.
std::string strip(const view::Track& track, std::uint64_t length, std::size_t width,
                  const Terminal& terminal) {
  view::TileKey place;
  while (place.level < view::kLastLevel && length >> (2 * (place.level + 1)) >= width)
    ++place.level;
  const std::uint64_t columns = length / place.width() + 1;
  std::vector<std::uint8_t> cover, waited;
  for (; place.index * view::kColumns < columns; ++place.index) {
    const view::Picture picture = view::picture_at(track, place, 0, 1);
    cover.insert(cover.end(), picture.cover.begin(), picture.cover.end());
    waited.insert(waited.end(), picture.waiting.begin(), picture.waiting.end());
  }
  std::vector<std::string> cells;
  std::vector<bool> waits;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t from = i * columns / width;
    const std::size_t to = std::max(from + 1, (i + 1) * columns / width);
    std::uint32_t sum = 0, waiting_sum = 0;
    for (std::size_t at = from; at < to; ++at) sum += cover[at];
    for (std::size_t at = from; at < to; ++at) waiting_sum += waited[at];
    const std::uint32_t working = sum - std::min(sum, waiting_sum);
    waits.push_back(waiting_sum > working);
    const auto mean = static_cast<std::uint32_t>((working + to - from - 1) / (to - from));
    cells.push_back(waits.back() ? (terminal.unicode ? "\u2500" : "-") : shade(mean, terminal));
  }
  return with_waiting(cells, waits, terminal);
}

std::string rule(std::uint64_t length, std::size_t width, const Definitions& definitions,
                 const Terminal& terminal) {
  const std::string end = duration(seconds(length, definitions), terminal);
  const std::string begin = "0";
  const std::size_t used = columns(begin) + columns(end);
  return begin + std::string(width > used ? width - used : 1, ' ') + end;
}

// The name of a track; tracks of several processes with the same name have the name of their
// process.
std::string track_name(const exchange::Tracks& tracks, std::uint32_t id) {
  const exchange::Track& track = tracks.tracks[id];
  const auto same = [&](const exchange::Track& other) {
    return other.name == track.name && other.process != track.process;
  };
  const bool several = std::ranges::any_of(tracks.tracks, same);
  const bool known = track.process < tracks.processes.size();
  return several && known ? tracks.processes[track.process].name : track.name;
}

void write_strips(const Definitions& definitions, const view::Index& index,
                  const Terminal& terminal, std::uint64_t length, Output& output) {
  const exchange::Tracks tracks(definitions);
  std::vector<std::uint32_t> order(index.tracks().size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return index.tracks()[a].events > index.tracks()[b].events;
  });
  const std::size_t shown = std::min(order.size(), kMostTracks);
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown));
  const std::size_t width = std::max<std::size_t>(20, terminal.width - kNameWidth - 2);
  output.write(std::string(kNameWidth + 1, ' ') + rule(length, width, definitions, terminal) +
               "\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string name =
        shorten_left(printable(track_name(tracks, order[i])), kNameWidth, terminal);
    output.write(pad_right(name, kNameWidth) + " " +
                 strip(*index.track(order[i]), length, width, terminal) + "\n");
  }
  if (shown < order.size()) {
    output.write(plural(order.size() - shown, "further track") + " with fewer events\n");
  }
}

// The call paths of the run, callees below their callers, as wide as the time they took.
class FlameGraph {
 public:
  FlameGraph(const Definitions& definitions, const view::Index& index, const Terminal& terminal)
      : definitions_(definitions), index_(index), terminal_(terminal) {
    std::vector<std::uint32_t> tracks(index.tracks().size());
    std::iota(tracks.begin(), tracks.end(), 0u);
    table_ = view::range_table(index, tracks, 0, view::kLastTime);
    for (std::uint32_t path = 0; path < index.paths().size(); ++path) {
      if (table_.sums[path].visits == 0) continue;
      const std::uint32_t parent = index.paths()[path].parent;
      if (parent == view::kNone) roots_.push_back(path);
      if (parent == view::kNone) total_ += table_.sums[path].inclusive;
      if (parent != view::kNone)
        children_.resize(std::max<std::size_t>(children_.size(), parent + 1));
      if (parent != view::kNone) children_[parent].push_back(path);
    }
    children_.resize(index.paths().size());
    // A parent precedes its children.
    waiting_.resize(index.paths().size());
    for (std::size_t path = waiting_.size(); path-- > 0;) {
      waiting_[path] += table_.sums[path].waiting;
      const std::uint32_t parent = index.paths()[path].parent;
      if (parent != view::kNone) waiting_[parent] += waiting_[path];
    }
  }

  void write(std::size_t width, Output& output) {
    if (total_ == 0) return;
    std::vector<Cell> row = cells_of(roots_, 0, width, total_);
    for (std::size_t i = 0; i < kMostRows && !row.empty(); ++i) {
      write_row(row, output);
      std::vector<Cell> below;
      for (const Cell& cell : row) {
        const std::uint64_t inclusive = table_.sums[cell.path].inclusive;
        const auto inner = cells_of(children_[cell.path], cell.begin, cell.width, inclusive);
        below.insert(below.end(), inner.begin(), inner.end());
      }
      row = std::move(below);
    }
  }

 private:
  struct Cell {
    std::uint32_t path = 0;
    std::size_t begin = 0;
    std::size_t width = 0;
  };

  // The longest first. Those without a column of their own are left out.
  std::vector<Cell> cells_of(std::vector<std::uint32_t> paths, std::size_t begin, std::size_t width,
                             std::uint64_t total) const {
    std::ranges::stable_sort(paths, [&](std::uint32_t a, std::uint32_t b) {
      return table_.sums[a].inclusive > table_.sums[b].inclusive;
    });
    std::vector<Cell> cells;
    for (const std::uint32_t path : paths) {
      const double share = static_cast<double>(table_.sums[path].inclusive) /
                           static_cast<double>(std::max<std::uint64_t>(total, 1));
      const auto columns = static_cast<std::size_t>(share * static_cast<double>(width) + 0.5);
      const std::size_t used = cells.empty() ? 0 : cells.back().begin + cells.back().width - begin;
      const std::size_t room = std::min(columns, width - used);
      if (room == 0) break;
      cells.push_back({path, begin + used, room});
    }
    return cells;
  }

  void write_row(const std::vector<Cell>& row, Output& output) const {
    std::string line;
    std::size_t at = 0;
    for (const Cell& cell : row) {
      line += std::string(cell.begin - at, ' ');
      at = cell.begin + cell.width;
      const std::uint32_t region = index_.paths()[cell.path].region;
      const bool known = region < definitions_.regions.size();
      const std::string name = known ? printable(definitions_.regions[region].name) : "...";
      // The first column sets it apart from the one before.
      const std::string text = short_name(name, cell.width - 1, terminal_);
      const std::string shown = columns(text) < cell.width ? text : std::string();
      line += terminal_.unicode ? "\u2502" : "|";
      const std::string padded = pad_right(shown, cell.width - 1);
      const bool waits = waiting_[cell.path] > table_.sums[cell.path].inclusive / 2;
      line += waits ? waiting(padded, terminal_) : coloured(padded, region, terminal_);
    }
    output.write(line + "\n");
  }

  const Definitions& definitions_;
  const view::Index& index_;
  const Terminal& terminal_;
  view::RangeTable table_;
  std::vector<std::uint32_t> roots_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<std::uint64_t> waiting_;  // of a path and below it
  std::uint64_t total_ = 0;
};

}  // namespace

void write_timeline(const Definitions& definitions, const view::Index& index,
                    const Terminal& terminal, Output& output) {
  std::uint64_t length = std::min(definitions.clock.length, view::kLastTime);
  for (const view::TrackRecord& track : index.tracks()) length = std::max(length, track.end);
  if (index.events() == 0)
    return output.write("No region was entered: there is nothing to show.\n");
  write_strips(definitions, index, terminal, length, output);
  output.write("\n");
  FlameGraph(definitions, index, terminal).write(terminal.width, output);
}

}  // namespace timeloom::tools
