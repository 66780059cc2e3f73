// Text that XML takes: UTF-8 without control characters.
//
// Plain functions and a value that one thread uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace timeloom::cube {

// Length of the UTF-8 sequence at the beginning of the text; 0: none that XML takes.
std::size_t sequence_length(std::string_view text) noexcept;

// The stand-in for a byte that XML does not take: the picture of a control character
// (U+2401 and so on), so that names which differ in it stay apart, or else U+FFFD.
std::string replacement_of(char byte);

// Makes the text of other tools, which write such bytes as they are, into one that XML takes.
// Text in another encoding than UTF-8, which its first line would name, stays as it is.
class TextRepair {
 public:
  // The next piece of the text, good until the next call. A sequence that
  // the end of the piece cuts off comes with the next; the last piece is empty.
  std::string_view next(std::string_view piece);

 private:
  std::string held_;  // the begin of a sequence
  std::string text_;
  bool begun_ = false;
  bool off_ = false;
};

}  // namespace timeloom::cube
