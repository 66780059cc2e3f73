#include "tools/report/report_io.hpp"

#include <algorithm>
#include <optional>

#include "exchange/limited_depth.hpp"
#include "exchange/names.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {

namespace {

constexpr std::string_view kOperations[] = {"read", "write", "flush"};
constexpr std::string_view kInterfaces[] = {"POSIX I/O", "ISO C I/O", "MPI I/O", "other I/O"};

std::string_view io_word(IoOperation operation) {
  return kOperations[static_cast<std::size_t>(operation)];
}

// Rows of a map, those with the most time first.
template <typename Key>
std::vector<std::pair<Key, IoFigures>> by_time(const std::map<Key, IoFigures>& all) {
  std::vector<std::pair<Key, IoFigures>> rows(all.begin(), all.end());
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const auto& row) { return row.second.ticks; });
  return rows;
}

std::uint64_t smallest_of(const IoFigures& figures) {
  return figures.operations == 0 ? 0 : std::min(figures.smallest, figures.largest);
}

// Bytes a second; nothing: no time has passed between start and end, as for requests.
std::optional<double> bandwidth(const IoFigures& figures, double seconds) {
  if (seconds <= 0) return std::nullopt;
  return static_cast<double>(figures.bytes) / seconds;
}

}  // namespace

void IoFigures::add(std::uint64_t size, std::uint64_t time) noexcept {
  ++operations;
  bytes += size;
  ticks += time;
  smallest = std::min(smallest, size);
  largest = std::max(largest, size);
}

void IoFigures::add(const IoFigures& other) noexcept {
  operations += other.operations;
  bytes += other.bytes;
  ticks += other.ticks;
  smallest = std::min(smallest, other.smallest);
  largest = std::max(largest, other.largest);
}

namespace {

// Stands in a path for the calls between its first 1,024 and the last two, so that the output does
// not grow with the square of the depth.
constexpr std::uint32_t kDeeper = UINT32_MAX;
constexpr std::uint32_t kMostNames = exchange::kMostFrames + 2;

std::string io_region_name(const Definitions& definitions, std::uint32_t region) {
  return region == kDeeper ? "(deeper calls)"
                           : exchange::region_name(definitions, RegionId{region});
}

constexpr char kPipes[] = "pipes", kSockets[] = "sockets";
constexpr char kCompiled[] = "compiled modules (.pyc)";

// What Python reads to import, also under the name that it has while it is written: x.pyc.123.
bool is_compiled_module(std::string_view name) {
  constexpr std::string_view kEnding = ".pyc";
  const std::size_t found = name.rfind(kEnding);
  if (found == std::string_view::npos) return false;
  const std::string_view rest = name.substr(found + kEnding.size());
  return rest.empty() || (rest.starts_with('.') && rest.size() > 1 &&
                          rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// All pipes are one row, and all sockets: nobody knows one of them by its number. Compiled modules
// are one, too, or they would hide the files of the program.
std::string io_name(const IoHandle& handle) {
  const std::string& name = handle.file.empty() ? handle.name : handle.file;
  if (name.starts_with("pipe:[")) return kPipes;
  if (is_compiled_module(name)) return kCompiled;
  if (name.empty()) return "(not open)";
  return name.starts_with("socket:[") ? kSockets : name;
}

}  // namespace

// Follows the call path as a place in a tree of those that there are.
class IoReport::OneLocation final : public LocationSink {
 public:
  explicit OneLocation(IoReport& all) : all_(all), places_(1) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      switch (event.kind) {
        case EventKind::kEnter: at_ = child_of(at_, event.ref); break;
        case EventKind::kLeave: at_ = places_[at_].parent; break;
        case EventKind::kIoRead:
        case EventKind::kIoWrite:
        case EventKind::kIoFlush: begun_[event.ref] = ticks(event.time); break;
        case EventKind::kIoReadDone: end(event, IoOperation::kRead); break;
        case EventKind::kIoWriteDone: end(event, IoOperation::kWrite); break;
        case EventKind::kIoFlushDone: end(event, IoOperation::kFlush); break;
        default: break;
      }
    }
  }

