#include "weave/live_run.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/life.hpp"
#include "os/clock.hpp"
#include "os/process.hpp"
#include "os/read_file.hpp"
#include "profile/call_tree_sink.hpp"
#include "run/open_directory.hpp"
#include "weave/run.hpp"
#include "weave/run_contents.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;

namespace {

[[noreturn]] void cannot_read(const fs::path& run, const std::system_error& error) {
  throw Error("cannot read " + run.string() + ": " + error.code().message() + " [TL211]");
}

}  // namespace

std::optional<LiveRun> read_live(const fs::path& path, unsigned threads) try {
  const run::Directory run(path);
  const std::vector<spool::SpoolDirectory> spools = spools_of(run);
  if (spools.empty()) return std::nullopt;
  symbols::CodeNames names(std::vector<std::string>{});
  SpoolSource source(spools, SpoolSource::RankResults::kIgnored, &names);
  profile::CallTreeSink sink;
  for (auto& [location, aggregated] : source.take_profiles()) {
    sink.put(location, std::move(aggregated));
  }
  const std::array<RunSink*, 1> sinks = {&sink};
  source.replay(sinks, threads);
  return LiveRun{sink.take(), source.running(), source.maybe_running()};
} catch (const std::system_error& error) {
  cannot_read(path, error);
}

// A measured process maps the ring of its spool: RUN/spool/NAME/ring.
std::optional<fs::path> run_of_process(std::uint64_t pid) {
  constexpr std::string_view kRing = "/ring", kSpool = "/spool";
  const std::string maps = os::read_file("/proc/" + std::to_string(pid) + "/maps");
  for (const std::string_view line : os::pieces_of(maps, '\n')) {
    const std::size_t start = line.find('/');
    if (start == std::string_view::npos || !line.ends_with(kRing)) continue;
    const fs::path spools = fs::path(line.substr(start)).parent_path().parent_path();
    if (spools.string().ends_with(kSpool)) return spools.parent_path();
  }
  return std::nullopt;
}

bool is_recorded_now(const fs::path& path) try {
  for (const spool::SpoolDirectory& spool : spools_of(run::Directory(path))) {
    const auto open = [&](const std::string& name, int* error) { return spool.open(name, error); };
    if (alive(open) == Alive::kYes) return true;
  }
  return false;
} catch (const std::system_error&) {
  return false;  // it is not a directory that can be read
}

LiveReader::LiveReader(const fs::path& run) try
    : path_(run), directory_(run), known_(directory_.known()), names_(std::vector<std::string>{}) {
} catch (const std::system_error& error) {
  cannot_read(run, error);
}

std::unique_ptr<SpoolSource> LiveReader::look() try {
  const run::Directory run = run::Directory::open(known_);
  const std::vector<spool::SpoolDirectory> spools = spools_of(run);
  if (spools.empty()) return nullptr;
  const SpoolSource::Look look{os::now(), os::hostname(), &regions_};
  auto source = std::make_unique<SpoolSource>(spools, SpoolSource::RankResults::kIgnored, &names_,
                                              &look, packed_ranks_of(run));
  source->add_samples(names_);
  regions_ = source->definitions().regions;
  if (source->running() != 0) remember(source->definitions().groups);
  return source;
} catch (const std::system_error& error) {
  cannot_read(path_, error);
}

bool LiveReader::was_woven() const noexcept try {
  const fs::path path = this->path();
  return is_at(path) && has_trace(path) && !unfinished(path);
} catch (const std::exception&) {
  return false;
}

fs::path LiveReader::path() const {
  if (is_at(path_)) return path_;
  // A removed directory has a path that leads nowhere.
  std::error_code error;
  const fs::path present = fs::read_symlink(directory_.fixed_path(), error);
  return !error && is_at(present) ? present : path_;
}

// Ids of other machines and containers mean other processes here, which do not record this run.
void LiveReader::remember(const std::vector<LocationGroup>& processes) {
  for (const LocationGroup& process : processes) {
    if (process.creator.defined() || recording_.contains(process.process_id)) continue;
    const std::optional<fs::path> run = run_of_process(process.process_id);
    if (!run || !is_at(*run)) continue;
    os::ProcessIdentity identity = os::this_process();
    identity.id = process.process_id;
    identity.start = os::start_of(process.process_id);
    recording_.emplace(identity.id, identity);
  }
}

bool LiveReader::process_lives() const {
  return std::ranges::any_of(
      recording_, [](const auto& one) { return os::look_for(one.second) == os::Found::kYes; });
}

bool LiveReader::is_at(const fs::path& path) const {
  int error = 0;
  return KnownDirectory(path, known_.id()).open(&error).is_open();
}

}  // namespace timeloom::weave
