#include "run/profile_name.hpp"

namespace timeloom::run {

std::optional<ProfileName> ProfileName::of(std::string_view base) {
  constexpr std::string_view kExtension = ".cubex";
  constexpr std::size_t kLongest = 255;  // of a name, in most file systems
  constexpr std::string_view kSeparators("/\0", 2);
  if (base.empty() || base.front() == '.' || base.size() + kExtension.size() > kLongest ||
      base.find_first_of(kSeparators) != std::string_view::npos) {
    return std::nullopt;
  }
  return ProfileName(std::string(base) + std::string(kExtension));
}

}  // namespace timeloom::run