  void finish() override {
    const std::scoped_lock lock(all_.mutex_);
    for (const auto& [target, figures] : targets_) all_.targets_[target].add(figures);
    for (std::uint32_t place = 0; place < places_.size(); ++place) {
      for (std::size_t i = 0; i < places_[place].figures.size(); ++i) {
        const IoFigures& figures = places_[place].figures[i];
        if (figures.operations == 0) continue;
        all_.call_paths_[{path_of(place), static_cast<IoOperation>(i)}].add(figures);
      }
    }
  }

 private:
  struct Place {
    std::uint32_t parent = 0;
    std::uint32_t region = 0;
    std::uint32_t depth = 0;  // of the first: 0
    std::uint32_t top = 0;    // itself, or the place at the limit of depth that it lies below
    std::map<std::uint32_t, std::uint32_t> children{};  // by region
    std::array<IoFigures, 3> figures{};                 // by operation
  };

  std::uint32_t child_of(std::uint32_t place, std::uint32_t region) {
    const auto next = static_cast<std::uint32_t>(places_.size());
    const auto [child, fresh] = places_[place].children.try_emplace(region, next);
    const std::uint32_t result = child->second;
    if (fresh) {
      const std::uint32_t depth = places_[place].depth + 1;
      const bool deep = depth > exchange::kMostFrames;
      places_.push_back({place, region, depth, deep ? places_[place].top : next});
    }
    return result;
  }

  std::vector<std::uint32_t> path_of(std::uint32_t place) const {
    std::vector<std::uint32_t> path;
    if (places_[place].depth > kMostNames) {
      path = {places_[place].region, places_[places_[place].parent].region, kDeeper};
      place = places_[place].top;
    }
    for (; place != 0; place = places_[place].parent) path.push_back(places_[place].region);
    std::ranges::reverse(path);
    return path;
  }

  void end(const Event& event, IoOperation operation) {
    const auto begun = begun_.find(event.ref);
    if (begun == begun_.end() || event.ref >= all_.definitions_->io_handles.size()) return;
    const std::uint64_t time = ticks(event.time) - std::min(ticks(event.time), begun->second);
    const std::uint64_t size = event.value == kNoBytes ? 0 : event.value;
    begun_.erase(begun);
    const IoHandle& handle = all_.definitions_->io_handles[event.ref];
    targets_[{io_name(handle), handle.paradigm, operation}].add(size, time);
    places_[at_].figures[static_cast<std::size_t>(operation)].add(size, time);
  }

  IoReport& all_;
  std::vector<Place> places_;  // the first: above all
  std::uint32_t at_ = 0;
  std::map<std::uint32_t, std::uint64_t> begun_;  // ticks, by handle
  std::map<IoTarget, IoFigures> targets_;
};

std::unique_ptr<LocationSink> IoReport::open_location(const Location& location) {
  class Nothing final : public LocationSink {
    void consume(std::span<const Event>) override {}
    void finish() override {}
  };
  if (!locations_.contains(location.id)) return std::make_unique<Nothing>();
  return std::make_unique<OneLocation>(*this);
}

// The function that calls, and the one of the library.
std::string IoReport::name_of_path(const IoCallPath& path) const {
  std::string text;
  const std::size_t shown = std::min<std::size_t>(path.regions.size(), 2);
  for (std::size_t i = path.regions.size() - shown; i < path.regions.size(); ++i) {
    text += (text.empty() ? "" : " > ") + io_region_name(*definitions_, path.regions[i]);
  }
  return text.empty() ? "(no region)" : text;
}

