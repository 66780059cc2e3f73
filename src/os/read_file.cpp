#include "os/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "os/thread.hpp"

namespace timeloom::os {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const char* path) noexcept {
    do {
      fd_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (fd_ < 0 && errno == EINTR);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int number() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t most, int* error) {
  const NotCancelled whole;
  std::string text;
  *error = 0;
  const Descriptor file(path.c_str());
  if (file.number() < 0) *error = errno;
  std::array<char, 1 << 14> piece;
  while (*error == 0 && text.size() < most) {
    const std::size_t wanted = std::min(piece.size(), most - text.size());
    const ssize_t n = ::read(file.number(), piece.data(), wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) *error = errno;
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::string read_file(const std::string& path) {
  int ignored = 0;
  return read_file(path, std::numeric_limits<std::size_t>::max(), &ignored);
}

std::string_view read_file(const char* path, std::span<char> buffer) noexcept {
  const NotCancelled whole;
  const Descriptor file(path);
  std::size_t size = 0;
  while (file.number() >= 0 && size < buffer.size()) {
    const ssize_t n = ::read(file.number(), buffer.data() + size, buffer.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  return {buffer.data(), size};
}

std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

}  // namespace timeloom::os
