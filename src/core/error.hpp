// Errors outside the event path. A plain value, like every exception: passed from
// thread to thread, but used by one at a time.
#pragma once

#include <stdexcept>
#include <string>

namespace timeloom {

// One line for the user: the problem and its remedy. Thrown outside the event path
// only; translated at the C ABI and at the border of the Python extension.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

// Measuring cannot start because of the machine (no space, no permission) and not because of the
// user's options: the program still runs.
class EnvironmentError : public Error {
 public:
  using Error::Error;
};

}  // namespace timeloom
