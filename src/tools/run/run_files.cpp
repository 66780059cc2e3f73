#include "tools/run/run_files.hpp"

#include <algorithm>
#include <system_error>

#include "run/contents.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

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
    std::error_code none;
    const auto kind = entries->is_directory(none) ? run::Kind::kDirectory : run::Kind::kFile;
    if (const run::Entry* entry = run::find_entry(file.name, kind)) {
      file.what = entry->title;
      file.opened_by = entry->opened_by;
    }
    add_size(*entries, file);
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const RunFile& a, const RunFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace timeloom::tools
