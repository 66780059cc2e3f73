#include "tools/run/info_text.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/measuring_cost.hpp"
#include "core/metric_unit.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/throttled.hpp"
#include "tools/report/report_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kLabel = 12;
constexpr std::size_t kLeastRest = 24;    // behind a name, also of one that is too long
constexpr std::size_t kMostMarkers = 10;  // --json has all

class InfoWriter {
 public:
  InfoWriter(const Definitions& all, bool everything, const Terminal& terminal, Output& output)
      : all_(all), everything_(everything), terminal_(terminal), output_(output) {}

  void write(const std::vector<RunFile>& files, const std::string& packing,
             const std::string& run) {
    output_.write(terminal_.paint(printable(run), Ink::kBold) + "\n\n");
    facts();
    throttled();
    this->files(files);
    line("", packing);
    processes();
    threads();
    names();
    markers();
    if (everything_) {
      properties();
    } else if (!all_.properties.empty()) {
      output_.write(
          terminal_.paint(formatted("\n{} {} of the run: --all\n", all_.properties.size(),
                                    all_.properties.size() == 1 ? "property" : "properties"),
                          Ink::kDim));
    }
  }

 private:
  void line(std::string_view label, const std::string& value) {
    if (value.empty()) return;
    const std::size_t width = std::max(terminal_.width, kLabel + 20) - kLabel;
    output_.write(terminal_.paint(pad_right(label, kLabel), Ink::kDim) +
                  shorten_right(printable(value), width, terminal_) + "\n");
  }

  void title(const std::string& text) {
    output_.write("\n" + terminal_.paint(text, Ink::kAccent) + "\n");
  }

  // A number to the right, then columns to the left; the last takes the rest.
  void row(const std::string& number, const std::string& name, std::size_t name_width,
           const std::string& rest) {
    std::string text = pad_left(number, kLabel) + "  " +
                       pad_right(printable(name), std::min(name_width, terminal_.width / 2)) + "  ";
    const std::size_t used = columns(text);
    const std::size_t left = terminal_.width - std::min(terminal_.width, used);
    text += terminal_.paint(shorten_right(printable(rest), std::max(left, kLeastRest), terminal_),
                            Ink::kDim);
    while (text.ends_with(' ')) text.pop_back();
    output_.write(text + "\n");
  }

  void facts() {
    const RunFacts facts = facts_of(all_);
    line("program", facts.program);
    line("host", facts.host);
    if (facts.start) line("started", local_time(*facts.start));
    line("wall time", duration(facts.wall_seconds, terminal_, " "));
    line("processes", count(facts.processes));
    if (all_.groups.size() == 1 && all_.groups.front().process_id != 0) {
      line("process id", std::to_string(all_.groups.front().process_id));
    }
    line("threads", count(facts.threads));
    if (facts.tasks > 0) line("tasks", count(facts.tasks));
    if (facts.task_lanes > 0) line("lanes", count(facts.task_lanes));
    if (facts.events > 0) line("events", count(facts.events));
    line("regions", count(all_.regions.size()));
    line("clock", formatted("{} ticks a second", count(all_.clock.ticks_per_second)));
    line("written by", all_.creator);
    cpu(facts);
    overhead();
    samples();
    write_losses(facts.losses, terminal_, output_);
  }

  void cpu(const RunFacts& facts) {
    if (!facts.cpu.known()) return;
    line("CPU time", duration(static_cast<double>(facts.cpu.process) * 1e-9, terminal_, " "));
    for (const std::string& text : other_cpu_lines(facts, terminal_)) line("", text);
  }

  std::uint64_t property(const char* key) const {
    const auto found = all_.properties.find(key);
    return found == all_.properties.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
  }

  void samples() {
    const std::uint64_t threads = property(kSampleThreads), timers = property(kSampleTimers);
    if (threads == 0) return;
    const std::uint64_t user_events = property(kSampleUserEvents);
    const std::string events = user_events == 0
                                   ? "by events of the kernel"
                                   : "by events for user space, and timers for time in the kernel";
    const std::string by = timers == 0         ? events
                           : timers == threads ? "by timers, which fire when the kernel ticks"
                                               : "by timers on " + plural(timers, "thread");
    const double period = static_cast<double>(property(kSamplePeriod)) * 1e-9;
    const auto stacks = all_.properties.find(kSampledCalls);
    if (stacks != all_.properties.end()) {
      line("calls",
           "made of samples; stacks of Python taken in the " + stacks->second + " of the signal");
    }
    line("samples", formatted("{}, every {} of CPU time on {}", count(property(kSampleCount)),
                              duration(period, terminal_, " "), plural(threads, "thread")));
    line("", by);
  }

  void overhead() {
    const std::optional<MeasuringCost> cost = measuring_cost_of(all_.properties);
    if (!cost) return;
    const Shares shares = shares_of(*cost);
    const auto time = [&](double seconds) { return duration(seconds, terminal_, " "); };
    line("overhead",
         formatted("{}about {:.1f} % of CPU time ({:.1f} to {:.1f} %), {:.1f} % of wall time",
                   property(kSampleCount) == 0 ? "" : "without the samples ", 100 * shares.cpu,
                   100 * shares.cpu_error_range.least, 100 * shares.cpu_error_range.most,
                   100 * shares.wall));
    line("", "events " + time(cost->events) + ", new functions " + time(cost->functions));
    line("", "start and end " + time(cost->start) + ", recorder " + time(cost->recorder));
    const std::uint64_t unknown = cost->unknown_processes();
    if (unknown == 0) return;
    line("",
         "not of " + plural(unknown, "process") + ": killed, become another program, or running");
  }

