// `timeloom convert RUN --to FORMAT`: take a run to another tool.

#include <algorithm>
#include <map>
#include <memory>
#include <thread>

#include "core/error.hpp"
#include "core/text/joined.hpp"
#include "exchange/limited_depth.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/convert/convert_formats.hpp"
#include "tools/convert/convert_otf2.hpp"
#include "tools/convert/convert_run.hpp"
#include "tools/door_tools.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"

namespace timeloom::tools {

namespace {

struct ConvertOptions {
  std::optional<std::string> run;
  std::optional<const exchange::Format*> format;
  std::string output;
  std::string from;
  std::string until;
  std::string before;
  bool force = false;
  bool events = false;
  bool paths = false;
  bool flat = false;
  bool samples = false;
  std::optional<exchange::Weight> weight;
  exchange::Selection selection;
};

// Empty: the command line makes sense.
std::string wrong_conversion(const ConvertOptions& options) {
  if (!options.format) return "--to FORMAT is missing";
  if (options.events + options.paths + options.flat > 1) {
    return "--events, --paths and --flat are different tables; choose one";
  }
  if (options.samples && !options.before.empty()) {
    return "--before compares calls, and --samples holds none; choose one";
  }
  if (options.weight && !(*options.format)->weights) {
    return "--weight goes with collapsed; others hold all of them";
  }
  return {};
}

Content content_of(const ConvertOptions& options) {
  if (options.events) return Content::kEvents;
  if (options.paths) return Content::kPaths;
  return options.flat ? Content::kFlat : Content::kAny;
}

// In the current directory, by the name of the run.
std::string default_name(const std::filesystem::path& run, const exchange::Format& format) {
  const std::filesystem::path full = std::filesystem::absolute(run).lexically_normal();
  std::filesystem::path name =
      full.has_filename() ? full.filename() : full.parent_path().filename();
  // The name of a bare archive or profile, without its ending.
  if (name.extension() == ".otf2" || name.extension() == ".packed" ||
      name.extension() == ".cubex") {
    name = name.stem();
  }
  return name.string() + "." + std::string(format.suffix);
}

ConvertJob job_of(const ConvertOptions& options, const std::filesystem::path& run) {
  ConvertJob job;
  job.format = *options.format;
  job.run = run;
  job.content = content_of(options);
  job.selection = options.selection;
  job.selection.window = window_of(options.from, options.until, "--until");
  job.options.title = run.string();
  job.options.creator = "timeloom " TIMELOOM_VERSION;
  job.options.threads = std::max(1u, std::thread::hardware_concurrency());
  job.options.samples = options.samples;
  job.options.flat = job.content == Content::kFlat;
  job.options.weight = options.weight.value_or(exchange::Weight::kTime);
  return job;
}

void tell(const ConvertJob& job, const std::string& name, const exchange::Destination& out,
          const std::vector<std::string>& losses) {
  for (const std::string& loss : losses) print_line(job.run.string() + ": " + loss);
  if (!out.is_file()) return;
  std::string line = "wrote " + name + ", " + bytes(out.size());
  if (!job.format->opened_by.empty()) line += ", opened by " + std::string(job.format->opened_by);
  // 789,052 events: 96.2 MB, and 13.6 MB in Perfetto's own format.
  constexpr std::uint64_t kLarge = 32 << 20;
  if (job.format->name == "chrome" && out.size() > kLarge) {
    line += "; --to perfetto writes the same calls in about a seventh of that";
  }
  print_line(line);
}

// In the current directory, by the name of the run.
int make_archive(const ConvertOptions& options, const ConvertJob& job) {
  const std::filesystem::path named = default_name(job.run, *job.format);
  const std::string name =
      options.output.empty() ? named.stem().string() + "-otf2" : options.output;
  for (const std::string& loss : write_otf2(job, name)) {
    print_line(job.run.string() + ": " + loss);
  }
  const std::string line =
      "wrote " + name + "/traces.otf2, opened by " + std::string(job.format->opened_by);
  print_line(line);
  return kDone;
}

void refuse_samples(const ConvertJob& job) {
  if (!job.options.samples || job.format->samples) return;
  throw WrongUsage(std::string(job.format->name) +
                   " holds no samples; leave out --samples [TL727]");
}

// Several files in a directory.
int fill_directory(const ConvertOptions& options, const ConvertJob& made) {
  if (options.events || options.paths || options.flat || !options.before.empty()) {
    throw WrongUsage(std::string(made.format->name) +
                     " holds both; leave out --events, --paths, --flat and --before [TL409]");
  }
  refuse_samples(made);
  if (made.format == &kOtf2Format) return make_archive(options, made);
  door_of_format(*made.format)
      ->fill_directory(made, options.output.empty() ? std::nullopt : std::optional(options.output));
  return kDone;
}

int run_convert(const ConvertOptions& options) {
  if (const std::string wrong = wrong_conversion(options); !wrong.empty()) {
    print_line(wrong + "; see 'timeloom convert --help' [TL401]");
    return kWrongUsage;
  }
  const std::filesystem::path run = open_run(options.run);
  ConvertJob job = job_of(options, run);
  if (job.format->directory) return fill_directory(options, job);
  check_job(job, !options.before.empty());
  const std::string name = options.output.empty() ? default_name(run, *job.format) : options.output;
  exchange::Destination out(name, options.force);
  if (!job.format->text && out.is_terminal()) {
    throw Error(std::string(job.format->name) +
                " is not for a terminal; name a file with -o FILE [TL410]");
  }
  profile::CallTree before;
  if (!options.before.empty()) {
    before = chosen_paths(open_run(options.before), job.selection, job.options.threads);
    if (job.format->whole_stacks) exchange::limit_depth(before);
    job.options.before = &before;
  }
  try {
    const std::vector<std::string> losses = convert_run(job, out);
    out.finish();
    tell(job, name, out, losses);
  } catch (const exchange::ReaderGone&) {
    // It has seen enough.
  }
  return kDone;
}

std::map<std::string, const exchange::Format*> formats_by_name() {
  std::map<std::string, const exchange::Format*> formats;
  for (const exchange::Format* format : convert_formats())
    formats[std::string(format->name)] = format;
  return formats;
}

std::string help_of_formats() {
  return joined(convert_formats(), ", ", [](const auto* format) { return format->name; });
}

// The formats whose output is a directory, as the end of a sentence.
std::string directories_text() {
  std::string text;
  for (const exchange::Format* format : convert_formats()) {
    if (format->directory) text += (text.empty() ? "; of " : ", ") + std::string(format->name);
  }
  return text.empty() ? text : text + " a directory";
}

}  // namespace

Command register_convert(CLI::App& program) {
  const auto options = std::make_shared<ConvertOptions>();
  CommandOptions known(program, "convert", "Write a run in the format of another tool");
  known.run(options->run);
  static const std::map<std::string, const exchange::Format*> kNames = formats_by_name();
  known.choice("--to", options->format, kNames, help_of_formats());
  known.text("-o,--output", "FILE", options->output,
             "File to write, - for standard output, NAME.gz for gzip (default: by the run's name)" +
                 directories_text());
  known.flag("--force", options->force, "Replace a file that exists");
  known.text("--from", "WHEN", options->from,
             "Leave out events before this time (2.5s), or before this region");
  known.text("--until", "WHEN", options->until,
             "Leave out events after this time, or after this region");
  known.texts("--thread", "NAME", options->selection.threads,
              "Only this thread: its name or id; can be repeated");
  known.flag("--only-my-code", options->selection.only_my_code,
             "Leave out Python's library and installed packages");
  known.flag("--events", options->events, "Every event, of formats that can hold call paths");
  known.flag("--paths", options->paths, "Call paths, of formats that can hold events");
  known.flag("--flat", options->flat, "One row per region (csv, json, arrow)");
  known.flag("--samples", options->samples,
             "Samples of CPU time as samples, with functions of libraries");
  static const std::map<std::string, exchange::Weight> kWeights = {
      {"time", exchange::Weight::kTime},           {"visits", exchange::Weight::kVisits},
      {"work", exchange::Weight::kWork},           {"waiting", exchange::Weight::kWaiting},
      {"allocated", exchange::Weight::kAllocated}, {"peak", exchange::Weight::kHeldAtPeak},
      {"held", exchange::Weight::kHeldAtEnd}};
  known.choice(
      "--weight", options->weight, kWeights,
      "time (default), visits, work, waiting, or bytes: allocated, peak, held (collapsed)");
  known.text("--before", "RUN", options->before, "Compare with an earlier run (collapsed)");
  return {known.app(), [options] { return run_convert(*options); }};
}

}  // namespace timeloom::tools
