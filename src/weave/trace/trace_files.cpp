#include "weave/trace/trace_files.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/packed/packed.hpp"

namespace timeloom::weave {

bool is_packed(const std::filesystem::path& trace) {
  return trace.extension() == packed::kExtension;
}

std::unique_ptr<RunSource> open_trace(const std::filesystem::path& trace) {
  return is_packed(trace) ? packed::open(trace) : otf2::open(trace);
}

std::uint64_t trace_id(const std::filesystem::path& trace) {
  return is_packed(trace) ? packed::run_number(trace) : otf2::trace_id(trace);
}

std::size_t unsound_parts(const std::filesystem::path& trace, std::span<const Location> locations) {
  if (!is_packed(trace)) return otf2::unsound_files(trace, locations);
  try {
    return std::min<std::size_t>(packed::unsound_parts(trace), 1);
  } catch (const Error&) {  // its definitions, without which nothing of it can be read
    return 1;
  }
}

}  // namespace timeloom::weave