void IoReport::add_profile(const profile::CallTree& tree) {
  definitions_ = &tree.definitions;
  of_profile_ = true;
  std::vector<profile::NodeId> top;  // by node, as of a place
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const bool deep = tree.nodes[i].depth >= exchange::kMostFrames;
    top.push_back(deep ? top[tree.nodes[i].parent.value()] : profile::NodeId{i});
  }
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (!locations_.contains(tree.definitions.locations[i].id)) continue;
    std::map<profile::NodeId, const profile::Statistics*> visits;
    for (const profile::Cell& cell : tree.locations[i].cells) visits[cell.node] = &cell.statistics;
    for (const profile::MetricCell& cell : tree.locations[i].metrics) {
      const std::string& metric = tree.definitions.metrics[cell.metric.value()].name;
      const bool write = metric == kIoBytesWritten;
      if ((!write && metric != kIoBytesRead) || !visits.contains(cell.node)) continue;
      IoCallPath path{{}, write ? IoOperation::kWrite : IoOperation::kRead};
      profile::NodeId first = cell.node;
      if (tree.nodes[first.value()].depth >= kMostNames) {
        const profile::Node& inner = tree.nodes[first.value()];
        path.regions = {inner.region.value(), tree.nodes[inner.parent.value()].region.value(),
                        kDeeper};
        first = top[first.value()];
      }
      for (profile::NodeId node = first; node.defined(); node = tree.nodes[node.value()].parent) {
        const RegionId region = tree.nodes[node.value()].region;
        if (region.defined()) path.regions.push_back(region.value());
      }
      std::ranges::reverse(path.regions);
      const profile::Statistics& calls = *visits[cell.node];
      IoFigures figures;
      figures.operations = calls.visits;
      figures.bytes = static_cast<std::uint64_t>(cell.statistics.sum);
      figures.ticks = calls.inclusive;
      call_paths_[std::move(path)].add(figures);
    }
  }
}

namespace {

// Whether a figure tells of many small transfers; then the sentence about it.
std::optional<std::string> note(IoOperation operation, const IoFigures& figures,
                                const std::string& where) {
  constexpr std::uint64_t kMany = 100, kSmall = 4096;
  const bool small = figures.operations >= kMany && figures.bytes / figures.operations < kSmall;
  if (!small || operation == IoOperation::kFlush || figures.bytes == 0) return std::nullopt;
  return formatted("many small {}s: {} of {} on average {}; {}", io_word(operation),
                   count(figures.operations), bytes(figures.bytes / figures.operations), where,
                   operation == IoOperation::kWrite
                       ? "fewer and larger ones, through a buffer, take less time"
                       : "reading larger pieces takes less time");
}

}  // namespace

std::vector<std::string> IoReport::notes() const {
  std::vector<std::string> all;
  const auto add = [&all](std::optional<std::string> one) {
    if (one) all.push_back(std::move(*one));
  };
  for (const auto& [target, figures] : by_time(targets_)) {
    const bool many = target.name == kPipes || target.name == kSockets || target.name == kCompiled;
    if (many) continue;  // each has its own
    const bool write = target.operation == IoOperation::kWrite;
    add(note(target.operation, figures, (write ? "to " : "from ") + target.name));
  }
  if (!of_profile_) return all;
  for (const auto& [path, figures] : by_time(call_paths_)) {
    add(note(path.operation, figures, "by " + name_of_path(path)));
  }
  return all;
}