  void throttled() {
    const ThrottledFunctions known(all_.properties);
    if (known.was_paused()) line("--overhead", seen_text(known.observed_share()));
    const RunFacts facts = facts_of(all_);
    places("Not timed to the end (--overhead)", facts.throttled);
    places("Ended with a visit of these", facts.truncated);
  }

  // At full width, however long: their files and lines tell them apart.
  void places(const char* what, const std::vector<std::string>& functions) {
    if (!functions.empty()) title(what);
    for (const std::string& function : functions) {
      output_.write(pad_right("", kLabel) + printable(function) + "\n");
    }
  }

  void files(const std::vector<RunFile>& files) {
    title("Files");
    std::size_t width = 0;
    for (const RunFile& file : files) width = std::max(width, columns(printable(file.name)));
    width = std::min(width, terminal_.width / 3);
    for (const RunFile& file : files) {
      std::string what = file.what;
      if (!file.opened_by.empty()) what += " (" + file.opened_by + ")";
      row(bytes(file.bytes), file.name, width, what);
    }
  }

  void processes() {
    if (all_.groups.size() < 2) return;
    title("Processes");
    std::size_t width = columns("name");
    for (const LocationGroup& one : all_.groups)
      width = std::max(width, columns(printable(one.name)));
    output_.write(terminal_.paint(
        pad_left("process id", kLabel) + "  " + pad_right("name", width) + "  started by, end\n",
        Ink::kDim));
    for (const LocationGroup& one : all_.groups) {
      std::string rest = one.creator.value() < all_.groups.size() ? group_word(one.creator) : "-";
      if (!one.ending.empty()) rest += ", " + one.ending;
      row(id_of(one), one.name, width, rest);
    }
  }

  static std::string id_of(const LocationGroup& process) {
    return process.process_id == 0 ? "-" : std::to_string(process.process_id);
  }

  // A process by its id in the system, or else by its name.
  std::string group_word(LocationGroupId id) const {
    const LocationGroup& process = all_.groups[id.value()];
    return process.process_id == 0 ? process.name : id_of(process);
  }

  void threads() {
    const RunFacts facts = facts_of(all_);
    title(facts.tasks > 0     ? "Threads and tasks"
          : facts.has_tasks() ? "Threads and lanes"
                              : "Threads");
    std::size_t width = columns("name");
    for (const Location& one : all_.locations)
      width = std::max(width, columns(printable(location_name(one))));
    const bool several = all_.groups.size() > 1;
    const std::string heading = std::string(several ? "process" : "") +
                                (everything_ ? std::string(several ? ", " : "") + "location" : "");
    output_.write(terminal_.paint(
        pad_left("events", kLabel) + "  " +
            (heading.empty() ? "name" : pad_right("name", width) + "  " + heading) + "\n",
        Ink::kDim));
    for (const Location& one : all_.locations) {
      std::string rest;
      if (several && one.group.value() < all_.groups.size()) rest = group_word(one.group);
      if (everything_) rest += (rest.empty() ? "" : ", ") + std::to_string(one.id.value());
      row(count(one.event_count), location_name(one), width, rest);
    }
  }

  void names() {
    // Waiting is measured without being asked for; the report has it.
    const auto wanted = [](const Metric& metric) { return !metric.of_waiting(); };
    if (std::ranges::any_of(all_.metrics, wanted)) title("Metrics");
    for (const Metric& metric : all_.metrics) {
      if (!wanted(metric)) continue;
      const std::string unit = value_unit(metric);
      line("", unit.empty() ? metric.name : formatted("{} [{}]", metric.name, unit));
    }
    if (!all_.parameters.empty()) title("Parameters");
    for (const std::string& name : parameter_names(all_)) line("", name);
  }

  void markers() {
    if (!all_.markers.empty()) title("Markers");
    for (std::size_t i = 0; i < std::min(all_.markers.size(), kMostMarkers); ++i) {
      const Marker& marker = all_.markers[i];
      const std::uint64_t time =
          ticks(marker.time) - std::min(ticks(marker.time), all_.clock.begin);
      output_.write(pad_left(duration(seconds(time, all_), terminal_, " "), kLabel) + "  " +
                    shorten_right(printable(marker.text), terminal_.width - kLabel - 2, terminal_) +
                    "\n");
    }
    if (all_.markers.size() > kMostMarkers) {
      line("", formatted("and {} more (--json)", count(all_.markers.size() - kMostMarkers)));
    }
  }

  void properties() {
    if (!all_.properties.empty()) title("Properties");
    for (const auto& [name, value] : all_.properties) {
      output_.write(
          shorten_right(printable(formatted("{} = {}", name, value)), terminal_.width, terminal_) +
          "\n");
    }
  }

  const Definitions& all_;
  bool everything_;
  const Terminal& terminal_;
  Output& output_;
};

}  // namespace

void write_info(const Definitions& definitions, const std::vector<RunFile>& files,
                const std::string& packing, const std::string& run, bool all,
                const Terminal& terminal, Output& output) {
  InfoWriter(definitions, all, terminal, output).write(files, packing, run);
}

}  // namespace timeloom::tools
