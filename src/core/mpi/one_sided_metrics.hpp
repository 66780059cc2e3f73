// The names of the metrics of one-sided communication.
#pragma once

namespace timeloom {

// The bytes that a process puts into the memory of others, and gets from there, by call path.
inline constexpr char kBytesPut[] = "bytes_put";
inline constexpr char kBytesGot[] = "bytes_get";

}  // namespace timeloom
