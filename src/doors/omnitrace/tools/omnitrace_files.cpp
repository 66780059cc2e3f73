#include "doors/omnitrace/tools/omnitrace_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "doors/omnitrace/format/json_report.hpp"
#include "doors/omnitrace/settings/omnitrace_choices.hpp"
#include "doors/omnitrace/settings/omnitrace_units.hpp"
#include "doors/omnitrace/tools/omnitrace_difference.hpp"
#include "doors/omnitrace/tools/omnitrace_metadata.hpp"
#include "doors/omnitrace/tools/omnitrace_sums.hpp"
#include "exchange/destination_directory.hpp"
#include "exchange/names.hpp"
#include "formats/perfetto/perfetto.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

using omnitrace::Calls;
using omnitrace::Merge;
using omnitrace::Rows;

omnitrace::NumberStyle numbers_of(const OmnitraceSettings& settings, const std::string& kind,
                                  int usual) {
  const auto first = [&](const char* name) {
    const auto own = kind.empty() ? -1 : settings.number("OMNITRACE_" + kind + name);
    return own >= 0 ? own : settings.number(std::string("OMNITRACE") + name);
  };
  omnitrace::NumberStyle style;
  // A precision for all numbers beats the one of times that nobody has set.
  const bool own = !kind.empty() && settings.given("OMNITRACE_" + kind + "_PRECISION");
  const std::int64_t digits = own ? settings.number("OMNITRACE_" + kind + "_PRECISION")
                                  : settings.number("OMNITRACE_PRECISION");
  style.precision = digits < 0 ? usual : static_cast<int>(digits);
  style.width = static_cast<std::size_t>(std::max<std::int64_t>(first("_WIDTH"), 0));
  style.scientific = settings.flag("OMNITRACE_SCIENTIFIC") ||
                     (!kind.empty() && settings.flag("OMNITRACE_" + kind + "_SCIENTIFIC"));
  return style;
}

omnitrace::ReportStyle style_of(const OmnitraceSettings& settings) {
  omnitrace::ReportStyle style;
  const auto whole = [&](const char* name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, settings.number(name)));
  };
  style.flat = settings.flag("OMNITRACE_FLAT_PROFILE");
  style.timeline = settings.flag("OMNITRACE_TIMELINE_PROFILE");
  style.collapse_threads = settings.flag("OMNITRACE_COLLAPSE_THREADS");
  style.collapse_processes = settings.flag("OMNITRACE_COLLAPSE_PROCESSES");
  style.max_depth = whole("OMNITRACE_MAX_DEPTH");
  style.max_width = std::max<std::uint64_t>(1, whole("OMNITRACE_MAX_WIDTH"));
  style.separator_freq = whole("OMNITRACE_SEPARATOR_FREQ");
  const OmnitraceUnit time = time_unit(settings), memory = memory_unit(settings);
  style.time = {time.name, time.value};
  style.memory = {memory.name, memory.value};
  style.of_times = numbers_of(settings, "TIMING", 6);
  style.of_memory = numbers_of(settings, "MEMORY", 3);
  style.of_others = numbers_of(settings, "", -1);
  style.flat_json = settings.flag("OMNITRACE_JSON_OUTPUT");
  style.tree_json = settings.flag("OMNITRACE_TREE_OUTPUT");
  return style;
}

// What the user has chosen, without the categories that a variable leaves out.
exchange::Selection selection_of(const OmnitraceJob& job) {
  using exchange::Category;
  static const std::map<std::string, Category> kCategories = {
      {"python", Category::kFunction}, {"user", Category::kUser}, {"mpi", Category::kMpi}};
  exchange::Selection selection = job.selection;
  for (const std::string& name : categories_left_out(job.settings)) {
    selection.left_out.push_back(kCategories.at(name));
  }
  return selection;
}

class FilesWriter {
 public:
  explicit FilesWriter(const OmnitraceJob& job)
      : job_(job),
        settings_(job.settings),
        style_(style_of(job.settings)),
        directory_(job.place.directory) {}

