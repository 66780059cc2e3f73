// What the door Omnitrace adds to the program: its format, and its files beside a run.
#include "core/text/shell_word.hpp"
#include "doors/omnitrace/format/omnitrace.hpp"
#include "doors/omnitrace/tools/omnitrace_files.hpp"
#include "tools/door_tools.hpp"
#include "tools/run/open_run.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

namespace {

constexpr const exchange::Format* kFormats[] = {&omnitrace::kFormat};

// The OMNITRACE_ variables choose the names.
void fill_directory(const ConvertJob& made, const std::optional<std::string>& directory) {
  OmnitraceJob job = omnitrace_job(made.run, directory);
  job.selection = made.selection;
  job.threads = made.options.threads;
  if (const std::string note = make_place(job.place); !note.empty()) print_line(note);
  for (const std::string& loss : write_omnitrace_files(job))
    print_line(made.run.string() + ": " + loss);
}

// The run may come from anybody, and what it names would lie outside of it.
std::string files_note(const std::filesystem::path& run) {
  if (!weave::has_trace(run)) return {};
  return "its files of Omnitrace are made by timeloom convert " + shell_word(run.string()) +
         " --to omnitrace [TL719]";
}

}  // namespace

extern const DoorTools kOmnitraceTools;
const DoorTools kOmnitraceTools{.layout = kOmnitraceLayoutName,
                                .formats = kFormats,
                                .fill_directory = fill_directory,
                                .after_weave = write_files_beside,
                                .files_note = files_note};

}  // namespace timeloom::tools
