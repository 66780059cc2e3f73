#include "weave/trace/pack_trace.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/packed/packed.hpp"
#include "os/file.hpp"
#include "run/contents.hpp"
#include "run/manifest.hpp"
#include "run/open_directory.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"
#include "weave/trace/working_directory.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

using run::Item;

// Sums up all events of each location, so that two readings can be compared.
class EventSums : public RunSink {
 public:
  struct Sum {
    std::uint64_t events = 0;
    std::uint64_t hash = 0;
    bool operator==(const Sum&) const = default;
  };

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<OfLocation>(*this, location.id);
  }
  void finish() override {}
  const std::map<LocationId, Sum>& sums() const noexcept { return sums_; }
  std::uint64_t events() const {
    std::uint64_t all = 0;
    for (const auto& [id, sum] : sums_) all += sum.events;
    return all;
  }

 private:
  class OfLocation : public LocationSink {
   public:
    OfLocation(EventSums& sums, LocationId id) : sums_(sums), id_(id) {}
    void consume(std::span<const Event> events) override {
      sum_.events += events.size();
      for (const Event& event : events) {
        const auto kind = static_cast<std::uint64_t>(event.kind);
        sum_.hash = mix(mix(sum_.hash, ticks(event.time)), kind << 32 | event.ref);
        sum_.hash = mix(sum_.hash, event.value);
      }
    }
    void finish() override {
      const std::lock_guard lock(sums_.mutex_);
      sums_.sums_[id_] = sum_;
    }

   private:
    EventSums& sums_;
    LocationId id_;
    Sum sum_;
  };

  std::mutex mutex_;
  std::map<LocationId, Sum> sums_;
};

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return fs::file_size(path, error);
  std::uint64_t size = 0;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    std::error_code gone;
    const auto one = entry.file_size(gone);
    if (!gone) size += one;
  }
  return size;
}

// `why` ends with the id of the message.
[[noreturn]] void refuse(const fs::path& run, const std::string& why) {
  const std::string text = run.string() + " cannot be packed: " + why;
  throw Error(text);
}

void refuse_others(const fs::path& run) {
  if (!has_trace(run)) refuse(run, "it has a profile and no trace [TL486]");
  std::error_code error;
  if (!fs::is_directory(run, error)) refuse(run, "name the directory of a run [TL486]");
  if (is_packed(trace_of(run))) return;
  if (trace_of(run).filename() != run::name_of(Item::kAnchor)) {
    refuse(run, "its trace is not called traces.otf2 [TL487]");
  }
}

void refuse_damaged(const fs::path& run, const Definitions& definitions) {
  for (const auto& [key, value] : definitions.properties) {
    if (key.starts_with("timeloom::otf2_")) {
      refuse(run, "its trace is damaged; timeloom info tells how [TL488]");
    }
  }
}

std::map<LocationId, EventSums::Sum> sums_of(RunSource& trace, unsigned threads) {
  EventSums sums;
  const std::array<RunSink*, 1> sinks = {&sums};
  trace.replay(sinks, threads);
  return sums.sums();
}

// The archive that the packed trace gives back must have all records of the trace, whether or not
// they have a meaning here: readers leave out those that have none.
void refuse_lossy(const fs::path& run, const run::Directory& working, unsigned threads) {
  const fs::path back = working.fixed_path() / "back";
  fs::create_directory(back);
  {
    const std::unique_ptr<RunSource> packed =
        packed::open(working.fixed_path() / run::name_of(Item::kPacked));
    const std::unique_ptr<RunSink> archive = otf2::create(back);
    const std::array<RunSink*, 1> sinks = {archive.get()};
    packed->replay(sinks, threads);
  }
  const std::vector<std::string> kinds =
      otf2::different_records(trace_of(run), back / run::name_of(Item::kAnchor));
  fs::remove_all(back);
  if (kinds.empty()) return;
  const std::size_t more = kinds.size() - 1;
  refuse(run, "another tool made its trace, with records that a packed one cannot have: " +
                  kinds.front() + (more == 0 ? "" : " and " + std::to_string(more) + " more kind") +
                  (more > 1 ? "s" : "") + " [TL487]");
}

std::unique_ptr<RunSource> open_archive(const fs::path& anchor) {
  std::unique_ptr<RunSource> trace = otf2::open(anchor);
  return is_of_another_tool(trace->definitions()) ? otf2::open_to_pack(anchor) : std::move(trace);
}

// Of the run as it will be.
void write_manifest(const run::Directory& run, const run::Directory& working) {
  std::set<Item> items = {Item::kPacked};
  for (const run::Entry& entry : run::kContents) {
    const bool goes = std::ranges::find(kTraceItems, entry.item) != kTraceItems.end();
    if (!goes && run.holds(entry.item)) items.insert(entry.item);
  }
  working.write(Item::kManifest, run::manifest_text(items, run::Stage::kWoven));
}

// A file that replaces another one can be read by the same users, and outlives a failure of the
// machine.
void settle(const run::Directory& working, Item made, const run::Directory& run, Item replaced) {
  os::File file = working.open_file(made);
  const os::File other = run.open_file(replaced);
  int error = other.is_open() ? file.take_rights_of(other) : 0;
  if (error == 0) error = file.sync();
  if (error != 0) throw std::system_error(error, std::generic_category());
}

