// Access to the OTF2 library: its headers, its errors as timeloom::Error, its locks.
//
// The library reports an error through a callback, from the place where it happened up to the call
// that failed, and sometimes returns success nevertheless. So the first report in a thread is kept,
// and check() looks at both. Any thread may call any of these functions.
#pragma once

#include <cstdlib>  // needed by the library's lock headers

#include <otf2/otf2.h>

#include <cstdint>
#include <string>

namespace timeloom::otf2 {

// Timeloom's property of a location group: the ending of the process, in words.
inline constexpr char kEndingProperty[] = "Ending";
// Property of a process or location that has another name for other tools: its own name.
inline constexpr char kNameProperty[] = "Python name";
// Property of a queue of an accelerator: the id of the thread that has started most of its work.
inline constexpr char kFeederProperty[] = "Feeding location";
// Class of the nodes of the system tree that are devices, as Score-P's.
inline constexpr char kDeviceClass[] = "CUDA Device";
// Name of the communicator of all threads of the run.
// The parameters whose values are floats, by their numbers with commas between: OTF2 has none, so
// their values are texts there.
inline constexpr char kFloatParameters[] = "timeloom::float_parameters";
inline constexpr char kThreadsName[] = "Threads";

// Chunks of at least this size are written to the file at once.
inline constexpr std::uint64_t kUnbufferedWrite = 4u << 20;

// Keeps the library from printing anything. REQUIRES: called before its first use.
void catch_library_errors();

// Forgets the library's error report in this thread.
void forget_library_errors() noexcept;

// Throws Error with the failure, its reason, and a remedy where one is known.
[[noreturn]] void fail(const std::string& what, OTF2_ErrorCode code = OTF2_SUCCESS);

// Throws Error when `code`, or a report of the library in this thread, is an error.
void check(OTF2_ErrorCode code, const std::string& what);

// The same for calls that return a handle.
template <typename Handle>
Handle* check(Handle* handle, const std::string& what) {
  check(handle == nullptr ? OTF2_ERROR_PROCESSED_WITH_FAULTS : OTF2_SUCCESS, what);
  return handle;
}

// Makes the handle safe for use by several threads.
OTF2_ErrorCode set_locks(OTF2_Archive* archive);
OTF2_ErrorCode set_locks(OTF2_Reader* reader);

}  // namespace timeloom::otf2
