#include "tools/run_files.hpp"

#include <algorithm>
#include <system_error>

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

struct Known {
  std::string_view name;  // "*.ext" matches an extension
  std::string_view what;
  std::string_view opened_by;
};

constexpr Known kKnown[] = {
    {"scorep.cfg", "settings used", "any editor"},
    {"MANIFEST.md", "what each file is", "any editor"},
    {"spool/", "recorded data, not woven yet", "timeloom weave"},
    {"*.otf2", "OTF2 trace", "timeloom, otf2-print, Vampir"},
    {"*.def", "definitions of the OTF2 trace", ""},
    {"traces/", "events of the OTF2 trace", ""},
    {"*.cubex", "CUBE profile", "timeloom, Cube"},
};

bool matches(const Known& known, std::string_view name) {
  if (!known.name.starts_with("*")) return known.name == name;
  return name.ends_with(known.name.substr(1));
}

void add_size(const fs::directory_entry& entry, RunFile& file) {
  std::error_code error;
  if (!entry.is_directory(error)) {
    const auto size = entry.file_size(error);
    if (!error) file.bytes += size;
    return;
  }
  file.name += '/';
  file.files = 0;
  fs::recursive_directory_iterator below(entry.path(),
                                         fs::directory_options::skip_permission_denied, error);
  for (; !error && below != fs::recursive_directory_iterator(); below.increment(error)) {
    std::error_code gone;
    const auto size = below->is_regular_file(gone) ? below->file_size(gone) : 0;
    if (!gone && below->is_regular_file(gone)) {
      file.bytes += size;
      ++file.files;
    }
  }
}

}  // namespace

std::vector<RunFile> files_of(const fs::path& run) {
  std::vector<RunFile> files;
  std::error_code error;
  fs::directory_iterator entries(run, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    RunFile file;
    file.name = entries->path().filename().string();
    add_size(*entries, file);
    for (const Known& known : kKnown) {
      if (!matches(known, file.name)) continue;
      file.what = known.what;
      file.opened_by = known.opened_by;
      break;
    }
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const RunFile& a, const RunFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace timeloom::tools
