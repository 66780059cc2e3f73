// Declarations of the functions and records of NVIDIA's CUPTI that Timeloom uses, so that the build
// needs neither CUDA nor its headers. scripts/check/check_cupti.py compares them with the headers
// of CUPTI's releases.
//
// A record is a prefix of NVIDIA's record of the same kind: later versions add fields at the end.
// All records are packed and aligned to 8 bytes. Times (`start`, `end`, `completed`, `time`) are of
// the clock that was given to register_timestamp. Plain declarations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace timeloom::cuda {

using Result = int;  // CUptiResult; 0: success
inline constexpr Result kSuccess = 0;

enum class ActivityKind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,
  kEvent = 36,
  kSynchronization = 38,
  kMemory = 49
};

enum class CallbackDomain : std::uint32_t { kDriver = 1, kRuntime = 2 };

inline constexpr std::uint32_t kFlushForced = 1;

// CUpti_ActivityMemcpyKind
enum class MemcpyKind : std::uint8_t {
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 8,
  kHostToHost = 9,
  kPeerToPeer = 10
};

// CUpti_ActivityMemoryKind
inline constexpr std::uint8_t kPageableMemory = 1;
inline constexpr std::uint8_t kPinnedMemory = 2;
inline constexpr std::uint8_t kDeviceMemory = 3;
inline constexpr std::uint8_t kManagedMemory = 5;
inline constexpr std::uint32_t kAllocation = 1;  // CUpti_ActivityMemoryOperationType
inline constexpr std::uint32_t kRelease = 2;

#define TIMELOOM_CUPTI_RECORD [[gnu::packed, gnu::aligned(8)]]

struct TIMELOOM_CUPTI_RECORD Activity {
  ActivityKind kind;
};

struct TIMELOOM_CUPTI_RECORD ActivityApi {
  ActivityKind kind;
  std::uint32_t function;  // CUpti_CallbackId
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t process;
  std::uint32_t thread;  // the lower half of its pthread_t
  std::uint32_t correlation;
  std::uint32_t result;
};

struct TIMELOOM_CUPTI_RECORD ActivityKernel {
  ActivityKind kind;
  std::uint8_t caches[2];
  std::uint16_t registers;
  std::uint32_t partitioned[2];
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t static_shared;
  std::uint32_t dynamic_shared;
  std::uint32_t local_memory[2];
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  std::uint64_t unused[3];
  std::uint32_t sharing[2];
  std::uint64_t graph_node;
  std::uint32_t shared_limit;
  std::uint32_t graph;  // 0: the kernel was not started by a graph
};

struct TIMELOOM_CUPTI_RECORD ActivityMemcpy {
  ActivityKind kind;
  MemcpyKind copy;
  std::uint8_t source;
  std::uint8_t target;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

struct TIMELOOM_CUPTI_RECORD ActivityMemcpyPeer {
  ActivityKind kind;
  MemcpyKind copy;
  std::uint8_t source;
  std::uint8_t target;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t source_device;
  std::uint32_t source_context;
  std::uint32_t target_device;
  std::uint32_t target_context;
  std::uint32_t correlation;
};

struct TIMELOOM_CUPTI_RECORD ActivityMemset {
  ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t correlation;
};

// A call waits for a stream, an event or all streams of a context, or has a stream wait.
struct TIMELOOM_CUPTI_RECORD ActivitySynchronization {
  ActivityKind kind;
  std::uint32_t type;  // CUpti_ActivitySynchronizationType
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;  // 2^32 - 1: none
  std::uint32_t event;   // 2^32 - 1: none
};

// A call puts an event into a stream.
struct TIMELOOM_CUPTI_RECORD ActivityEvent {
  ActivityKind kind;
  std::uint32_t correlation;
  std::uint32_t context;
  std::uint32_t stream;
  std::uint32_t event;
};

// A call allocates or releases memory.
struct TIMELOOM_CUPTI_RECORD ActivityMemory {
  ActivityKind kind;
  std::uint32_t operation;
  std::uint32_t memory;  // CUpti_ActivityMemoryKind
  std::uint32_t correlation;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t time;
  std::uint64_t caller;
  std::uint32_t process;
  std::uint32_t device;
  std::uint32_t context;
};

struct TIMELOOM_CUPTI_RECORD ActivityDevice {
  ActivityKind kind;
  std::uint32_t flags;
  std::uint64_t bandwidth;
  std::uint64_t memory;
  std::uint32_t numbers[22];  // of its parts and limits
  std::uint32_t id;
  std::uint32_t error_correction;
  std::uint8_t uuid[16];
  const char* name;
  std::uint8_t visible;
  std::uint8_t mig;  // 1: the process uses an instance, a part of the device
  std::uint8_t reserved[6];
  std::uint32_t instances[2];
  std::uint8_t mig_uuid[16];  // of the instance
};

using RequestBuffer = void(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
using CompleteBuffer = void(void* context, std::uint32_t stream, std::uint8_t* buffer,
                            std::size_t size, std::size_t valid);
using RegisterCallbacks = Result(RequestBuffer*, CompleteBuffer*);
using Timestamp = std::uint64_t();

// The functions of libcupti that are used; src/gpu/cuda/cuda_library.cpp has their names.
struct Functions {
  Result (*register_timestamp)(Timestamp*) = nullptr;
  RegisterCallbacks* register_callbacks = nullptr;
  Result (*enable)(ActivityKind) = nullptr;
  Result (*disable)(ActivityKind) = nullptr;
  Result (*next_record)(std::uint8_t* buffer, std::size_t valid, Activity** record) = nullptr;
  Result (*dropped_records)(void* context, std::uint32_t stream, std::size_t* dropped) = nullptr;
  Result (*flush_all)(std::uint32_t flags) = nullptr;
  Result (*flush_period)(std::uint32_t milliseconds) = nullptr;
  Result (*call_name)(CallbackDomain, std::uint32_t function, const char** name) = nullptr;
};

}  // namespace timeloom::cuda
