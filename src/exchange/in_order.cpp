#include "exchange/in_order.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace timeloom::exchange {

namespace {

namespace fs = std::filesystem;

// -1: not possible in this directory.
int unnamed_file_in(const fs::path& directory) {
  const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  // The file system does not support such files.
  std::string name = (directory / ".timeloom-XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

// Beside the file that is written, where there is room for it; for a pipe, in the directory for
// temporary files.
int unnamed_file(const Destination& out) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  int file = out.is_file() ? unnamed_file_in(out.directory()) : -1;
  if (file < 0) file = unnamed_file_in(error ? fs::path("/tmp") : temporary);
  if (file < 0) {
    throw Error("no place for data that is written later, neither beside the file nor in " +
                temporary.string() + ": " + std::strerror(errno) + "; set TMPDIR [TL307]");
  }
  return file;
}

[[noreturn]] void fail() {
  throw Error(std::string("cannot keep data that is written later: ") + std::strerror(errno) +
              " [TL307]");
}

}  // namespace

InOrder::InOrder(Destination& out, std::size_t locations, std::size_t skipped,
                 std::size_t most_held)
    : out_(out), skipped_(skipped), most_held_(most_held), parts_(locations) {}

InOrder::~InOrder() {
  if (file_ >= 0) ::close(file_);
}

void InOrder::write(std::size_t location, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (location == first_) return put(bytes);
  Part& part = parts_[location];
  part.held += bytes;
  held_ += bytes.size();
  if (held_ > most_held_) spill(part);
}

void InOrder::finish(std::size_t location) {
  const std::lock_guard lock(mutex_);
  parts_[location].finished = true;
  advance();
}

void InOrder::end() {
  const std::lock_guard lock(mutex_);
  for (Part& part : parts_) part.finished = true;
  advance();
}

// Writes the pieces that can be written now; the first unfinished location writes through from here
// on.
void InOrder::advance() {
  while (first_ < parts_.size() && parts_[first_].finished) {
    if (++first_ < parts_.size()) pass(parts_[first_]);
  }
}

void InOrder::put(std::string_view bytes) {
  const std::size_t skipped = std::min(skipped_, bytes.size());
  skipped_ -= skipped;
  out_.write(bytes.substr(skipped));
}

void InOrder::pass(Part& part) {
  std::string piece;
  for (auto [offset, size] : part.spilled) {
    while (size > 0) {
      piece.resize(std::min<std::uint64_t>(size, 1 << 20));
      const ssize_t got = ::pread(file_, piece.data(), piece.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail();
      put(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
      offset += static_cast<std::uint64_t>(got);
      size -= static_cast<std::uint64_t>(got);
    }
  }
  put(part.held);
  held_ -= part.held.size();
  part.held = {};
  part.spilled = {};
}

void InOrder::spill(Part& part) {
  if (file_ < 0) file_ = unnamed_file(out_);
  part.spilled.emplace_back(file_size_, part.held.size());
  for (std::string_view left = part.held; !left.empty();) {
    const ssize_t written =
        ::pwrite(file_, left.data(), left.size(), static_cast<off_t>(file_size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    file_size_ += static_cast<std::uint64_t>(written);
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  held_ -= part.held.size();
  part.held = {};
}

}  // namespace timeloom::exchange
