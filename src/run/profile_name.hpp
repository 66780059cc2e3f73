// The name of the profile's file, if the user has chosen another one than the table's. An
// immutable value, for any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace timeloom::run {

class ProfileName {
 public:
  // Makes `base`.cubex from a base name. None: the base is empty or too long, starts with a
  // dot, or contains a slash or a control character, so that it would not name a file of the
  // run, or not one that can be shown.
  static std::optional<ProfileName> of(std::string_view base);

  const std::string& file() const noexcept { return file_; }

 private:
  explicit ProfileName(std::string file) : file_(std::move(file)) {}

  std::string file_;
};

}  // namespace timeloom::run
