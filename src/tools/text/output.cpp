#include "tools/text/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/error.hpp"

namespace timeloom::tools {

namespace {
constexpr std::size_t kPiece = 1 << 16;
}

Output::Output(int descriptor) : descriptor_(descriptor) {
  // Here and not in main(): a program that `timeloom run` starts would inherit it.
  std::signal(SIGPIPE, SIG_IGN);
}

void Output::write(std::string_view text) {
  text_ += text;
  if (text_.size() >= kPiece) flush();
}

void Output::flush() {
  std::string_view rest = text_;
  while (!rest.empty() && !closed_) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      closed_ = true;
    } else if (errno != EINTR) {
      const std::string reason = std::strerror(errno);
      text_.clear();
      throw Error("cannot write to standard output: " + reason + " [TL423]");
    }
  }
  text_.clear();
}

int print(std::string_view text) {
  Output output;
  output.write(text);
  output.flush();
  return 0;
}

}  // namespace timeloom::tools
