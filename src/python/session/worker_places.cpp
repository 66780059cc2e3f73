#include "python/session/worker_places.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "core/error.hpp"
#include "os/file.hpp"
#include "python/observe/regions/engine_functions.hpp"
#include "run/contents.hpp"
#include "settings/workers_setting.hpp"

namespace timeloom::python {

constinit std::atomic<void (*)() noexcept> g_before_exit = nullptr;

namespace {

constexpr char kWorkerMarks[] = "workers";
constexpr std::uint64_t kMostWorkerMarks = 1 << 20;

// Appends a byte to a file that it makes if necessary, without following a link; returns the size
// of the file up to and including this byte. 0: it failed.
std::uint64_t append_mark(const os::File& file, char mark) noexcept {
  struct stat status {};
  const bool is_plain = file.is_open() && ::fstat(file.fd(), &status) == 0 &&
                        S_ISREG(status.st_mode) && status.st_nlink == 1;
  if (!is_plain || ::write(file.fd(), &mark, 1) != 1) return 0;
  const off_t end = ::lseek(file.fd(), 0, SEEK_CUR);
  return end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

os::File open_to_append(const KnownDirectory& spools, const std::string& name) {
  int error = 0;
  const os::Directory directory = spools.open(&error);
  if (!directory.is_open()) return {};
  constexpr int kFlags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  return os::File(::openat(directory.fd(), name.c_str(), kFlags, 0666));
}

// The number of this process among those with the same mark, from 1 on; 0: not known.
std::uint64_t number_of_place(const KnownDirectory& spools, char mark) {
  const os::File file = open_to_append(spools, kWorkerMarks);
  const std::uint64_t end = append_mark(file, mark);
  if (end == 0 || end > kMostWorkerMarks) return 0;
  std::uint64_t number = 0;
  std::array<std::byte, 4096> part;
  for (std::uint64_t at = 0; at < end;) {
    int error = 0;
    const std::size_t wanted = std::min<std::uint64_t>(part.size(), end - at);
    const std::size_t size = file.read_at(at, std::span(part).first(wanted), &error);
    if (size == 0 || error != 0) return 0;
    const auto found = std::count(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size),
                                  static_cast<std::byte>(mark));
    number += static_cast<std::uint64_t>(found);
    at += size;
  }
  return number;
}

bool is_within(std::uint64_t most, const KnownDirectory& spools) {
  if (most == 0) return false;
  const std::uint64_t number = number_of_place(spools, is_spark_worker() ? 's' : 'p');
  return number != 0 && number <= most;
}

}  // namespace

bool takes_place(const Settings& settings, const KnownDirectory& spools) {
  WorkerChoice choice;
  try {
    choice = worker_choice_of(settings);
  } catch (const Error&) {
    return true;  // somebody has changed the settings meanwhile
  }
  if (!choice.most || is_within(*choice.most, spools)) return true;
  note_left_out(spools);
  return false;
}

void note_sub_interpreters(const KnownDirectory& spools, std::uint64_t count) noexcept try {
  const os::File file =
      count == 0 ? os::File() : open_to_append(spools, run::name_of(run::Item::kUnmeasured));
  const std::uint64_t marks = std::min(count, kMostWorkerMarks);  // no more are read
  for (std::uint64_t i = 0; i < marks && append_mark(file, 'i') != 0;) ++i;
} catch (const std::bad_alloc&) {
  return;
}

void note_left_out(const KnownDirectory& spools) noexcept try {
  (void)append_mark(open_to_append(spools, run::name_of(run::Item::kUnmeasured)), 'w');
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace timeloom::python
