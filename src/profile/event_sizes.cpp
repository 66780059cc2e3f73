#include "profile/event_sizes.hpp"

namespace timeloom::profile {

namespace {

struct EventSize {
  std::string_view name;
  std::uint64_t fixed;      // type, length and values
  const char* definition;   // the kind that it refers to; nullptr: none
  std::uint64_t times = 1;  // number of references
};

constexpr EventSize kSizes[] = {
    {"Enter", 1, "Region"},
    {"Leave", 1, "Region"},
    {"BufferFlush", 10, nullptr},
    {"MeasurementOnOff", 3, nullptr},
    {"ParameterInt", 11, "Parameter"},
    {"ThreadCreate", 11, "Comm"},
    {"ThreadBegin", 11, "Comm"},
    {"ThreadWait", 11, "Comm"},
    {"ThreadEnd", 11, "Comm"},
    {"ThreadAcquireLock", 13, nullptr},
    {"ThreadReleaseLock", 13, nullptr},
    {"ThreadFork", 8, nullptr},
    {"ThreadJoin", 3, nullptr},
    {"ThreadTeamBegin", 2, "Comm"},
    {"ThreadTeamEnd", 2, "Comm"},
    {"ThreadTaskCreate", 12, "Comm"},
    {"ThreadTaskSwitch", 12, "Comm"},
    {"ThreadTaskComplete", 12, "Comm"},
    {"MpiSend", 21, "Comm"},
    {"MpiRecv", 21, "Comm"},
    {"MpiIsend", 30, "Comm"},
    {"MpiIrecv", 30, "Comm"},
    {"MpiIsendComplete", 10, nullptr},
    {"MpiIrecvRequest", 10, nullptr},
    {"MpiCollectiveBegin", 2, nullptr},
    {"MpiCollectiveEnd", 26, "Comm"},
    {"NonBlockingCollectiveRequest", 11, nullptr},
    {"NonBlockingCollectiveComplete", 35, "Comm"},
    {"IoCreateHandle", 13, "IoHandle"},
    {"IoDestroyHandle", 2, "IoHandle"},
    {"IoDuplicateHandle", 7, "IoHandle", 2},
    {"IoSeek", 21, "IoHandle"},
    {"IoDeleteFile", 3, "IoFile"},
    {"IoOperationBegin", 26, "IoHandle"},
    {"IoOperationComplete", 20, "IoHandle"},
    {"IoOperationTest", 11, "IoHandle"},
    {"IoOperationIssued", 11, "IoHandle"},
    {"IoOperationCancelled", 11, "IoHandle"},
    {"IoAcquireLock", 3, "IoHandle"},
    {"IoReleaseLock", 3, "IoHandle"},
    {"IoTryLock", 3, "IoHandle"},
    {"ProgramEnd", 11, nullptr},
    {"CallingContextEnter", 7, "CallingContext"},
    {"CallingContextLeave", 2, "CallingContext"},
};

}  // namespace

// A size in one byte, then the bytes of the number.
std::uint64_t EventSizes::reference(const char* definition) const {
  const auto found = counts_.find(definition);
  if (found == counts_.end()) return 5;
  std::uint64_t bytes = 1;
  std::uint64_t last = found->second == 0 ? 0 : found->second - 1;
  for (; last != 0 && bytes < 5; last >>= 8) ++bytes;
  return bytes;
}

std::uint64_t EventSizes::of(std::string_view event, std::uint64_t values) const {
  if (event == "Metric") return 3 + reference("Metric") + 10 * values;
  if (event == "ParameterString") return 2 + reference("Parameter") + reference("String");
  if (event == "ProgramBegin") return 7 + reference("String") + 5 * values;
  if (event == "CallingContextSample") {
    return 7 + reference("CallingContext") + reference("InterruptGenerator");
  }
  for (const EventSize& one : kSizes) {
    if (one.name != event) continue;
    return one.fixed + (one.definition == nullptr ? 0 : one.times * reference(one.definition));
  }
  return 0;
}

}  // namespace timeloom::profile
