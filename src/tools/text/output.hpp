// Standard output of a command.
//
// Collects text and writes it in large pieces. A reader that has seen enough
// (`timeloom report | head`) is not an error: from then on nothing is written.
// Used by one thread. Throws Error when writing fails for any other reason.
#pragma once

#include <string>
#include <string_view>

namespace timeloom::tools {

class Output {
 public:
  explicit Output(int descriptor = 1);

  void write(std::string_view text);
  // Writes the collected text. REQUIRED at the end: the destructor does not write.
  void flush();
  // True when the reader of a pipe is gone, so that the rest need not be made.
  bool closed() const noexcept { return closed_; }

 private:
  int descriptor_;
  std::string text_;
  bool closed_ = false;
};

// Writes a whole text. Returns kDone of commands.hpp.
int print(std::string_view text);

}  // namespace timeloom::tools
