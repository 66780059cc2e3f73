#include "tools/view/view_text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "core/waiting/cause_names.hpp"
#include "core/waiting_metric.hpp"
#include "exchange/tracks.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/short_name.hpp"
#include "view/answers/group_tiles.hpp"
#include "view/answers/range_table.hpp"
#include "view/index/tile.hpp"
#include "view/index/waited.hpp"

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

// By WaitingCause: a colour upon it, near the one of the page, and a letter where there are no
// colours.
struct CauseMark {
  int colour;
  const char* letter;
};
constexpr std::array<CauseMark, kWaitingCauses> kCauseMarks = {{{250, "-"},
                                                                {217, "p"},
                                                                {209, "g"},
                                                                {222, "l"},
                                                                {72, "t"},
                                                                {142, "m"},
                                                                {110, "i"},
                                                                {148, "s"}}};
constexpr std::size_t kWorks = kWaitingCauses;  // stands for no waiting

std::string waiting(const std::string& text, std::size_t cause, const Terminal& terminal) {
  if (!terminal.colour) return text;
  return "\033[48;5;" + std::to_string(kWaitingColour) + ";38;5;" +
         std::to_string(kCauseMarks[cause].colour) + "m" + text + "\033[0m";
}

// A column that waited.
std::string waiting_cell(std::size_t cause, const Terminal& terminal) {
  if (!terminal.colour && cause != 0) return kCauseMarks[cause].letter;
  return terminal.unicode ? "\u2500" : "-";
}

// From 0 to 255.
std::string shade(std::uint32_t cover, const Terminal& terminal) {
  constexpr std::array<const char*, 5> kBlocks = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
  constexpr std::array<const char*, 5> kPlain = {" ", ".", ":", "+", "#"};
  const std::size_t step = cover == 0 ? 0 : 1 + std::min<std::size_t>(3, cover / 64);
  return terminal.unicode ? kBlocks[step] : kPlain[step];
}

// Stretches of columns with the same mark of waiting get their colour together; `waits`: the cause
// of each, or kWorks.
std::string with_waiting(const std::vector<std::string>& cells,
                         const std::vector<std::size_t>& waits, const Terminal& terminal) {
  std::string line;
  for (std::size_t i = 0, begin = 0; i < cells.size(); begin = i) {
    std::string text;
    while (i < cells.size() && waits[i] == waits[begin]) text += cells[i++];
    line += waits[begin] != kWorks ? waiting(text, waits[begin], terminal) : text;
  }
  return line;
}

// The cause of most waiting in columns from `from` to `to` (exclusive).
std::size_t cause_between(const std::vector<std::uint8_t>& waited,
                          const std::vector<std::uint8_t>& causes, std::size_t from,
                          std::size_t to) {
  view::CauseTicks sums{};
  for (std::size_t at = from; at < to; ++at) sums[causes[at]] += waited[at];
  return view::main_cause(sums);
}

