#include "exchange/destination.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "exchange/format_text.hpp"
#include "exchange/gzip.hpp"
#include "exchange/leftovers.hpp"
#include "os/file.hpp"
#include "os/resolved_path.hpp"
#include "os/signals.hpp"

namespace timeloom::exchange {

namespace fs = std::filesystem;

namespace {

// The names of unfinished files, for a signal that ends the program. The signal handler takes no
// lock, so each name is written before it is counted.
struct Partial {
  std::atomic<bool> noted = false;
  int directory = -1;
  std::array<char, NAME_MAX + 1> name{};
};
constinit std::array<Partial, 8> g_partials{};
constinit std::mutex g_noting;

bool is_noted(const Partial& partial) noexcept { return partial.noted; }

void remove_partials(int) {
  for (const Partial& partial : g_partials)
    if (partial.noted) ::unlinkat(partial.directory, partial.name.data(), 0);
}

// A file with a longer name, or beyond the limit, stays when a signal ends the program.
void note_partial(const os::Directory& directory, const std::string& name) {
  const std::lock_guard lock(g_noting);
  const auto free = std::ranges::find_if_not(g_partials, is_noted);
  if (free == g_partials.end() || name.size() >= free->name.size()) return;
  std::memcpy(free->name.data(), name.c_str(), name.size() + 1);
  free->directory = directory.fd();
  free->noted = true;
  os::watch_fatal_signals(remove_partials);
}

void forget_partial(const os::Directory& directory, const std::string& name) {
  const std::lock_guard lock(g_noting);
  const auto noted = std::ranges::find_if(g_partials, [&](const Partial& partial) {
    return partial.noted && partial.directory == directory.fd() && name == partial.name.data();
  });
  if (noted != g_partials.end()) noted->noted = false;
  if (std::ranges::none_of(g_partials, is_noted)) os::unwatch_fatal_signals();
}

// The n-th temporary name of a file while it is written; exchange/leftovers.hpp recognizes these
// names.
std::string name_of_part(const std::string& name, int n) {
  return "." + name + "." + std::to_string(::getpid()) + (n > 0 ? "-" + std::to_string(n) : "") +
         ".part";
}

}  // namespace

Destination::Destination(const std::string& name, bool force, const std::string& shown)
    : path_(name),
      shown_(name == "-" ? "standard output" : one_line(shown.empty() ? name : shown)) {
  // write(2) reports readers that left and files at their limit (ulimit -f).
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  if (name != "-") open_file(force);
  if (name.ends_with(".gz")) compress();
}

// Another process may create a file where there was none.
void Destination::open_device() {
  descriptor_ = ::openat(directory_.fd(), name_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(errno);
  struct stat opened {};
  if (::fstat(descriptor_, &opened) != 0 || S_ISREG(opened.st_mode)) {
    throw Error(shown_ + " was replaced meanwhile; it was not written to [TL303]");
  }
}

// A link is not replaced; its target is.
void Destination::find_place() {
  os::ResolvedPath place = os::resolve_path(path_);
  if (!place.link.empty()) {
    throw Error((place.link == path_ ? shown_ : one_line(place.link)) +
                " is a link of another user; name another file with -o FILE [TL304]");
  }
  if (place.error != 0) fail(place.error);
  directory_ = std::move(place.directory);
  name_ = std::move(place.name);
}

void Destination::open_file(bool force) {
  find_place();
  struct stat present {};
  const bool there = ::fstatat(directory_.fd(), name_.c_str(), &present, 0) == 0;
  if (there && S_ISDIR(present.st_mode)) {
    throw Error(shown_ + " is a directory; name a file with -o FILE [TL305]");
  }
  if (there && !S_ISREG(present.st_mode)) return open_device();
  std::error_code unknown;
  replaces_ = force;
  if (!force && (there || fs::is_symlink(path_, unknown))) {
    throw Error(shown_ +
                " exists; name another file with -o FILE, or replace it with --force [TL306]");
  }
  remove_leftovers(directory_, name_);
  open_part();
}

// Other processes may have taken names that this process would use.
void Destination::open_part() {
  constexpr int kMost = 1000;
  int error = EEXIST;
  for (int n = 0; error == EEXIST && n < kMost; ++n) {
    const std::string partial = name_of_part(name_, n);
    note_partial(directory_, partial);  // first: a signal may come at any time
    os::File file = directory_.create_file(partial, &error);
    // Locked while it is written, so that other processes know that it is not left behind. A
    // process with the same number, in another container, may have taken it for left behind before.
    if (error == 0) static_cast<void>(::flock(file.fd(), LOCK_SH));
    if (error == 0 && !directory_.holds(partial, file)) error = EEXIST;
    if (error != 0) {
      forget_partial(directory_, partial);
      continue;
    }
    descriptor_ = file.release();
    partial_ = partial;
    is_file_ = true;
  }
  if (error != 0) fail(error);
}

Destination::~Destination() {
  if (descriptor_ > 1) ::close(descriptor_);
  if (!partial_.empty()) {
    directory_.remove_file(partial_);
    forget_partial(directory_, partial_);
  }
}

fs::path Destination::directory() const {
  const fs::path parent = path_.parent_path(), fixed = directory_.path_of_descriptor();
  if (!fixed.empty()) return fixed;
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
  // Some file systems report only here that there is no space.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  // A link, unlike a rename, never replaces a file that has taken the name meanwhile.
  if (!replaces_) {
    if (const int error = directory_.link(partial_, name_); error == EEXIST) {
      throw Error(shown_ + " exists meanwhile; it was not replaced [TL303]");
    } else if (error != 0) {
      replaces_ = true;  // a file system without links
    }
  }
  const int error = replaces_ ? directory_.rename(partial_, directory_, name_) : 0;
  if (error != 0) fail(error);
  if (!replaces_) directory_.remove_file(partial_);
  forget_partial(directory_, partial_);
  partial_.clear();
}

void Destination::fail(int error) const {
  throw Error("cannot write " + (path_ == "-" ? "to " : std::string()) + shown_ + ": " +
              std::strerror(error) + " [TL302]");
}

}  // namespace timeloom::exchange
