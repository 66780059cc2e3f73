// Text that XML accepts: UTF-8 without control characters.
//
// Plain functions, and a value that one thread uses. Throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace timeloom::cube {

// Length of the UTF-8 sequence at the start of the text; 0: none that XML accepts.
std::size_t sequence_length(std::string_view text) noexcept;

// The replacement for a byte that XML does not accept: the picture of a control character (U+2401
// and so on), so that names which differ in it stay different; otherwise U+FFFD.
std::string replacement_of(char byte);

// Repairs the text of tools that write such bytes unchanged. A text whose first line names an
// encoding other than UTF-8 stays as it is.
class TextRepair {
 public:
  // The next piece of the text, valid until the next call. A sequence that is cut off at the end of
  // the piece comes with the next one; the last piece is empty.
  std::string_view next(std::string_view piece);

 private:
  std::string held_;  // the start of a sequence
  std::string text_;
  bool begun_ = false;
  bool off_ = false;
};

}  // namespace timeloom::cube