// The work of a track over the whole run, in `width` columns; where it waited for most of its time
// in calls, a thin line in the colour of the cause, or its letter.
std::string strip(const view::Track& track, const view::FirstRows& rows, std::uint64_t length,
                  std::size_t width, const Terminal& terminal) {
  view::TileKey place;
  while (place.level < view::kLastLevel && length >> (2 * (place.level + 1)) >= width)
    ++place.level;
  const std::uint64_t columns = length / place.width() + 1;
  std::vector<std::uint8_t> cover, waited, causes;
  for (; place.index * view::kColumns < columns; ++place.index) {
    const view::Picture picture = rows.of(track, place);
    const auto first = picture.cover.begin();
    cover.insert(cover.end(), first, first + (picture.rows > 0 ? view::kColumns : 0));
    cover.resize(waited.size() + view::kColumns);
    waited.insert(waited.end(), picture.waiting.begin(), picture.waiting.end());
    causes.insert(causes.end(), picture.cause.begin(), picture.cause.end());
    causes.resize(waited.size());
  }
  std::vector<std::string> cells;
  std::vector<std::size_t> waits;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t from = i * columns / width;
    const std::size_t to = std::max(from + 1, (i + 1) * columns / width);
    std::uint32_t sum = 0, waiting_sum = 0;
    for (std::size_t at = from; at < to; ++at) sum += cover[at];
    for (std::size_t at = from; at < to; ++at) waiting_sum += waited[at];
    const std::uint32_t working = sum - std::min(sum, waiting_sum);
    waits.push_back(waiting_sum > working ? cause_between(waited, causes, from, to) : kWorks);
    const auto mean = static_cast<std::uint32_t>((working + to - from - 1) / (to - from));
    cells.push_back(waits.back() != kWorks ? waiting_cell(waits.back(), terminal)
                                           : shade(mean, terminal));
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
  const view::FirstRows rows(definitions);
  output.write(std::string(kNameWidth + 1, ' ') + rule(length, width, definitions, terminal) +
               "\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string name =
        shorten_left(printable(track_name(tracks, order[i])), kNameWidth, terminal);
    output.write(pad_right(name, kNameWidth) + " " +
                 strip(*index.track(order[i]), rows, length, width, terminal) + "\n");
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
      const view::CauseTicks own = own_causes(static_cast<std::uint32_t>(path));
      view::add_causes(waiting_[path], own);
      view::add_causes(all_, own);
      const std::uint32_t parent = index.paths()[path].parent;
      if (parent != view::kNone) view::add_causes(waiting_[parent], waiting_[path]);
    }
  }

  // The causes of the waiting, with their marks in the strips; nothing: causes are not known.
  void write_causes(Output& output) const {
    if (!has_causes(definitions_) || sum_of(all_) == 0) return;
    std::vector<std::size_t> order(kWaitingCauses);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return all_[i]; });
    std::string line = "waiting for:";
    for (const std::size_t cause : order) {
      const double share = static_cast<double>(all_[cause]) / static_cast<double>(sum_of(all_));
      if (share < 0.01) break;
      line += " " + waiting(waiting_cell(cause, terminal_), cause, terminal_) + " " +
              kCauseTexts[cause] + " " + percent(share);
    }
    output.write(line + "\n");
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

  // The waiting of a path itself. A suspended task waits for what the functions around tell.
  view::CauseTicks own_causes(std::uint32_t path) const {
    if (!is_suspension_at(path)) return table_.sums[path].causes;
    SuspensionCause cause;
    for (std::uint32_t around = index_.paths()[path].parent; around != view::kNone;
         around = index_.paths()[around].parent) {
      const std::uint32_t region = index_.paths()[around].region;
      if (region >= definitions_.regions.size()) break;
      if (!cause.take(definitions_.regions[region].name)) break;
    }
    view::CauseTicks ticks{};
    ticks[static_cast<std::size_t>(cause.cause())] = table_.sums[path].own;
    return ticks;
  }

  // False where waiting was not measured, too.
  bool is_suspension_at(std::uint32_t path) const {
    const std::uint32_t region = index_.paths()[path].region;
    return std::ranges::any_of(definitions_.metrics, &Metric::is_waiting) &&
           region < definitions_.regions.size() && is_suspension(definitions_.regions[region]);
  }

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
      const view::CauseTicks& waited = waiting_[cell.path];
      const bool waits = sum_of(waited) > table_.sums[cell.path].inclusive / 2;
      line += waits ? waiting(padded, view::main_cause(waited), terminal_)
                    : coloured(padded, region, terminal_);
    }
    output.write(line + "\n");
  }

  const Definitions& definitions_;
  const view::Index& index_;
  const Terminal& terminal_;
  view::RangeTable table_;
  std::vector<std::uint32_t> roots_;
  std::vector<std::vector<std::uint32_t>> children_;
  static std::uint64_t sum_of(const view::CauseTicks& ticks) {
    return std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0});
  }

  std::vector<view::CauseTicks> waiting_;  // of a path and below it
  view::CauseTicks all_{};
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
  FlameGraph graph(definitions, index, terminal);
  graph.write_causes(output);
  output.write("\n");
  graph.write(terminal.width, output);
}

}  // namespace timeloom::tools
