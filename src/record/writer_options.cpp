#include "record/writer_options.hpp"

#include <algorithm>

namespace timeloom::record {

AtLimit at_limit_of(std::string_view policy) noexcept {
  if (policy == "ring") return AtLimit::kKeepNewest;
  return policy == "profile" ? AtLimit::kAggregate : AtLimit::kStop;
}

spool::WriterOptions writer_options(std::uint64_t buffer_size, std::uint64_t max_size,
                                    AtLimit at_max_size, bool profile) noexcept {
  spool::WriterOptions result;
  result.ring_size = profile ? result.segment_size : buffer_size;
  result.size_limit = {max_size, at_max_size};
  if (max_size == 0 || profile) return result;
  // Most of what there is room for is for the log, also with many threads, each of which
  // holds a segment.
  constexpr std::uint64_t kLeast = 1 << 20;
  constexpr std::uint64_t kPage = 1 << 16;  // a multiple of any
  result.ring_size = std::min(buffer_size, std::max(kLeast, max_size / 8));
  result.segment_size = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(max_size / 64 / kPage * kPage, kPage, result.segment_size));
  return result;
}

spool::PackEarly pack_early_of(bool given, bool wanted, bool limited) noexcept {
  if (given) return wanted ? spool::PackEarly::kAlways : spool::PackEarly::kNever;
  return limited ? spool::PackEarly::kNever : spool::PackEarly::kAsNeeded;
}

spool::WriterOptions writer_options_of_child(spool::WriterOptions parent) noexcept {
  constexpr std::uint64_t kBuffer = 256 << 10;
  parent.ring_size = std::min(parent.ring_size, kBuffer);
  parent.drain_at_once = false;
  return parent;
}

}  // namespace timeloom::record
