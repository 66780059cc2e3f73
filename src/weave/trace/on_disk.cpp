#include "weave/trace/on_disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "os/directory.hpp"
#include "os/file.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kNew{5};
// Disks and file systems make several files safe in little more time than one.
constexpr std::size_t kAtOnce = 8;
// For more files than this everything on the file system is written, also files of others.
constexpr std::size_t kManyFiles = 256;

// 0: it is safe, or the file system knows nothing better.
int sync_of(const std::string& path) noexcept {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno;
  int error = ::fsync(fd) == 0 ? 0 : errno;
  if (error == EINVAL || error == ENOTSUP || error == ENOSYS || error == EROFS) error = 0;
  ::close(fd);
  return error;
}

int sync_each(const std::vector<std::string>& paths) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failure = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      if (const int error = sync_of(paths[i]); error != 0) failure = error;
    }
  };
  std::vector<std::thread> threads;
  try {
    while (threads.size() + 1 < std::min(kAtOnce, paths.size())) threads.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads
  }
  work();
  for (std::thread& thread : threads) thread.join();
  return failure;
}

int sync_file_system(const fs::path& directory) noexcept {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error = ::syncfs(fd) == 0 ? 0 : errno;
  ::close(fd);
  return error;
}

}  // namespace

bool is_worth_a_sync(const run::Directory& run) {
  // Written at the start, and never changed.
  const os::File settings = run.open_file(run::Item::kSettings);
  const auto changed = settings.is_open() ? settings.changed_ns() : std::nullopt;
  if (!changed) return true;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = now - std::chrono::nanoseconds(*changed);
  return age >= kNew || age < age.zero();  // the clock was set back, or is another host's
}

void bring_to_disk(const run::Directory& results) {
  const fs::path top = results.fixed_path();
  std::vector<std::string> paths{(top / ".").string()};
  for (const auto& entry : fs::recursive_directory_iterator(top / ".")) {
    if (entry.is_regular_file() || entry.is_directory()) paths.push_back(entry.path().string());
  }
  const int error = paths.size() > kManyFiles ? sync_file_system(top / ".") : sync_each(paths);
  if (error != 0) throw std::system_error(error, std::generic_category());
}

}  // namespace timeloom::weave
