// The files of Omnitrace that a run gets, and their places: by the settings of the run and by the
// environment.
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/text/message_id.hpp"
#include "doors/omnitrace/tools/omnitrace_files.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

// The words with which a run was started, where it was recorded through another door.
OmnitraceFacts facts_from(const Definitions& definitions) {
  OmnitraceFacts facts = facts_of_this_process({}, environ);
  facts.rank.reset();  // of this command, not of the program
  facts.launch = static_cast<std::time_t>(definitions.clock.realtime.value_or(0) / 1'000'000'000);
  if (definitions.groups.empty()) return facts;
  facts.command = definitions.groups.front().arguments;
  facts.process = definitions.groups.front().process_id;
  return facts;
}

std::string property_of(const Definitions& definitions, const char* name) {
  const auto found = definitions.properties.find(name);
  return found == definitions.properties.end() ? std::string() : found->second;
}

// The directory of the run, from the current one where it lies below.
std::string beside(const fs::path& run) {
  const fs::path directory = fs::absolute(run).lexically_normal().parent_path();
  const fs::path here = directory.lexically_proximate(fs::current_path());
  return here.empty() || *here.begin() == ".." ? directory.string() : here.string();
}

// Where earlier reports are; `from`: what relative paths are relative to.
OmnitracePlace place_before(const OmnitraceSettings& settings, const OmnitraceFacts& facts,
                            const fs::path& from) {
  OmnitraceSettings of_input = settings;
  const auto set = [&](const char* name, const std::string& value) {
    of_input.set(name, value, name);
  };
  set("OMNITRACE_OUTPUT_PATH", settings.text("OMNITRACE_INPUT_PATH"));
  set("OMNITRACE_OUTPUT_PREFIX", settings.text("OMNITRACE_INPUT_PREFIX"));
  set("OMNITRACE_TIME_OUTPUT", "OFF");
  OmnitracePlace place = place_of(of_input, facts);
  place.directory = (from / place.directory).lexically_normal().string();
  return place;
}

// Names new files beside the run, and has other places and earlier reports only where the user of
// this command asks.
void name_files_of_environment(OmnitraceJob& job, const OmnitraceFacts& facts) {
  const OmnitraceSettings now(environ);
  job.replaces = false;
  job.place.prefix = fs::path(job.place.prefix).filename().string();
  const fs::path asked = place_of(now, facts).perfetto;
  if (!asked.is_absolute() || asked != job.place.perfetto) {
    job.place.perfetto = fs::path(job.place.perfetto).stem().string() + ".proto";
  }
  job.before = place_before(now, facts, fs::current_path());
  if (!now.flag("OMNITRACE_DIFF_OUTPUT")) {
    job.settings.set("OMNITRACE_DIFF_OUTPUT", "OFF", "of the run");
  }
}

void refuse_profile(const fs::path& run) {
  if (weave::has_trace(run)) return;
  throw Error(run.string() +
              " is a profile, which has no times of events, and the reports of Omnitrace need a "
              "trace; a profile becomes csv, json, collapsed and others [TL411]");
}

}  // namespace

OmnitraceJob omnitrace_job(const fs::path& run, const std::optional<std::string>& directory) {
  refuse_profile(run);
  const Definitions definitions = weave::open_trace(weave::trace_of(run))->definitions();
  OmnitraceJob job;
  job.run = run;
  const std::string recorded = property_of(definitions, kOmnitraceProperty);
  const OmnitraceSettings now(environ);
  for (const std::string& note : now.notes()) print_line(note);
  job.settings = OmnitraceSettings::from_text(recorded + now.as_text());
  const bool chosen =
      job.settings.given("OMNITRACE_TRACE") || job.settings.given("OMNITRACE_PROFILE");
  if (!chosen) {  // of a run of another door, all that there is
    job.settings.set("OMNITRACE_TRACE", "ON", "default");
    job.settings.set("OMNITRACE_PROFILE", "ON", "default");
  }
  for (const std::string& unmet : unmet_requests(job.settings)) print_line(unmet);
  // A run may come from anybody: it chooses the form of reports, never where files go.
  job.place = place_of(now, facts_from(definitions));
  job.before = place_before(now, facts_from(definitions), fs::current_path());
  if (directory) job.place.directory = *directory;
  return job;
}

void write_files_beside(const fs::path& run, bool own) {
  if (!weave::has_trace(run)) return;
  try {
    const Definitions definitions = weave::open_trace(weave::trace_of(run))->definitions();
    OmnitraceJob job;
    job.run = run;
    job.settings = OmnitraceSettings::from_text(property_of(definitions, kOmnitraceProperty));
    const std::string names = property_of(definitions, kOmnitraceNamesProperty);
    job.place =
        names.empty() ? place_of(job.settings, facts_from(definitions)) : place_from_text(names);
    job.place.directory = beside(run);
    if (own) {
      job.before = place_before(job.settings, facts_from(definitions),
                                property_of(definitions, kProgramDirectory));
    } else {
      name_files_of_environment(job, facts_from(definitions));
    }
    job.threads = std::max(1u, std::thread::hardware_concurrency());
    if (const std::string note = make_place(job.place, own); !note.empty()) print_line(note);
    for (const std::string& loss : write_omnitrace_files(job)) print_line(loss);
  } catch (const Error& error) {
    print_line("the files of Omnitrace could not be written: " +
               std::string(without_id(error.what())) + " [TL720]");
  }
}

}  // namespace timeloom::tools
