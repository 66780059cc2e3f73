#include "core/spool_name.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "os/process.hpp"

namespace timeloom {
namespace {

// The first part of the host's name, with other characters than letters and digits replaced.
std::string host_word() {
  constexpr std::size_t kLongest = 40;
  std::string name = os::hostname();
  name.resize(std::min({name.find('.'), kLongest, name.size()}));
  for (char& byte : name) {
    if (std::isalnum(static_cast<unsigned char>(byte)) == 0) byte = '_';
  }
  return name.empty() ? "host" : name;
}

}  // namespace

// The name without the number at its end.
std::string spool_name_of(std::uint64_t process) {
  return host_word() + "-" + std::to_string(process) + "-" + std::to_string(os::start_of(process)) +
         "-";
}

bool maker_is_gone(const std::string& spool) {
  const std::string host = host_word() + "-";
  std::uint64_t process = 0;
  if (!spool.starts_with(host)) return false;
  const char* const end = spool.data() + spool.size();
  const auto [stop, error] = std::from_chars(spool.data() + host.size(), end, process);
  if (error != std::errc{} || stop == end || *stop != '-') return false;
  return !spool.starts_with(spool_name_of(process));
}

}  // namespace timeloom
