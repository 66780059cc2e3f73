#include "run/profile_name.hpp"

#include <algorithm>

namespace timeloom::run {

std::optional<ProfileName> ProfileName::of(std::string_view base) {
  constexpr std::string_view kExtension = ".cubex";
  constexpr std::size_t kLongest = 255;  // of a name, in most file systems
  const auto is_refused = [](unsigned char c) { return c == '/' || c < ' ' || c == 0x7f; };
  if (base.empty() || base.front() == '.' || base.size() + kExtension.size() > kLongest ||
      std::ranges::any_of(base, is_refused)) {
    return std::nullopt;
  }
  return ProfileName(std::string(base) + std::string(kExtension));
}

}  // namespace timeloom::run
