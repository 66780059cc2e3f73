#include "tools/view/live_view.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/text/message_id.hpp"
#include "core/throttled.hpp"
#include "run/run_directory.hpp"
#include "tools/run/open_run.hpp"
#include "tools/samples/samples_of_run.hpp"
#include "tools/view/view_describe.hpp"
#include "tools/view/viewed_run.hpp"
#include "view/index/stored_index.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

namespace {

using namespace std::chrono_literals;
using Stage = view::LiveStates::Stage;

constexpr auto kLeastTime = 1s;  // from one look to the next
constexpr int kLeastPause = 3;   // times as long as the look took: it reads all records
constexpr auto kPauseAfterFailure =
    5s;                               // what is missing, such as space, does not come back at once
constexpr auto kLongestUnasked = 5s;  // without a question, nobody watches
constexpr auto kStep = 50ms;
// The program itself, or the one that has started it, weaves the run at its end; nobody else does
// if it was killed.
constexpr auto kOthersWeave = 10s, kOthersAfterKill = 1s;
constexpr auto kLongestEnd = 2min;  // of a program whose measurement has ended; it may never end
constexpr int kNicer = 10;          // the measured program comes first

// The bytes of a file of the samples so far. Empty: there are none, or they stand for throttled
// functions as well, whose times are estimated once the run is woven.
std::string take_samples(weave::SpoolSource& source) {
  if (source.samples().empty() || ThrottledFunctions(source.definitions().properties).any())
    return {};
  return source.take_sample_file();
}

// The definitions without losses that only a result would have: the program still runs, and its
// open calls go on.
Definitions as_running(Definitions all) {
  for (const char* loss : {"timeloom::ending", "timeloom::closed_regions"}) {
    all.properties.erase(loss);
  }
  return all;
}

// A state of the run, with its own definitions.
struct State {
  State(Definitions all, std::string title)
      : definitions(std::move(all)), content(definitions, [this, title](const view::Index* index) {
          return describe_for_viewer(definitions, title, index, "[]");
        }) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void set_samples(std::string bytes) {
    content.set_samples(
        [this, bytes = std::move(bytes)] { return samples_so_far(bytes, definitions); });
  }