  std::vector<std::string> write() {
    const std::unique_ptr<RunSource> trace = weave::open_trace(weave::trace_of(job_.run));
    std::unique_ptr<RunSource> chosen;
    const exchange::Selection selection = selection_of(job_);
    if (!selection.everything()) chosen = exchange::select(*trace, selection, job_.threads);
    RunSource& run = chosen ? *chosen : *trace;
    definitions_ = &run.definitions();
    if (settings_.profiles()) write_reports(run);
    if (settings_.traces()) write_perfetto(run);
    write_metadata();
    if (is_told()) tell_sums(run);
    for (const std::string& loss : facts_of(trace->definitions()).losses) losses_.push_back(loss);
    return std::move(losses_);
  }

 private:
  // ---- names

  std::uint64_t process_id(std::size_t group) const {
    return group < definitions_->groups.size() ? definitions_->groups[group].process_id : 0;
  }

  // The rank of a process in a job of MPI, or the rank of the process that started it; none: it has
  // none.
  std::optional<std::uint32_t> rank_of(std::size_t group) const {
    const auto& groups = definitions_->groups;
    for (std::size_t steps = 0; group < groups.size() && steps < groups.size(); ++steps) {
      if (const auto rank = job_rank_of(groups[group])) return rank;
      if (!groups[group].creator.defined()) break;
      group = groups[group].creator.value();
    }
    return std::nullopt;
  }

  // The place of the files of a process. Ranks are told apart by theirs, other processes than the
  // first by their number.
  OmnitracePlace place_of_group(std::size_t group) const {
    OmnitracePlace place = job_.place;
    const std::string number = "-" + std::to_string(process_id(group));
    const std::string first = "-" + std::to_string(process_id(0));
    if (const auto rank = rank_of(group)) {
      place.suffix = "-" + std::to_string(*rank);
      if (!job_rank_of(definitions_->groups[group])) place.suffix += number;
    } else if (group != 0) {
      place.suffix = place.suffix == first ? number : place.suffix + number;
    }
    return place;
  }

  bool is_told() const { return settings_.number("OMNITRACE_VERBOSE") >= 0; }

  // "[omnitrace][4711][wall_clock]> "
  void tell(std::size_t group, std::string_view key, const std::string& text) const {
    if (!is_told()) return;
    std::fprintf(stderr, "[omnitrace][%llu][%s]> %s\n",
                 static_cast<unsigned long long>(process_id(group)), std::string(key).c_str(),
                 printable(text).c_str());
  }

  // ---- reports

  std::vector<const omnitrace::Metric*> metrics() {
    std::vector<const omnitrace::Metric*> wanted;
    for (const std::string& name : settings_.components()) {
      const omnitrace::Metric* metric = omnitrace::find_metric(name);
      const bool known = metric != nullptr;
      if (known && std::ranges::find(wanted, metric) == wanted.end()) wanted.push_back(metric);
    }
    for (const omnitrace::Metric* metric : omnitrace::missing_metrics(wanted, *definitions_)) {
      losses_.push_back(
          std::string(metric->id) +
          " was not measured, which needs --metric-rusage; there is no report of it [TL723]");
      std::erase(wanted, metric);
    }
    return wanted;
  }

  void write_reports(RunSource& run) {
    const Calls calls =
        omnitrace::aggregate_calls(run, {metrics(), style_.flat, style_.timeline}, job_.threads);
    std::set<std::size_t> groups = {0};
    for (const omnitrace::ThreadCalls& thread : calls.threads) groups.insert(thread.group.value());
    if (style_.collapse_processes) return write_processes(calls, {groups.begin(), groups.end()});
    for (const std::size_t group : groups) write_processes(calls, {group});
  }

