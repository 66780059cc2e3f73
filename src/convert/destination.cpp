#include "convert/destination.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "convert/gzip.hpp"
#include "convert/leftovers.hpp"
#include "convert/text.hpp"
#include "core/error.hpp"
#include "os/signals.hpp"

namespace timeloom::convert {

namespace fs = std::filesystem;

namespace {

// The names of unfinished files, for a signal that ends the program. Its handler takes no lock, so
// a name is written before it counts.
struct Partial {
  std::atomic<bool> noted = false;
  std::array<char, 4096> path{};
};
constinit std::array<Partial, 8> g_partials{};
constinit std::mutex g_noting;

bool is_noted(const Partial& partial) noexcept { return partial.noted; }

void remove_partials(int) {
  for (const Partial& partial : g_partials)
    if (partial.noted) ::unlink(partial.path.data());
}

// A path that is longer, or one too many, stays when a signal ends the program.
void note_partial(const std::string& path) {
  const std::lock_guard lock(g_noting);
  const auto free = std::ranges::find_if_not(g_partials, is_noted);
  if (free == g_partials.end() || path.size() >= free->path.size()) return;
  std::memcpy(free->path.data(), path.c_str(), path.size() + 1);
  free->noted = true;
  os::watch_fatal_signals(remove_partials);
}

void forget_partial(const std::string& path) {
  const std::lock_guard lock(g_noting);
  const auto noted = std::ranges::find_if(g_partials, [&](const Partial& partial) {
    return partial.noted && path == partial.path.data();
  });
  if (noted != g_partials.end()) noted->noted = false;
  if (std::ranges::none_of(g_partials, is_noted)) os::unwatch_fatal_signals();
}

}  // namespace

Destination::Destination(const std::string& name, bool force)
    : path_(name), shown_(name == "-" ? "standard output" : one_line(name)) {
  // A reader that leaves, and a file at its limit (ulimit -f), are told by write(2).
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (name != "-") open_file(force);
  if (name.ends_with(".gz")) compress();
}

void Destination::open_file(bool force) {
  struct stat present {};
  const bool there = ::stat(path_.c_str(), &present) == 0;
  if (there && S_ISDIR(present.st_mode)) {
    throw Error(shown_ + " is a directory; name a file with -o FILE");
  }
  if (there && !S_ISREG(present.st_mode)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  std::error_code unknown;
  replaces_ = force;
  if (!force && (there || fs::is_symlink(path_, unknown))) {
    throw Error(shown_ + " exists; name another file with -o FILE, or replace it with --force");
  }
  // A link is not replaced by a file: what it leads to is.
  if (there && fs::is_symlink(path_, unknown)) path_ = fs::canonical(path_, unknown);
  const std::string hidden =
      "." + path_.filename().string() + "." + std::to_string(::getpid()) + ".part";
  partial_ = (path_.parent_path() / hidden).string();
  remove_leftovers(path_);
  note_partial(partial_);  // first: a signal may come at any time
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int error = errno;
    forget_partial(partial_);
    partial_.clear();
    fail(error);
  }
  // For as long as it is written: another process can tell that it has not been left behind.
  static_cast<void>(::flock(descriptor_, LOCK_SH));
  is_file_ = true;
}

Destination::~Destination() {
  if (descriptor_ > 1) ::close(descriptor_);
  if (!partial_.empty()) {
    ::unlink(partial_.c_str());
    forget_partial(partial_);
  }
}

fs::path Destination::directory() const {
  const fs::path parent = path_.parent_path();
  return parent.empty() ? "." : parent;
}

bool Destination::is_terminal() const noexcept { return ::isatty(descriptor_) == 1; }

void Destination::compress() {
  if (!gzip_) gzip_ = std::make_unique<Gzip>();
}

void Destination::write(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!gzip_) return put(bytes);
  constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts with 32 bits
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kMost, bytes.size()))) {
    gzip_->add(bytes.substr(0, kMost), Z_NO_FLUSH, [this](std::string_view out) { put(out); });
  }
}

void Destination::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      size_ += static_cast<std::uint64_t>(written);
    } else if (errno == EPIPE) {
      throw ReaderGone{};
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void Destination::finish() {
  if (gzip_) gzip_->add({}, Z_FINISH, [this](std::string_view out) { put(out); });
  if (!is_file_) return;
  // Some file systems say only now that there is no space.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  // A link, other than a rename, never replaces what has got the name meanwhile.
  if (!replaces_ && ::link(partial_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) throw Error(shown_ + " exists meanwhile; it was not replaced");
    replaces_ = true;  // a file system without links
  }
  if (replaces_ && ::rename(partial_.c_str(), path_.c_str()) != 0) fail(errno);
  if (!replaces_) ::unlink(partial_.c_str());
  forget_partial(partial_);
  partial_.clear();
}

void Destination::fail(int error) const {
  throw Error("cannot write " + (path_ == "-" ? "to " : std::string()) + shown_ + ": " +
              std::strerror(error));
}

}  // namespace timeloom::convert
