#include "tools/report_io.hpp"

#include <algorithm>
#include <optional>

#include "convert/names.hpp"
#include "tools/answer_text.hpp"
#include "tools/format.hpp"
#include "tools/json_text.hpp"
#include "tools/table.hpp"
#include "tools/text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::string_view kOperations[] = {"read", "write", "flush"};
constexpr std::string_view kInterfaces[] = {"POSIX I/O", "ISO C I/O", "MPI I/O", "other I/O"};

std::string_view word_of(IoOperation operation) {
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

// Bytes a second; 0: no time has passed.
double bandwidth(const IoFigures& figures, double seconds) {
  return seconds > 0 ? static_cast<double>(figures.bytes) / seconds : 0;
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
    std::map<std::uint32_t, std::uint32_t> children{};  // by region
    std::array<IoFigures, 3> figures{};                 // by operation
  };

  std::uint32_t child_of(std::uint32_t place, std::uint32_t region) {
    const auto next = static_cast<std::uint32_t>(places_.size());
    const auto [child, fresh] = places_[place].children.try_emplace(region, next);
    const std::uint32_t result = child->second;
    if (fresh) places_.push_back({place, region});
    return result;
  }

  std::vector<std::uint32_t> path_of(std::uint32_t place) const {
    std::vector<std::uint32_t> path;
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
    const std::string& name = handle.file.empty() ? handle.name : handle.file;
    targets_[{name, handle.paradigm, operation}].add(size, time);
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
    text += (text.empty() ? "" : " > ") +
            convert::region_name(*definitions_, RegionId{path.regions[i]});
  }
  return text.empty() ? "(no region)" : text;
}

std::vector<std::string> IoReport::remarks() const {
  constexpr std::uint64_t kMany = 100, kSmall = 4096;
  std::vector<std::string> all;
  for (const auto& [target, figures] : by_time(targets_)) {
    const bool small = figures.operations >= kMany && figures.bytes / figures.operations < kSmall;
    if (!small || target.operation == IoOperation::kFlush || figures.bytes == 0) continue;
    const bool write = target.operation == IoOperation::kWrite;
    all.push_back(formatted("many small {}s: {} of {} on average {} {}; {}",
                            word_of(target.operation), count(figures.operations),
                            bytes(figures.bytes / figures.operations), write ? "to" : "from",
                            target.name,
                            write ? "fewer and larger ones, through a buffer, take less time"
                                  : "reading larger pieces takes less time"));
  }
  return all;
}

namespace {

std::vector<std::string> cells_of(const IoFigures& figures, double time, const Terminal& terminal) {
  const bool sized = figures.bytes > 0;
  return {count(figures.operations),
          bytes(figures.bytes),
          sized ? bytes(smallest_of(figures)) : "",
          sized ? bytes(figures.largest) : "",
          duration(time, terminal),
          sized ? bytes(static_cast<std::uint64_t>(bandwidth(figures, time))) + "/s" : ""};
}

Table table(const Terminal& terminal, const char* name) {
  Table result(terminal, 2, name);
  for (const char* heading : {"calls", "bytes", "smallest", "largest", "time", "bandwidth"}) {
    result.add_column(heading);
  }
  return result;
}

}  // namespace

void IoReport::write(const Terminal& terminal, Output& output) const {
  if (targets_.empty()) {
    output.write("No input or output was recorded; timeloom run --io posix records it.\n");
    return;
  }
  Table files = table(terminal, "file");
  for (const auto& [target, figures] : by_time(targets_)) {
    TableRow row;
    row.cells = cells_of(figures, seconds(figures.ticks, *definitions_), terminal);
    row.marks = std::string(word_of(target.operation)) + " ";
    row.name = printable(target.name);
    files.add_row(std::move(row));
  }
  files.write(output);
  output.write("\n");
  Table paths = table(terminal, "call path");
  for (const auto& [path, figures] : by_time(call_paths_)) {
    TableRow row;
    row.cells = cells_of(figures, seconds(figures.ticks, *definitions_), terminal);
    row.name = printable(name_of_path(path));
    paths.add_row(std::move(row));
  }
  paths.write(output);
  const std::vector<std::string> sentences = remarks();
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
    row["bytes_per_second"] = bandwidth(figures, time);
    row["smallest"] = smallest_of(figures);
    row["largest"] = figures.largest;
  };
  ordered_json all = {{"format", "timeloom-report-io"}, {"version", 1}};
  all["files"] = ordered_json::array();
  for (const auto& [target, figures] : by_time(targets_)) {
    ordered_json row = {{"file", target.name},
                        {"interface", kInterfaces[static_cast<std::size_t>(target.interface)]},
                        {"operation", word_of(target.operation)}};
    add_figures(row, figures);
    all["files"].push_back(std::move(row));
  }
  all["call_paths"] = ordered_json::array();
  for (const auto& [path, figures] : by_time(call_paths_)) {
    ordered_json names = ordered_json::array();
    for (const std::uint32_t region : path.regions) {
      names.push_back(convert::region_name(*definitions_, RegionId{region}));
    }
    ordered_json row = {{"path", std::move(names)}, {"operation", word_of(path.operation)}};
    add_figures(row, figures);
    all["call_paths"].push_back(std::move(row));
  }
  all["remarks"] = remarks();
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
