// Functions that a run has not timed to its end, since measuring them took too much (--overhead).
//
// A process notes them in its spool when it gives them up, as properties kGivenUpIds and a number:
// ids of regions with blanks in between. The weave leaves the regions of all processes in the run
// as the property kGivenUp. Plain values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom {

inline constexpr char kGivenUp[] = "timeloom::given_up";
inline constexpr char kGivenUpIds[] = "timeloom::given_up_ids_";

std::string ids_text(const std::vector<std::uint32_t>& ids);
// A text may have been written by anybody: what is no number ends it.
std::vector<std::uint32_t> ids_of(std::string_view text);

// The value of kGivenUp for these regions.
std::string given_up_text(const std::vector<const Region*>& regions);

// The given-up functions of a run, by name and place, since readers number regions anew.
class GivenUp {
 public:
  GivenUp() = default;
  explicit GivenUp(const std::map<std::string, std::string>& properties);
  bool any() const noexcept { return !entries_.empty(); }
  bool holds(const Region& region) const;
  // One for each: "pkg.f (file.py:12)".
  const std::set<std::string>& entries() const noexcept { return entries_; }

 private:
  std::set<std::string> entries_;
};

}  // namespace timeloom
