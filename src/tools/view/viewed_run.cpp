#include "tools/view/viewed_run.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "core/error.hpp"
#include "core/memory/memory_facts.hpp"
#include "core/run_properties.hpp"
#include "exchange/selection.hpp"
#include "formats/cube/cube_profile.hpp"
#include "run/contents.hpp"
#include "tools/report/lines/line_times.hpp"
#include "tools/run/open_run.hpp"
#include "tools/samples/run_estimates.hpp"
#include "tools/samples/run_samples.hpp"
#include "tools/samples/samples_of_run.hpp"
#include "tools/view/view_describe.hpp"
#include "tools/view/viewed_estimates.hpp"
#include "view/index/stored_index.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {
namespace {

// Empty: the run has none.
std::filesystem::path memory_file_of(const std::filesystem::path& anchor) {
  std::filesystem::path file = anchor.parent_path() / run::name_of(run::Item::kMemory);
  std::error_code none;
  return std::filesystem::is_regular_file(file, none) ? file : std::filesystem::path();
}

unsigned all_processors() { return std::max(1u, std::thread::hardware_concurrency()); }

std::unique_ptr<RunSource> part_of(RunSource& whole, const Window& window) {
  exchange::Selection part;
  part.window = window;
  part.as_run = true;
  std::unique_ptr<RunSource> source = exchange::select(whole, part, all_processors());
  if (source->definitions().clock.length == 0 && whole.definitions().clock.length > 0) {
    throw Error("--from is beyond the end of the run [TL419]");
  }
  return source;
}

// The run is shown without them, too.
LineTimes line_times_of(const std::filesystem::path& run) try {
  return read_line_times(run);
} catch (const Error& error) {
  print_line(error.what());
  return {};
}

// The profile that was woven with the trace has them; the run is shown without them, too.
LockFacts locks_of(const std::filesystem::path& trace) try {
  const std::filesystem::path run = trace.parent_path();
  const std::uint64_t id = weave::trace_id(trace);
  if (id == 0 || !weave::has_profile(run)) return {};
  const cube::Reader profile(weave::profile_of(run));
  if (cube::trace_id_of(profile) != id) return {};
  return locks_in(cube::definitions_of(profile).properties);
} catch (const Error& error) {
  print_line(error.what());
  return {};
}

}  // namespace

ViewedRun::ViewedRun(const std::filesystem::path& run) : ViewedRun(run, Window()) {}

ViewedRun::ViewedRun(const std::filesystem::path& run, const Window& window)
    : title_(run.string()),
      anchor_(weave::trace_of(run)),
      whole_(window.any() ? weave::open_trace(anchor_) : nullptr),
      source_(whole_ ? part_of(*whole_, window) : weave::open_trace(anchor_)),
      definitions_(source_->definitions()),
      identity_(view::source_identity(anchor_)),
      content_(definitions_, [this](const view::Index* index) {
        return describe_for_viewer(definitions_, title_, index, content_.marks()->read());
      }) {
  content_.set_marks(std::make_shared<const view::MarksFile>(anchor_));
  if (whole_) {
    for (const char* const of_the_whole : {kRunMemory, kSampleCount}) {
      definitions_.properties.erase(of_the_whole);
    }
    return;
  }
  content_.set_memory_file(memory_file_of(anchor_));
  content_.set_is_there([this, opened = view::anchor_state(anchor_)] {
    return view::anchor_state(anchor_) == opened;
  });
  set_samples();
  content_.set_line_times(
      [times = line_times_of(run)](const Region& region) { return times.of({&region}); });
  content_.set_locks([this] { return locks_of(anchor_); });
  content_.set_index(view::find_index(anchor_, identity_, definitions_.locations.size(), damaged_));
}

void ViewedRun::set_samples() {
  if (!has_single_samples(anchor_.parent_path())) return;
  content_.set_samples([this] { return samples_of_run(anchor_, definitions_); });
  if (!lacks_estimates(definitions_, anchor_)) return;
  content_.set_estimate([this](const view::Index& index, const std::vector<std::uint32_t>& tracks,
                               std::uint64_t from, std::uint64_t to) {
    return estimates_for_viewer(anchor_, definitions_, index, tracks, from, to);
  });
}

bool ViewedRun::is_sound() {
  const std::shared_ptr<const view::Index> index = content_.index();
  if (!index) return false;
  try {
    index->check_all(content_.progress().cancelled);
    return true;
  } catch (const Error&) {
    damaged_ = true;
    return false;
  }
}

void ViewedRun::have_sound_index() {
  if (is_sound()) return;
  if (damaged_) print_line("the index of " + title_ + " is damaged; it is made anew [TL431]");
  make_index();
}

void ViewedRun::make_index() {
  const unsigned threads = all_processors();
  const std::shared_ptr<const view::Index> earlier = content_.index();
  if (whole_) {
    return content_.set_index(
        view::make_passing_index(*source_, content_.progress(), threads, nullptr));
  }
  content_.set_index(
      view::make_index(*source_, anchor_, identity_, content_.progress(), threads, earlier.get()));
}

std::shared_ptr<const view::Index> ViewedRun::index() {
  have_sound_index();
  return content_.index();
}

}  // namespace timeloom::tools
