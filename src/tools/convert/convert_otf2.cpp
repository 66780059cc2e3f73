#include "tools/convert/convert_otf2.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "exchange/destination_directory.hpp"
#include "exchange/format_text.hpp"
#include "formats/otf2/otf2.hpp"
#include "run/open_directory.hpp"
#include "tools/convert/chosen_events.hpp"
#include "tools/door_tools.hpp"
#include "tools/run/run_facts.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"
#include "weave/trace/working_directory.hpp"

namespace timeloom::tools {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& directory, const std::string& why) {
  throw Error("cannot make the directory " + exchange::one_line(directory.string()) + ": " + why +
              "; name another one with -o [TL485]");
}

// Only a conversion that was interrupted has left something there.
bool is_free(const run::Directory& directory) {
  return std::ranges::all_of(directory.names(), [](const std::string& name) {
    return name == run::name_of(run::Item::kWorking);
  });
}

// Opens the directory, and makes it if there is none. Through a link of another user, or in a
// directory of one, the files of the archive could replace any file.
run::Directory open_place(const std::filesystem::path& path) {
  const os::ResolvedPath place = exchange::place_of_directory(path);
  int error = place.error;
  if (error == 0) error = place.directory.make_directory(place.name);
  if (error == EEXIST) error = 0;
  os::Directory opened = error == 0 ? place.open(&error) : os::Directory();
  if (error != 0) refuse(path, std::strerror(error));
  run::Directory directory(std::move(opened), path);
  if (directory.is_of_another_user()) refuse(path, "it belongs to another user");
  if (!is_free(directory)) refuse(path, "it has files already");
  if (!directory.try_lock()) refuse(path, "another process works on it");
  return directory;
}

void write_archive(bool samples, unsigned threads, RunSource& trace,
                   const std::filesystem::path& directory) {
  const auto calls = samples ? otf2::Calls::kCallingContexts : otf2::Calls::kRegions;
  const std::unique_ptr<RunSink> archive = otf2::create(directory, "traces", calls);
  const std::array<RunSink*, 1> sinks = {archive.get()};
  trace.replay(sinks, threads);
}

// The archive is written where nobody else can put a link in the place of its files.
void write_into(bool samples, unsigned threads, RunSource& trace, const run::Directory& directory) {
  const weave::WorkingDirectory working(directory);
  try {
    write_archive(samples, threads, trace, working.get().fixed_path());
    for (const run::Item item : weave::kTraceItems) {
      if (working.get().holds(item)) working.get().move(item, directory, item);
    }
  } catch (const Error& error) {
    throw weave::with_known_path(error, working.get());
  }
}

}  // namespace

const exchange::Format kOtf2Format = {.name = "otf2",
                                      .suffix = "otf2",
                                      .opened_by = "timeloom, otf2-print, Vampir",
                                      .text = false,
                                      .samples = true,
                                      .directory = true};

std::vector<std::string> write_otf2(const ConvertJob& job, const std::filesystem::path& directory) {
  if (!weave::has_trace(job.run)) {
    throw Error(job.run.string() + " is a profile, which has no events for an OTF2 trace [TL411]");
  }
  const std::string plain = job.options.samples ? plain_calls_note() : std::string();
  const bool samples = job.options.samples && plain.empty();
  ChosenEvents events(job.run, job.selection, samples, job.options.threads);
  try {
    write_into(samples, job.options.threads, events.source(), open_place(directory));
  } catch (const std::system_error& error) {
    refuse(directory, error.code().message());
  }
  std::vector<std::string> notes = facts_of(events.definitions()).losses;
  if (!plain.empty()) notes.push_back(plain);
  return notes;
}

}  // namespace timeloom::tools