  // The files of a process, or common files of several, which have the names of the first one's.
  void write_processes(const Calls& calls, const std::vector<std::size_t>& together) {
    const std::size_t group = together.front();
    std::vector<LocationGroupId> ids;
    for (const std::size_t one : together) ids.emplace_back(static_cast<std::uint32_t>(one));
    const bool collapsed = style_.collapse_threads;
    const Rows apart = omnitrace::rows_of(calls, ids, collapsed ? Merge::kThreads : Merge::kNothing,
                                          style_.flat, style_.timeline);
    const Rows merged =
        collapsed ? Rows{}
                  : omnitrace::rows_of(calls, ids, Merge::kThreads, style_.flat, style_.timeline);
    const Rows& tree = collapsed ? apart : merged;
    for (std::size_t i = 0; i < calls.metrics.size(); ++i) {
      const omnitrace::MetricRows flat(calls, apart, i, style_, collapsed);
      write_text(flat, group);
      write_json(flat, {calls, tree, i, style_, true}, together);
      if (settings_.flag("OMNITRACE_DIFF_OUTPUT")) write_difference(flat, together);
    }
    if (!settings_.flag("OMNITRACE_FILE_OUTPUT")) return;
    const std::string name = file_name(place_of_group(group), "functions", "json");
    put(name, omnitrace_functions(calls, apart));
    functions_.push_back(directory_.shown(name));
  }

