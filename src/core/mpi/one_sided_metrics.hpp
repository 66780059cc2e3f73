// The names of the metrics of one-sided communication. Constants.
#pragma once

namespace timeloom {

// Metrics of a call path: the bytes that its calls put into the memory of other processes, and get
// from there.
inline constexpr char kBytesPut[] = "bytes_put";
inline constexpr char kBytesGot[] = "bytes_get";

}  // namespace timeloom