namespace {

// `sizes`: the sizes of single transfers are known.
std::vector<std::string> io_cells(const IoFigures& figures, double time, bool sizes,
                                  const Terminal& terminal) {
  const bool sized = figures.bytes > 0;
  std::vector<std::string> cells = {count(figures.operations), bytes(figures.bytes)};
  if (sizes) {
    cells.push_back(sized ? bytes(smallest_of(figures)) : "");
    cells.push_back(sized ? bytes(figures.largest) : "");
  }
  cells.push_back(duration(time, terminal));
  const std::optional<double> rate = bandwidth(figures, time);
  cells.push_back(sized && rate ? bytes(static_cast<std::uint64_t>(*rate)) + "/s" : "");
  return cells;
}

Table table(const Terminal& terminal, const char* name, bool sizes) {
  Table result(terminal, 2, name);
  for (const char* heading : {"calls", "bytes", "smallest", "largest", "time", "bandwidth"}) {
    const std::string_view word = heading;
    if (sizes || (word != "smallest" && word != "largest")) result.add_column(heading);
  }
  return result;
}

constexpr char kFilesUnknown[] =
    "The run has a profile and no trace, so files and the sizes of single transfers are not known; "
    "timeloom run --io posix without --profile records them.";

}  // namespace

void IoReport::write_files(const Terminal& terminal, Output& output) const {
  Table files = table(terminal, "file", true);
  for (const auto& [target, figures] : by_time(targets_)) {
    TableRow row;
    row.cells = io_cells(figures, seconds(figures.ticks, *definitions_), true, terminal);
    row.glyphs = (target.interface == IoParadigm::kMpi ? "MPI " : "") +
                 std::string(io_word(target.operation)) + " ";
    row.name = printable(target.name);
    files.add_row(std::move(row));
  }
  files.write(output);
  output.write("\n");
}

void IoReport::write(const Terminal& terminal, Output& output) const {
  if (call_paths_.empty()) {
    output.write("No input or output was recorded; timeloom run --io posix records it.\n");
    return;
  }
  if (!of_profile_) write_files(terminal, output);
  Table paths = table(terminal, "call path", !of_profile_);
  for (const auto& [path, figures] : by_time(call_paths_)) {
    TableRow row;
    row.cells = io_cells(figures, seconds(figures.ticks, *definitions_), !of_profile_, terminal);
    if (of_profile_) row.glyphs = std::string(io_word(path.operation)) + " ";
    row.name = printable(name_of_path(path));
    paths.add_row(std::move(row));
  }
  paths.write(output);
  std::vector<std::string> sentences = notes();
  if (of_profile_) sentences.emplace_back(kFilesUnknown);
  if (!sentences.empty()) output.write("\n");
  for (const std::string& sentence : sentences) output.write(printable(sentence) + "\n");
}

void IoReport::write_json(Output& output) const {
  using nlohmann::ordered_json;
  const auto add_figures = [this](ordered_json& row, const IoFigures& figures) {
    const double time = seconds(figures.ticks, *definitions_);
    row["operations"] = figures.operations;
    row["bytes"] = figures.bytes;
    row["seconds"] = time;
    const std::optional<double> rate = bandwidth(figures, time);
    row["bytes_per_second"] = rate ? ordered_json(*rate) : ordered_json();
    row["smallest"] = of_profile_ ? ordered_json() : ordered_json(smallest_of(figures));
    row["largest"] = of_profile_ ? ordered_json() : ordered_json(figures.largest);
  };
  ordered_json all = {{"format", "timeloom-report-io"}, {"version", 1}};
  if (of_profile_) all["files_unknown"] = kFilesUnknown;
  all["files"] = ordered_json::array();
  for (const auto& [target, figures] : by_time(targets_)) {
    ordered_json row = {{"file", target.name},
                        {"interface", kInterfaces[static_cast<std::size_t>(target.interface)]},
                        {"operation", io_word(target.operation)}};
    add_figures(row, figures);
    all["files"].push_back(std::move(row));
  }
  all["call_paths"] = ordered_json::array();
  for (const auto& [path, figures] : by_time(call_paths_)) {
    ordered_json names = ordered_json::array();
    for (const std::uint32_t region : path.regions) {
      names.push_back(io_region_name(*definitions_, region));
    }
    ordered_json row = {{"path", std::move(names)}, {"operation", io_word(path.operation)}};
    add_figures(row, figures);
    all["call_paths"].push_back(std::move(row));
  }
  all["remarks"] = notes();
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
