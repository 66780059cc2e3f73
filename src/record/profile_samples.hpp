// Profile mode with metrics: the sums and maxima of sampled metrics in the call paths of one
// profile. They lie in places of its file.
//
// Used by the thread that owns the file. Nothing here throws.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/child_table.hpp"
#include "spool/profile_file.hpp"

namespace timeloom::record {

class ProfileSamples {
 public:
  // `counts`: for each value whether it is a counter, which is summed up (for others the maximum is
  // kept); `file` and `counts` outlive this object. `known`: the sample before the first of take(),
  // or none.
  ProfileSamples(spool::ProfileWriter& file, const std::vector<bool>& counts,
                 std::span<const std::uint64_t> known = {});

  // A sample (the id of the first metric, then the values): the counts since the sample before
  // belong to `node`; 0: to no call path. False: some of it is lost, for lack of space.
  bool take(std::uint32_t node, std::span<const std::uint64_t> sample) noexcept;

 private:
  bool add(std::uint32_t node, std::uint32_t first, std::size_t from,
           std::span<const std::uint64_t> changes) noexcept;
  std::uint32_t place_of(std::uint32_t node, std::uint32_t first, std::size_t from) noexcept;

  spool::ProfileWriter& file_;
  const std::vector<bool>& counts_;
  std::vector<std::uint64_t> last_;  // values; empty: none yet
  std::vector<std::uint64_t> changes_;
  ChildTable places_;  // from a node and the number of a value to the place that begins with it
};

}  // namespace timeloom::record
