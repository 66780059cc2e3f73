#include "os/call_filters.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace timeloom::os {
namespace {

// The number that follows the name in a text like /proc/self/status; 0: there is none.
std::uint64_t number_after(std::string_view text, std::string_view name) noexcept {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  const std::size_t digits = text.find_first_not_of(" \t", at + name.size());
  std::uint64_t number = 0;
  if (digits != std::string_view::npos) {
    std::from_chars(text.data() + digits, text.data() + text.size(), number);
  }
  return number;
}

}  // namespace

// Linux counts filters since 5.9; older kernels only tell whether there are any.
std::uint64_t CallFilters::count() const noexcept {
  char text[4096];
  const ssize_t size = ::read(status_.fd(), text, sizeof text);
  if (size <= 0) return 0;
  const std::string_view all(text, static_cast<std::size_t>(size));
  const std::uint64_t filters = number_after(all, "\nSeccomp_filters:");
  return filters != 0 ? filters : number_after(all, "\nSeccomp:");
}

void CallFilters::watch() noexcept {
  *this = {};
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  int ignored = 0;
  status_ = File::copy_of(file, &ignored);
  ::close(file);
  before_ = count();
  read_again();
}

// The text is made anew when it is read from its start.
void CallFilters::read_again() noexcept { (void)::lseek(status_.fd(), 0, SEEK_SET); }

bool CallFilters::added() noexcept {
  if (!added_ && status_.is_open() && status_.is_ours()) {
    added_ = count() > before_;
    if (!added_) read_again();
  }
  return added_;
}

}  // namespace timeloom::os
