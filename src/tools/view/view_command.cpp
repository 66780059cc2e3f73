// `timeloom view [RUN [AFTER]]`: the timeline of a run, or of two, in the browser.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/report/report_text.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"
#include "tools/view/browser.hpp"
#include "tools/view/live_view.hpp"
#include "tools/view/view_text.hpp"
#include "tools/view/viewed_run.hpp"
#include "view/page/html_file.hpp"
#include "view/page/page.hpp"
#include "view/server/server.hpp"
#include "weave/live_run.hpp"

namespace timeloom::tools {

namespace {

struct ViewOptions {
  std::optional<std::string> run;
  std::optional<std::string> second;
  std::optional<std::uint32_t> port;
  std::string socket;
  std::vector<std::string> hosts;
  std::optional<double> idle_minutes;
  bool no_browser = false;
  bool frame = false;
  std::string html;
  std::string from;
  std::string to;
  std::vector<std::string> sources;
  bool with_source = false;
  bool force = false;
  bool text = false;
  ColourMode colour = ColourMode::kAuto;
};

// One run, or two to be compared.
using ViewedRuns = std::vector<std::unique_ptr<ViewedRun>>;

// Makes the indexes that are missing or damaged beside the server, until they are there or not
// wanted any more.
class Indexing {
 public:
  explicit Indexing(const ViewedRuns& runs) : runs_(runs) {
    thread_ = std::jthread([this] {
      for (const auto& run : runs_) work(*run);
    });
  }
  Indexing(const Indexing&) = delete;
  Indexing& operator=(const Indexing&) = delete;
  ~Indexing() {
    for (const auto& run : runs_) run->content().progress().cancelled = true;
  }

 private:
  static void work(ViewedRun& viewed) {
    try {
      viewed.have_sound_index();
    } catch (const view::Cancelled&) {
      // Nobody waits for it.
    } catch (const std::exception& error) {
      if (!viewed.content().index()) viewed.content().fail(error.what());
      print_line(error.what());
    }
    viewed.content().settle();
  }

