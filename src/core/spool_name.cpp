#include "core/spool_name.hpp"

#include <cctype>
#include <charconv>

#include "os/process.hpp"

namespace timeloom {

std::string host_word(std::string_view host) {
  std::string word;
  for (const char byte : host) {
    const bool kept = std::isalnum(static_cast<unsigned char>(byte)) != 0;
    word += kept ? std::string(1, byte) : byte == '.' ? "__" : "_";
  }
  return word.empty() ? "host" : word;
}

std::string host_in_spool_names() { return host_word(os::hostname()); }

// The name without the number at its end.
std::string spool_name_of(std::uint64_t process) {
  return host_in_spool_names() + "-" + std::to_string(process) + "-" +
         std::to_string(os::start_of(process)) + "-";
}

bool maker_is_gone(const std::string& spool) {
  const std::string host = host_in_spool_names() + "-";
  std::uint64_t process = 0;
  if (!spool.starts_with(host)) return false;
  const char* const end = spool.data() + spool.size();
  const auto [stop, error] = std::from_chars(spool.data() + host.size(), end, process);
  if (error != std::errc{} || stop == end || *stop != '-') return false;
  return !spool.starts_with(spool_name_of(process));
}

}  // namespace timeloom
