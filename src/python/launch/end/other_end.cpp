#include "python/launch/end/other_end.hpp"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

#include "core/ending.hpp"
#include "python/interpreter/print_line.hpp"
#include "record/measurement.hpp"
#include "record/this_process.hpp"

namespace timeloom::python {
namespace {

struct Line {
  pid_t process = 0;
  struct stat error_output {};
  std::string before;  // "timeloom: "
  std::string after;   // "; next: ..." with the end of the line
  std::atomic<bool> is_said = false;
};
Line* g_line = nullptr;  // lives as long as the process

bool error_output_is_the_same() noexcept {
  struct stat now {};
  return ::fstat(STDERR_FILENO, &now) == 0 && now.st_dev == g_line->error_output.st_dev &&
         now.st_ino == g_line->error_output.st_ino;
}

void write_line(std::string_view verb, std::string_view name) noexcept {
  const auto part = [](std::string_view text) {
    return iovec{const_cast<char*>(text.data()), text.size()};
  };
  const std::array parts = {part(g_line->before), part(verb), part(name), part(g_line->after)};
  (void)!::writev(STDERR_FILENO, parts.data(), parts.size());
}

// In a signal handler nothing may allocate: names of signals are so short that none does. Streams
// are not flushed, as such an end does not flush them either.
void print_end_line(Ending ending) {
  if (::getpid() != g_line->process || !error_output_is_the_same()) return;
  if (g_line->is_said.exchange(true)) return;
  switch (ending.kind) {
    case EndingKind::kExit:
      return write_line("ended by ", "os._exit(" + std::to_string(ending.value) + ")");
    case EndingKind::kSignal:
      return write_line("ended by ", record::signal_name(static_cast<int>(ending.value)));
    case EndingKind::kExec: return write_line("becomes another program ", "(exec)");
    case EndingKind::kCExit:  // these, noted by wrappers, and the next are told to nobody
    case EndingKind::kQuickExit:
    case EndingKind::kMpiAbort:
    case EndingKind::kRestricted:
    case EndingKind::kNone: break;
  }
}

}  // namespace

void print_at_other_ends(const std::string& next) {
  auto* const line = new Line;
  line->process = ::getpid();
  if (::fstat(STDERR_FILENO, &line->error_output) != 0) return delete line;
  line->before = line_start();
  line->after = "; " + next + "\n";
  g_line = line;
  record::tell_endings_to(print_end_line);
}

}  // namespace timeloom::python
