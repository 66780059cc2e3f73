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

// From 0 to 255.
std::string shade(std::uint32_t cover, const Terminal& terminal) {
  constexpr std::array<const char*, 5> kBlocks = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
  constexpr std::array<const char*, 5> kPlain = {" ", ".", ":", "+", "#"};
  const std::size_t step = cover == 0 ? 0 : 1 + std::min<std::size_t>(3, cover / 64);
  return terminal.unicode ? kBlocks[step] : kPlain[step];
}

// The cover of row 0 of a track over the whole run, in `width` columns.
std::string strip(const view::Track& track, std::uint64_t length, std::size_t width,
                  const Terminal& terminal) {
  view::TileKey place;
  while (place.level < view::kLastLevel && length >> (2 * (place.level + 1)) >= width)
    ++place.level;
  const std::uint64_t columns = length / place.width() + 1;
  std::vector<std::uint8_t> cover;
  for (; place.index * view::kColumns < columns; ++place.index) {
    const view::Picture picture = view::picture_at(track, place, 0, 1);
    cover.insert(cover.end(), picture.cover.begin(), picture.cover.end());
  }
  std::string line;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t from = i * columns / width;
    const std::size_t to = std::max(from + 1, (i + 1) * columns / width);
    std::uint32_t sum = 0;
    for (std::size_t at = from; at < to; ++at) sum += cover[at];
    line += shade(static_cast<std::uint32_t>((sum + to - from - 1) / (to - from)), terminal);
  }
  return line;
}

std::string rule(std::uint64_t length, std::size_t width, const Definitions& definitions,
                 const Terminal& terminal) {
  const std::string end = duration(seconds(length, definitions), terminal);
  const std::string begin = "0";
  const std::size_t used = columns(begin) + columns(end);
  return begin + std::string(width > used ? width - used : 1, ' ') + end;
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
        shorten_left(printable(tracks.tracks[order[i]].name), kNameWidth, terminal);
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
      line += coloured(pad_right(shown, cell.width - 1), region, terminal_);
    }
    output.write(line + "\n");
  }

  const Definitions& definitions_;
  const view::Index& index_;
  const Terminal& terminal_;
  view::RangeTable table_;
  std::vector<std::uint32_t> roots_;
  std::vector<std::vector<std::uint32_t>> children_;
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
