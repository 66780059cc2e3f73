// The maximum size of an event in an OTF2 trace, in bytes.
//
// A plain value; any thread may use a const object. A reference is as wide as the number of
// definitions needs; if that number is not known, it has the maximum width.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace timeloom::profile {

inline constexpr std::uint64_t kTimestampSize = 9;

class EventSizes {
 public:
  // The number of definitions by the name of their kind in OTF2: "Region", "Metric", ...
  explicit EventSizes(std::map<std::string, std::uint64_t> counts) : counts_(std::move(counts)) {}

  // The bytes of the event of that name ("Enter", "MpiSend"), without its time
  // stamp; `values` is the number of values of a Metric or the number of
  // arguments of a ProgramBegin. 0: no such event.
  std::uint64_t of(std::string_view event, std::uint64_t values = 1) const;

 private:
  std::uint64_t reference(const char* definition) const;

  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace timeloom::profile
