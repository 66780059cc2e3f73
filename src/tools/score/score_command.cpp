// `timeloom score PROFILE`, also called scorep-score: how large a trace would be.

#include <cstdio>
#include <filesystem>
#include <optional>

#include "core/error.hpp"
#include "core/samples/sampled_time.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/cube/score_profile.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_losses.hpp"
#include "tools/score/score_filter.hpp"
#include "tools/score/score_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

namespace {

namespace fs = std::filesystem;

int fail(const std::string& what) {
  std::fprintf(stderr, "ERROR: %s\n", printable(what).c_str());
  return kFailed;
}

// The profile that the last word of the command line means.
fs::path profile_named(const std::string& name) {
  std::error_code error;
  const bool is_file = fs::is_regular_file(name, error) && !weave::unfinished_run_of(name);
  const bool is_profile = fs::path(name).extension() == ".cubex" || !weave::run_of_entry(name);
  if (is_file && is_profile) return name;
  return weave::profile_of(open_run(name));
}

bool means_something(const std::string& name) {
  std::error_code error;
  return fs::exists(name, error) || weave::unfinished_run_of(name) || weave::run_of_entry(name);
}

std::optional<FilterFile> filter_named(const std::optional<std::string>& name) {
  if (!name) return {};
  return FilterFile::load(*name);
}

std::string advice(const fs::path& filter) {
  return formatted(
      "\nA filter file was written to {}.\n"
      "Read it, remove what you want to see, and measure with\n"
      "'SCOREP_FILTERING_FILE={}'.\n",
      printable(filter.string()), printable(filter.filename().string()));
}

int run_score(const ScoreOptions& options) {
  std::error_code error;
  if (!means_something(options.profile)) {
    std::string what = "Input file '" + options.profile + "' does not exist!";
    if (options.profile.starts_with('-')) what += " The profile must be the last argument.";
    return fail(what);
  }
  std::optional<FilterFile> filter;
  if (options.filter && !fs::exists(*options.filter, error)) {
    return fail("Failed to open '" + *options.filter + "'");
  }
  try {
    filter = filter_named(options.filter);
  } catch (const Error& wrong) {
    return fail(wrong.what());
  }
  profile::ScoreProfile profile;
  try {
    const fs::path file = profile_named(options.profile);
    const cube::Reader reader(file);
    profile = cube::score_profile(reader);
    if (!reader.cube().cnodes.empty()) {
      const Definitions definitions = definitions_beside(reader, fs::absolute(file).parent_path());
      profile.sampled_calls = has_sampled_calls(definitions);
      for (const Loss& loss : losses_of(definitions)) print_line(loss.text);
    }
  } catch (const Error& wrong) {
    return fail("Cannot open Cube report '" + options.profile + "': " + wrong.what());
  }
  if (options.generation && profile.sampled_calls) {
    return fail(options.profile +
                " has samples, from which a filter cannot be proposed; record it without "
                "--sampling [TL154]");
  }
  const profile::Score score =
      profile::score(profile, options.counters, filter ? &*filter : nullptr);
  std::string text = score_text(profile, score, options);
  if (options.generation) {
    const std::string proposal = proposed_filter(profile, score, options);
    text += advice(write_filter(".", options, proposal));
  }
  return print(text);
}

}  // namespace

Command register_score(CLI::App& program) {
  const CommandOptions known(
      program, "score", "Estimate the size of a trace, and propose a filter (as scorep-score)");
  const auto run = [](const std::vector<std::string>& words) {
    try {
      const ScoreOptions options = parse_score_options(words);
      return options.help ? print(score_help()) : run_score(options);
    } catch (const ScoreUsage& wrong) {
      return fail(wrong.what());
    }
  };
  return {known.app(), [run] { return run({}); }, run};
}

}  // namespace timeloom::tools
