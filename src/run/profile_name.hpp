// The name of the profile's file where the user has chosen another than that of the
// table. An immutable value, for any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace timeloom::run {

class ProfileName {
 public:
  // Makes `base`.cubex of a base name. None: it is empty or too long, begins with a dot,
  // or has a slash or a control character in it, so that it would not be a file of the run
  // whose name can be shown.
  static std::optional<ProfileName> of(std::string_view base);

  const std::string& file() const noexcept { return file_; }

 private:
  explicit ProfileName(std::string file) : file_(std::move(file)) {}

  std::string file_;
};

}  // namespace timeloom::run