  Definitions definitions;
  view::Content content;
};

// The settings of the run, one a line. Empty: it has none that can be read.
std::string settings_of(const std::filesystem::path& run) try {
  return run::read_settings(run);
} catch (const std::exception&) {
  return {};
}

bool has(const std::string& settings, const std::string& line) {
  return settings.find("\n" + line + "\n") != std::string::npos;
}

// As long as it lives, the flag is set.
class Weaving {
 public:
  explicit Weaving(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
  Weaving(const Weaving&) = delete;
  Weaving& operator=(const Weaving&) = delete;
  ~Weaving() { flag_ = false; }

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

LiveView::LiveView(const std::filesystem::path& run,
                   std::shared_ptr<const view::SourceFiles> sources)
    : run_(run), sources_(std::move(sources)), reader_(run) {
  if (const auto source = reader_.look(); source && !source->wants_trace()) {
    throw Error(run.string() +
                " records a profile, which has no timeline; watch it with: timeloom " + "top " +
                run.string() + " [TL472]");
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { follow(stop); });
}

LiveView::~LiveView() {
  states_.progress().cancelled = true;
  thread_.request_stop();
  const std::lock_guard lock(mutex_);
  if (woven_) woven_->content().progress().cancelled = true;
}

void LiveView::follow(const std::stop_token& stop) {
  ::setpriority(PRIO_PROCESS, 0, kNicer);  // of this thread
  try {
    for (;;) {
      const Clock::time_point begin = Clock::now();
      if (!look()) break;
      const Clock::duration taken = Clock::now() - begin;
      const Clock::duration least =
          failed_ ? Clock::duration(kPauseAfterFailure) : kLeastTime - taken;
      if (!pause(stop, std::max<Clock::duration>(least, kLeastPause * taken))) return;
      if (!wait_for_watcher(stop)) return;
    }
    show_woven(stop);
  } catch (const view::Cancelled&) {
    // Nobody waits for it.
  } catch (const std::exception& error) {
    lose(error.what());
  }
}

// The next index is about as large as the newest one, and other programs need space, too.
void LiveView::make_room() {
  constexpr std::uint64_t kShare = 4;
  struct statvfs place {};
  if (!index_ || ::fstatvfs(index_->file().descriptor(), &place) != 0) return;
  const std::uint64_t free = std::uint64_t{place.f_bavail} * place.f_frsize;
  if (index_->file().size() > free / kShare) states_.drop_older();
}

// False: the run is not recorded any more.
bool LiveView::look() {
  const Clock::time_point begin = Clock::now();
  try {
    make_room();
    const std::unique_ptr<weave::SpoolSource> source = reader_.look();
    if (!source) return false;
    states_.progress().events = 0;
    std::string samples = take_samples(*source);
    // One thread: the program needs the other processors.
    index_ = view::make_passing_index(*source, states_.progress(), 1, index_.get());
    const bool running = source->running() != 0;
    Definitions definitions = source->definitions();
    if (running) definitions = as_running(std::move(definitions));
    if (samples.empty()) definitions.properties.erase(kSampleCount);
    const auto state = std::make_shared<State>(std::move(definitions), run_.string());
    if (!samples.empty()) state->set_samples(std::move(samples));
    state->content.set_sources(sources_);
    state->content.set_index(index_);
    state->content.settle();
    failed_ = false;
    killed_ = !source->ended_in_order();
    states_.put({state, &state->content}, running ? Stage::kRunning : Stage::kWeaving, begin,
                Clock::now());
    return running;
  } catch (const std::exception& error) {
    // It may have been woven in this moment; else it may come back, as space and memory may.
    if (reader_.was_woven()) return false;
    lose(error.what());
    failed_ = true;
    return true;
  }
}

void LiveView::lose(const std::string& message) {
  states_.tell(Stage::kLost, run_.string() +
                                 " cannot be read: " + std::string(without_id(message)) +
                                 "; the page keeps what it has read before [TL471]");
}

void LiveView::show_woven(const std::stop_token& stop) {
  if (!wait_for_weave(stop)) return;
  while (!stop.stop_requested()) {
    const std::filesystem::path path = reader_.path();
    try {
      return show_woven_at(path, stop);
    } catch (const std::exception&) {
      if (path == reader_.path()) throw;  // else it was renamed meanwhile, before it was read
    }
  }
}

void LiveView::show_woven_at(const std::filesystem::path& path, const std::stop_token& stop) {
  const Clock::time_point begin = Clock::now();
  const auto woven = std::make_shared<ViewedRun>(path);
  {
    const std::lock_guard lock(mutex_);
    woven_ = woven;
  }
  if (stop.stop_requested()) return;
  woven->content().set_sources(sources_);
  woven->have_sound_index();
  woven->content().settle();
  states_.put({woven, &woven->content()}, Stage::kWoven, begin, Clock::now());
}

// False: the run stays as it is; all of it was shown already.
bool LiveView::wait_for_weave(const std::stop_token& stop) {
  states_.tell(Stage::kWeaving);
  const Clock::time_point begin = Clock::now();
  Clock::time_point ended = begin;
  while (weave::unfinished(reader_.path())) {
    if (!pause(stop, kStep)) return false;
    const Clock::time_point now = Clock::now();
    if (now - begin < kLongestEnd && reader_.process_lives()) ended = now;
    if (now - ended < (killed_ ? kOthersAfterKill : kOthersWeave)) continue;
    const std::string settings = settings_of(reader_.path());
    if (has(settings, "TIMELOOM_WEAVE=off")) {
      states_.tell(Stage::kWoven);
      return false;
    }
    weave_here(has(settings, "TIMELOOM_KEEP_SPOOL=on"));
    break;  // of a run with processes on other hosts, the spools stay
  }
  return true;
}

void LiveView::weave_here(bool keep_spool) {
  weave::WeaveOptions options;
  options.timeout = weave::kTimeoutAtEnd;
  options.run = reader_.id();
  options.keep_spool = keep_spool;
  const Weaving weaving(weaves_);
  try {
    weave::weave(reader_.path(), options);
  } catch (const Error&) {
    // Another program may have woven it meanwhile.
    if (weave::unfinished(reader_.path())) throw;
  }
}

bool LiveView::pause(const std::stop_token& stop, Clock::duration time) {
  std::unique_lock lock(mutex_);
  return !ended_.wait_for(lock, stop, time, [&] { return stop.stop_requested(); });
}

bool LiveView::wait_for_watcher(const std::stop_token& stop) {
  while (states_.unwatched(Clock::now()) > kLongestUnasked) {
    if (!pause(stop, kStep)) return false;
  }
  return !stop.stop_requested();
}

}  // namespace timeloom::tools
