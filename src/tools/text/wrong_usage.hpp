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

// The window of --from and of the option that ends it. Throws WrongUsage.
inline Window window_of(const std::string& from, const std::string& until,
                        const std::string& until_option) {
  const Window window{window_point_of(from, "--from"), window_point_of(until, until_option)};
  using Kind = WindowPoint::Kind;
  const bool both = window.from.kind == Kind::kTime && window.until.kind == Kind::kTime;
  if (both && window.until.ns < window.from.ns) {
    throw WrongUsage(until_option + " is before --from [TL408]");
  }
  return window;
}

}  // namespace timeloom::tools
