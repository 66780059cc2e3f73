// The records of CUDA that a measurement takes, chosen by words: the words of Score-P's
// variable SCOREP_CUDA_ENABLE, and `counters`.
//
// Plain values and a pure function, for any thread. Throws only std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/cuda/cupti_interface.hpp"

namespace timeloom::cuda {

struct RecordChoice {
  std::vector<ActivityKind> kinds;   // that CUPTI records
  bool counters = false;             // of devices
  std::vector<std::string> unknown;  // words that choose nothing
};

// The words that choose records.
inline constexpr char kRecordWords[] =
    "runtime, driver, kernel, kernel_serial, memcpy, sync, gpumemusage, counters";

// Words are separated by commas, semicolons, colons or spaces; their case does not matter. No word,
// and `yes`, choose all records. Other words of Score-P have no effect.
RecordChoice choose_records(std::string_view words);

}  // namespace timeloom::cuda