  const ViewedRuns& runs_;
  std::jthread thread_;
};

// Signals that end the server. They are blocked, also in the threads that start from now on, and
// waited for.
sigset_t block_ending_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void wait_for_end(const view::Server& server, const sigset_t& signals,
                  const std::optional<double>& idle_minutes) {
  for (;;) {
    const timespec second{1, 0};
    if (::sigtimedwait(&signals, nullptr, &second) > 0) return;
    if (!idle_minutes || static_cast<double>(server.idle().count()) < *idle_minutes * 60) continue;
    print_line("nobody asked for a while; the end");
    return;
  }
}

// Prints the address, opens the browser, and returns when the server shall end.
void show_page(const ViewOptions& options, const view::Server& server, const std::string& token,
               const sigset_t& signals) {
  const std::string place = options.socket.empty()
                                ? "http://127.0.0.1:" + std::to_string(server.port())
                                : "http://localhost";
  const std::string address = place + "/#t=" + token;
  std::printf("%s\n", address.c_str());
  std::fflush(stdout);
  Browser browser;
  const bool opens = !options.no_browser && options.socket.empty() && Browser::is_there();
  if (opens && !browser.open(address))
    print_line("the browser could not be started; open the address yourself [TL432]");
  if (isatty(STDERR_FILENO) == 1) print_line("Ctrl-C ends it");
  wait_for_end(server, signals, options.idle_minutes);
}

std::uint16_t port_of(const ViewOptions& options) {
  return static_cast<std::uint16_t>(options.port.value_or(0));
}

int serve(const ViewOptions& options, const ViewedRuns& runs) {
  const sigset_t signals = block_ending_signals();
  const view::Access access{view::random_token(), options.hosts, options.frame};
  std::vector<const view::Content*> contents;
  for (const auto& run : runs) contents.push_back(&run->content());
  const view::RequestHandler handler(std::move(contents), access, view::page());
  const view::Server server(handler, port_of(options), options.socket);
  const Indexing indexing(runs);
  show_page(options, server, access.token, signals);
  return kDone;
}

constexpr std::size_t kMostSource = 16 << 20;

// The lines of all functions that are found, by their numbers, as JSON.
std::string sources_of(const view::Content& content) {
  const std::vector<Region>& regions = content.definitions().regions;
  std::string json = "{";
  std::size_t found = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const view::SourceLines lines = view::source_lines(content, regions[i]);
    if (!lines.reason.empty()) continue;
    if (json.size() > kMostSource) {
      print_line(
          "the lines of functions are more than 16 MB; the lines of the others are left out "
          "[TL433]");
      break;
    }
    json +=
        (found++ == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + source_json(lines, regions[i]);
  }
  print_line("with the lines of " + std::to_string(found) + " functions");
  return json + "}";
}

// The page is written without it if its file is damaged.
std::vector<std::string> memory_of(ViewedRun& run, const view::Index& index) try {
  const std::filesystem::path& file = run.content().memory_file();
  if (file.empty()) return {};
  return view::memory_sections(file, index, run.definitions());
} catch (const Error& error) {
  print_line(error.what());
  return {};
}

// The page is written without them if they cannot be read, or are too many.
std::string samples_of(const view::Content& content, const view::Index& index) try {
  const std::shared_ptr<const view::TimedSamples> samples = content.timed_samples();
  if (!samples) return {};
  const std::size_t most = view::LimitsInside().samples;
  std::optional<std::string> section = view::sample_section(*samples, index, most);
  if (!section) {
    print_line("the file has no single samples, for the run has more than " + count(most) +
               " of them; 'timeloom view' without --html shows them [TL732]");
  }
  return std::move(section).value_or("");
} catch (const Error& error) {
  print_line(error.what());
  return {};
}

int write_file(const ViewOptions& options, const ViewedRuns& runs) {
  exchange::Destination out(options.html, options.force);
  std::vector<view::RunInside> inside;
  for (const auto& run : runs) {
    std::shared_ptr<const view::Index> index = run->index();
    std::string sources = options.with_source ? sources_of(run->content()) : std::string();
    std::vector<std::string> memory = memory_of(*run, *index);
    // Two runs beside each other show no samples.
    std::string samples = runs.size() > 1 ? "" : samples_of(run->content(), *index);
    inside.push_back({run->content().describe(), &run->definitions(), std::move(index),
                      std::move(memory), std::move(samples), std::move(sources)});
  }
  const bool all_calls = view::write_html(view::page(), inside, out);
  out.finish();
  if (!all_calls) {
    print_line(
        "with so many events, the file has pictures and tables, but only the longest calls of each "
        "row: --from and --to choose a part that has all, 'timeloom view' without --html shows all "
        "[TL434]");
  }
  if (out.is_file())
    print_line("wrote " + options.html + ", " + bytes(out.size()) + ", opened by a browser");
  return kDone;
}

int write_view_text(const ViewOptions& options, ViewedRun& viewed) {
  const Terminal terminal = Terminal::detect(options.colour);
  Output output;
  const std::shared_ptr<const view::Index> index = viewed.index();
  Definitions definitions = viewed.definitions();
  for (const auto& [name, value] : index->properties()) definitions.properties[name] = value;
  write_headline(facts_of(definitions), viewed.title(), terminal, output);
  output.write("\n");
  write_timeline(definitions, *index, terminal, output);
  output.flush();
  return kDone;
}

// Empty: the command line makes sense.
std::string wrong_view(const ViewOptions& options) {
  if (options.port && !options.socket.empty())
    return "--port and --socket are different places; choose one";
  if (options.text && !options.html.empty())
    return "--text and --html are different forms; choose one";
  if (options.html.empty() && !(options.from.empty() && options.to.empty()))
    return "--from and --to choose the part that --html writes; the page itself zooms";
  if (options.with_source && options.html.empty())
    return "--with-source is for --html; the server shows sources anyway";
  if (options.text && options.second)
    return "--text shows one run; 'timeloom diff' compares two in the terminal";
  return {};
}

// Also the cells of the notebook that the run is one of, which it has kept beside its runs.
std::vector<std::string> folders_of_sources(const ViewOptions& options,
                                            const std::filesystem::path& run) {
  std::vector<std::string> folders = options.sources;
  std::error_code error;
  const std::filesystem::path cells = std::filesystem::absolute(run, error).parent_path() / "cells";
  if (std::filesystem::is_directory(cells, error)) folders.push_back(cells.string());
  return folders;
}

int serve_live(const ViewOptions& options, const std::filesystem::path& run) {
  const sigset_t signals = block_ending_signals();
  const view::Access access{view::random_token(), options.hosts, options.frame};
  const LiveView live(
      run, std::make_shared<const view::SourceFiles>(".", folders_of_sources(options, run)));
  {
    const view::RequestHandler handler(live.states(), access, view::page());
    const view::Server server(handler, port_of(options), options.socket);
    print_line(run.string() + " is still recorded; the page follows it [TL473]");
    show_page(options, server, access.token, signals);
  }
  // Nothing is left that must be removed, so a second signal may end the weave, too.
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  if (live.weaves()) {
    print_line(run.string() +
               " is still being woven; Ctrl-C again leaves that to the next command [TL474]");
  }
  return kDone;
}

// The run, if it is recorded now and to be shown in the browser.
std::optional<std::filesystem::path> live_run(const ViewOptions& options) {
  if (options.text || !options.html.empty() || options.second) return std::nullopt;
  std::optional<std::filesystem::path> run;
  if (options.run) run = weave::unfinished_run_of(*options.run);  // it may name a result
  if (!run) run = weave::find_run(options.run);
  return weave::is_recorded_now(*run) ? run : std::nullopt;
}

int run_view(ViewOptions options) {
  if (const std::string wrong = wrong_view(options); !wrong.empty()) {
    print_line(wrong + "; see 'timeloom view --help' [TL401]");
    return kWrongUsage;
  }
  options.run = run_or_process(options.run);
  if (const auto run = live_run(options)) return serve_live(options, *run);
  ViewedRuns runs;
  const std::filesystem::path first = open_run(options.run);
  const Window window = window_of(options.from, options.to, "--to");
  runs.push_back(std::make_unique<ViewedRun>(first, window));
  if (options.second) {
    runs.push_back(std::make_unique<ViewedRun>(open_run(options.second), window));
  }
  if (options.text) return write_view_text(options, *runs.front());
  const auto sources =
      std::make_shared<const view::SourceFiles>(".", folders_of_sources(options, first));
  for (const auto& run : runs) run->content().set_sources(sources);
  return options.html.empty() ? serve(options, runs) : write_file(options, runs);
}

}  // namespace

Command register_view(CLI::App& program) {
  const auto options = std::make_shared<ViewOptions>();
  CommandOptions known(program, "view", "Show the timeline of a run in the browser");
  known.positional("RUN|PID", options->run,
                   "Run directory or OTF2 archive (default: the newest run here), or a measured "
                   "process: a run that is still recorded is followed");
  known.positional("AFTER", options->second,
                   "A second run, shown below the first and compared with it");
  known.count("--port", "N", options->port, {1, 65535, "a port from 1 to 65535"},
              "Port of this machine to serve the page at (default: any free one)");
  known.text("--socket", "PATH", options->socket,
             "Serve at a socket of this path instead, for ssh -L or a proxy");
  known.texts("--allow-host", "NAME", options->hosts,
              "Answer to this host name, too: that of a proxy; can be repeated");
  known.flag(
      "--frame", options->frame,
      "Let other pages of the same host show the page in a frame: a notebook behind a proxy");
  known.number("--idle", "MINUTES", options->idle_minutes, {0.01, 1e6, "a number of minutes"},
               "End after this time without a request");
  known.flag("--no-browser", options->no_browser, "Only print the address of the page");
  known.text("--html", "FILE", options->html,
             "Write one HTML file with the run inside instead, to keep or to mail");
  known.text("--from", "WHEN", options->from,
             "With --html: leave out events before this time since the start of the run (2.5s), or "
             "before this region");
  known.text("--to", "WHEN", options->to,
             "With --html: leave out events after this time, or after the end of this region");
  known.texts("--source", "DIR", options->sources,
              "Show source lines of files below this folder, too, and not only of those below the "
              "working folder; can be repeated");
  known.flag("--with-source", options->with_source,
             "Put the lines of functions into the file of --html as well");
  known.flag("--force", options->force, "Replace a file that exists");
  known.flag("--text", options->text, "Draw the timeline in the terminal instead");
  known.colour(options->colour);
  return {known.app(), [options] { return run_view(*options); }};
}

}  // namespace timeloom::tools
