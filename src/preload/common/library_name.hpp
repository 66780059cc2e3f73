// The name of a library without its directory, version and checksum. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace timeloom::preload {

// "libgomp" for /usr/lib/libgomp.so.1, and for libgomp-a34b3233.so.1 in a wheel. Throws
// std::bad_alloc.
inline std::string short_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  name = name.substr(0, name.find(".so"));
  constexpr std::size_t kChecksum = 9;  // including its hyphen
  if (name.size() > kChecksum && name[name.size() - kChecksum] == '-') {
    const std::string_view end = name.substr(name.size() - kChecksum + 1);
    if (end.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
      name.remove_suffix(kChecksum);
    }
  }
  return std::string(name);
}

}  // namespace timeloom::preload