// The anchor goes first, so that a trace with an anchor is complete.
void remove_trace(const run::Directory& run) {
  for (const Item item : kTraceItems) {
    if (item == Item::kTraceEvents) {
      run.remove_event_files();
    } else {
      run.remove(item);
    }
  }
}

// Replaces the files of the trace by the packed one. `packed`: it is in its place already.
void replace_trace(const run::Directory& run, const run::Directory& working,
                   const Definitions& definitions, bool packed) {
  const bool manifest = run.holds(Item::kManifest) && !is_of_another_tool(definitions) &&
                        run::layout_of(definitions.properties).weaves(Item::kManifest);
  if (manifest) {
    write_manifest(run, working);
    settle(working, Item::kManifest, run, Item::kManifest);
  }
  if (!packed) {
    settle(working, Item::kPacked, run, Item::kAnchor);
    working.move(Item::kPacked, run, Item::kPacked);
  }
  run.sync();
  remove_trace(run);
  if (manifest) working.move(Item::kManifest, run, Item::kManifest);
}

std::uint64_t size_of_trace(const fs::path& path) {
  std::uint64_t size = 0;
  for (const Item item : kTraceItems) size += size_of(path / run::name_of(item));
  return size;
}

// The trace that lies packed beside the archive. Throws if its end is damaged.
std::unique_ptr<RunSource> open_packed_beside(const fs::path& path) try {
  const fs::path file = path / run::name_of(Item::kPacked);
  if (packed::unsound_parts(file) != 0) throw Error("damaged");
  return packed::open(file);
} catch (const Error&) {
  refuse(path, "its packed trace is damaged; remove it to pack the other one again [TL488]");
}

// A packing that was interrupted after the packed trace was complete. Without the anchor the other
// files are not a trace any more. Beside an anchor the packed trace may be of another run, or
// damaged.
PackedSizes finish_packing(const fs::path& path, const run::Directory& run, unsigned threads) {
  const fs::path file = path / run::name_of(Item::kPacked);
  if (size_of_trace(path) == 0) refuse(path, "its trace is packed already [TL486]");
  const std::unique_ptr<RunSource> packed = open_packed_beside(path);
  const auto sums = sums_of(*packed, threads);
  const auto& properties = packed->definitions().properties;
  bool same = !properties.contains(packed::kLostBlocks);
  if (same && run.holds(Item::kAnchor)) {
    const fs::path anchor = path / run::name_of(Item::kAnchor);
    same = packed::run_number(file) == otf2::trace_id(anchor) &&
           sums_of(*open_archive(anchor), threads) == sums;
  }
  if (!same) {
    refuse(
        path,
        "its packed trace and the other one differ, or are damaged; remove the wrong one [TL488]");
  }
  const PackedSizes sizes{0, size_of_trace(path), size_of(file)};
  const WorkingDirectory working(run);
  replace_trace(run, working.get(), packed->definitions(), true);
  return sizes;
}

PackedSizes pack(const fs::path& path, const run::Directory& run, const run::Directory& working,
                 unsigned threads) {
  const fs::path anchor = trace_of(path);
  const std::unique_ptr<RunSource> trace = open_archive(anchor);
  const bool foreign = is_of_another_tool(trace->definitions());
  refuse_damaged(path, trace->definitions());
  const fs::path file = working.fixed_path() / run::name_of(Item::kPacked);
  // The profile beside the trace goes on naming it by its number.
  const std::unique_ptr<RunSink> packed = packed::create(file, otf2::trace_id(anchor));
  EventSums sums;
  const std::array<RunSink*, 2> sinks = {packed.get(), &sums};
  trace->replay(sinks, threads);
  refuse_damaged(path, trace->definitions());
  if (sums_of(*packed::open(file), threads) != sums.sums()) {
    refuse(path, "the packed events differ from the trace [TL489]");
  }
  if (foreign) refuse_lossy(path, working, threads);
  const PackedSizes sizes{sums.events(), size_of_trace(path), size_of(file)};
  replace_trace(run, working, trace->definitions(), false);
  return sizes;
}

PackedSizes pack_into_working(const fs::path& path, const run::Directory& run, unsigned threads) {
  const WorkingDirectory working(run);
  try {
    return pack(path, run, working.get(), threads);
  } catch (const Error& error) {
    throw with_known_path(error, working.get());
  }
}

}  // namespace

bool is_of_another_tool(const Definitions& definitions) {
  return !definitions.creator.starts_with("Timeloom ");
}

bool can_be_packed(const fs::path& run) try {
  refuse_others(run);
  if (is_packed(trace_of(run))) return false;
  refuse_damaged(run, otf2::open(trace_of(run))->definitions());
  return true;
} catch (const Error&) {
  return false;
}

std::uint64_t bytes_of_trace(const fs::path& run) { return size_of_trace(run); }

PackedSizes pack_trace(const fs::path& path, unsigned threads) try {
  refuse_others(path);
  const run::Directory run(path);
  if (!run.try_lock()) refuse(path, "another process works on it [TL490]");
  if (run.holds(Item::kPacked)) return finish_packing(path, run, threads);
  return pack_into_working(path, run, threads);
} catch (const std::system_error& error) {
  throw Error("cannot write to " + path.string() + ": " + error.code().message() + " [TL491]");
}

}  // namespace timeloom::weave
