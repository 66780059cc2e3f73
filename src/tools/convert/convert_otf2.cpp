#include "tools/convert/convert_otf2.hpp"

#include <array>
#include <memory>
#include <system_error>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "tools/run/run_facts.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

void make_place(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::create_directory(directory, error)) return;
  if (!error && std::filesystem::is_empty(directory, error)) return;
  throw Error("cannot make the directory " + directory.string() + ": " +
              (error ? error.message() : "it has files already") +
              "; name another one with -o [TL485]");
}

}  // namespace

const exchange::Format kOtf2Format = {.name = "otf2",
                                      .suffix = "otf2",
                                      .opened_by = "timeloom, otf2-print, Vampir",
                                      .text = false,
                                      .directory = true};

std::vector<std::string> write_otf2(const ConvertJob& job, const std::filesystem::path& directory) {
  if (!weave::has_trace(job.run)) {
    throw Error(job.run.string() + " is a profile, which has no events for an OTF2 trace [TL411]");
  }
  const std::unique_ptr<RunSource> trace = weave::open_trace(weave::trace_of(job.run));
  make_place(directory);
  const std::unique_ptr<RunSink> archive = otf2::create(directory);
  const std::array<RunSink*, 1> sinks = {archive.get()};
  if (job.selection.everything()) {
    trace->replay(sinks, job.options.threads);
  } else {
    exchange::select(*trace, job.selection, job.options.threads)
        ->replay(sinks, job.options.threads);
  }
  return facts_of(trace->definitions()).losses;
}

}  // namespace timeloom::tools
