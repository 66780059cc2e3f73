// Words of the command line that make no sense, found where the parser of options does not look.
// Plain values and pure functions, for any thread.
#pragma once

#include <string>

#include "core/error.hpp"
#include "core/window.hpp"

namespace timeloom::tools {

// The program ends with kWrongUsage, where other errors end it with kFailed.
class WrongUsage : public Error {
 public:
  using Error::Error;
};

// Calls read(); an Error that it throws becomes WrongUsage.
template <typename Read>
auto from_words(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw WrongUsage(error.what());
  }
}

inline WindowPoint window_point_of(const std::string& text, const std::string& option) {
  return from_words([&] { return parse_window_point(text, option); });
}

}  // namespace timeloom::tools
