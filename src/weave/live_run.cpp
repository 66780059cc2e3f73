#include "weave/live_run.hpp"

#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "os/read_file.hpp"
#include "profile/call_tree_sink.hpp"
#include "run/open_directory.hpp"
#include "symbols/code_names.hpp"
#include "weave/run_contents.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;

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
  throw Error("cannot read " + path.string() + ": " + error.code().message() + " [TL211]");
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

}  // namespace timeloom::weave