  void write_text(const omnitrace::MetricRows& rows, std::size_t group) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < rows.rows().rows.size(); ++i) {
      if (rows.rows().rows[i].depth < style_.max_depth) shown.push_back(i);
    }
    const omnitrace::TextForm form = omnitrace::text_form(rows.metric(), style_);
    const auto row = [&](std::size_t i) { return rows.text_row(shown[i]); };
    if (settings_.flag("OMNITRACE_TEXT_OUTPUT") && settings_.flag("OMNITRACE_FILE_OUTPUT")) {
      exchange::Destination out = begin("text", rows.metric().label, "txt", group);
      omnitrace::write_text_report(form, shown.size(), row,
                                   [&](std::string_view piece) { out.write(piece); });
      out.finish();
    }
    if (!settings_.flag("OMNITRACE_COUT_OUTPUT")) return;
    Output standard;
    omnitrace::write_text_report(form, shown.size(), row,
                                 [&](std::string_view piece) { standard.write(piece); });
    standard.flush();
  }

  omnitrace::JsonProcess process_of(const std::vector<std::size_t>& together) const {
    omnitrace::JsonProcess process;
    for (const std::size_t one : together) process.ids.push_back(process_id(one));
    return process;
  }

  void write_json(const omnitrace::MetricRows& flat, const omnitrace::MetricRows& tree,
                  const std::vector<std::size_t>& together) {
    if (!style_.flat_json && !style_.tree_json) return;
    if (!settings_.flag("OMNITRACE_FILE_OUTPUT")) return;
    const std::size_t group = together.front();
    const omnitrace::JsonProcess process = process_of(together);
    exchange::Destination out = begin("json", flat.metric().label, "json", group);
    omnitrace::write_json_report(flat, tree, style_, process,
                                 [&](std::string_view piece) { out.write(piece); });
    out.finish();
    if (!style_.tree_json) return;
    exchange::Destination apart = begin("json", flat.metric().label, "tree.json", group);
    omnitrace::write_json_tree(flat, style_, process,
                               [&](std::string_view piece) { apart.write(piece); });
    apart.finish();
  }

  // Of the first process and of ranks; others have names that are new in each run.
  void write_difference(const omnitrace::MetricRows& rows,
                        const std::vector<std::size_t>& together) {
    const std::size_t group = together.front();
    if (!settings_.flag("OMNITRACE_FILE_OUTPUT") || (group != 0 && !rank_of(group))) return;
    std::vector<omnitrace::TextRow> now;
    for (std::size_t i = 0; i < rows.rows().rows.size(); ++i) {
      if (rows.rows().rows[i].depth < style_.max_depth) now.push_back(rows.text_row(i));
    }
    OmnitracePlace before = job_.before;
    before.suffix = place_of_group(group).suffix;
    std::vector<omnitrace::TextRow> changes;
    try {
      const fs::path file = earlier_report(before, rows.metric().label);
      changes = difference(now, read_report(file, rows.metric(), style_, rank_of(group)));
    } catch (const Error& error) {
      losses_.emplace_back(error.what());
      return;
    }
    std::erase_if(changes, [this](const auto& row) { return row.depth >= style_.max_depth; });
    omnitrace::TextForm form = omnitrace::text_form(rows.metric(), style_);
    form.difference = true;
    exchange::Destination text = begin("text", rows.metric().label, "diff.txt", group);
    omnitrace::write_text_report(
        form, changes.size(), [&](std::size_t i) { return changes[i]; },
        [&](std::string_view piece) { text.write(piece); });
    text.finish();
    exchange::Destination difference_file = begin("json", rows.metric().label, "diff.json", group);
    omnitrace::write_json_difference(rows, changes, style_, process_of(together),
                                     [&](std::string_view piece) { difference_file.write(piece); });
    difference_file.finish();
  }

  exchange::Destination begin(const std::string& kind, std::string_view metric,
                              std::string_view extension, std::size_t group) {
    const std::string name = file_name(place_of_group(group), metric, extension);
    files_[kind].emplace_back(metric, directory_.shown(name));
    tell(group, metric, "Outputting '" + directory_.shown(name) + "'");
    return open(name);
  }

  exchange::Destination open(const std::string& name) const {
    // A pipe or a device would be written to, too.
    if (!job_.replaces && directory_.holds(name)) {
      throw Error(directory_.shown(name) + " exists and is not replaced [TL716]");
    }
    return directory_.open(name, job_.replaces);
  }

  // ---- the rest

  void write_perfetto(RunSource& run) {
    const bool empty = std::ranges::all_of(definitions_->locations, [](const Location& location) {
      return location.event_count == 0;
    });
    if (empty) return;
    const std::string name = perfetto_file_name(job_.place), path = directory_.shown(name);
    exchange::Destination out = open(name);
    exchange::Options options;
    options.title = job_.run.string();
    options.threads = job_.threads;
    options.functions = "python";
    perfetto::kFormat.of_events(run, options, out);
    out.finish();
    const auto size = static_cast<double>(out.size());
    std::array<char, 100> sizes{};
    std::snprintf(sizes.data(), sizes.size(), "(%.2f KB / %.2f MB / %.2f GB)... Done", size / 1e3,
                  size / 1e6, size / 1e9);
    files_["protobuf"].emplace_back("perfetto", path);
    tell(0, "perfetto",
         "Outputting '" + fs::absolute(path).lexically_normal().string() + "' " + sizes.data());
  }

  void write_metadata() {
    if (!settings_.flag("OMNITRACE_FILE_OUTPUT")) return;
    const std::string name = file_name(job_.place, "metadata", "json");
    put(name, omnitrace_metadata(settings_, files_, *definitions_));
    std::string text = "Outputting '" + directory_.shown(name) + "'";
    for (const std::string& one : functions_) text += " and '" + one + "'";
    tell(0, "metadata", text);
  }

  // What the run has taken, and what it has taken to write its files.
  void tell_sums(RunSource& run) const {
    for (const std::string& line : sums_of_processes(run, style_, job_.threads)) {
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin_;
    const double cpu = static_cast<double>(std::clock() - cpu_begin_) / CLOCKS_PER_SEC;
    tell(0, "finalize", "Finalized: " + sum_of_finalizing(wall.count(), cpu, style_));
  }

  void put(const std::string& name, const std::string& text) const {
    exchange::Destination out = open(name);
    out.write(text);
    out.finish();
  }

  const OmnitraceJob& job_;
  const OmnitraceSettings& settings_;
  omnitrace::ReportStyle style_;
  const exchange::DestinationDirectory directory_;
  const Definitions* definitions_ = nullptr;
  WrittenFiles files_;
  std::vector<std::string> functions_;
  std::vector<std::string> losses_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::clock_t cpu_begin_ = std::clock();
};

}  // namespace

std::vector<std::string> write_omnitrace_files(const OmnitraceJob& job) {
  return FilesWriter(job).write();
}

}  // namespace timeloom::tools
