// The metrics of the bytes that calls transfer.
//
// Any thread; throws nothing. After the first use in a measurement neither a lock nor a search by
// name.
#pragma once

#include <cstdint>

#include "core/ids.hpp"

namespace timeloom::record {

enum class BytesOf : std::uint8_t {
  kIoRead,
  kIoWritten,
  kSent,      // of messages and collective operations
  kReceived,  // the same
  kPut,       // of one-sided communication, into the memory of another process
  kGot        // and from there
};

// The metric in the running measurement; undefined: there is no memory.
MetricId bytes_metric(BytesOf what) noexcept;

}  // namespace timeloom::record
