// Stands for NVIDIA's driver, CUPTI and NVML where there is none of them: libcuda.so.1,
// libcupti.so.13 and libnvidia-ml.so.1 in one file each (STAND_IN_DRIVER, STAND_IN_CUPTI,
// STAND_IN_NVML), and for another tool that uses CUPTI (STAND_IN_OTHER). A test plays its script by
// the functions play_* of the second: calls and what they start, with times of the clock that CUPTI
// was given. The records are laid out as in CUPTI 13, whole, with bytes that no reader is to read.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define EXPORTED __attribute__((visibility("default")))

#ifdef STAND_IN_DRIVER

EXPORTED int cuDriverGetVersion(int* version) {
  const char* const other = getenv("STAND_IN_VERSION");
  *version = other != NULL ? atoi(other) : 13000;
  return 0;
}

// As the driver does at the first call in a process.
EXPORTED int cuInit(unsigned flags) {
  static int done = 0;
  const char* const path = getenv("CUDA_INJECTION64_PATH");
  (void)flags;
  if (done++ || path == NULL) return 0;
  void* const library = dlopen(path, RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "stand-in: %s\n", dlerror());
    return 0;
  }
  int (*const begin)(void) = (int (*)(void))dlsym(library, "InitializeInjection");
  return begin != NULL && begin() == 1 ? 0 : 999;
}

#elif defined(STAND_IN_NVML)

// Devices whose UUID ends with their number, which is the number of CUDA's record plus 1 (see
// play_device). Each reading of a counter has the next value. STAND_IN_NVML has the name of a
// function and the code that it returns, "power 15".
static struct {
  int number, mig;
  unsigned utilization, memory, power;
} g_devices[16];
static int g_started, g_reader;
static unsigned g_calls;  // of the functions that begin

static int fails(const char* name) {
  const char* const text = getenv("STAND_IN_NVML");
  const size_t length = strlen(name);
  return text != NULL && strncmp(text, name, length) == 0 ? atoi(text + length) : 0;
}

static unsigned next(unsigned* count) { return __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }

EXPORTED int nvmlInit_v2(void) {
  ++g_started;
  (void)next(&g_calls);
  return fails("init");
}
EXPORTED int nvmlShutdown(void) {
  --g_started;
  return 0;
}
EXPORTED int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  const int mig = strncmp(uuid, "MIG-", 4) == 0;
  const char* const same =
      mig ? "01010101-0101-0101-0101-0101010101" : "a5a5a5a5-a5a5-a5a5-a5a5-a5a5a5a5a5";
  const int number = (int)strtol(uuid + 4 + strlen(same), NULL, 16);
  if (strncmp(uuid + 4, same, strlen(same)) != 0 || number < 1 || number > 15) return 6;
  g_devices[number].number = number;
  g_devices[number].mig = mig;
  *device = &g_devices[number];
  (void)next(&g_calls);
  return fails("device");
}
EXPORTED int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  const unsigned n = next(&g_devices[*(int*)device].utilization);
  __atomic_store_n(&g_reader, (int)syscall(SYS_gettid), __ATOMIC_RELAXED);
  if (g_devices[*(int*)device].mig) return 3;
  rates[0] = 10u * (unsigned)*(int*)device + n % 10;
  rates[1] = n % 10;
  return fails("utilization");
}
EXPORTED int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* bytes) {
  bytes[0] = 80ull << 30;
  bytes[2] = (unsigned long long)next(&g_devices[*(int*)device].memory) << 20;
  bytes[1] = bytes[0] - bytes[2];
  return fails("memory");
}
EXPORTED int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 1000 * next(&g_devices[*(int*)device].power);
  return g_devices[*(int*)device].mig ? 3 : fails("power");
}
// The number of readings of a device so far, and the kernel's id of the thread that reads.
EXPORTED unsigned nvml_readings(int number) {
  const unsigned utilization = __atomic_load_n(&g_devices[number].utilization, __ATOMIC_RELAXED);
  const unsigned memory = __atomic_load_n(&g_devices[number].memory, __ATOMIC_RELAXED);
  return utilization > memory ? utilization : memory;
}
EXPORTED int nvml_reader(void) { return __atomic_load_n(&g_reader, __ATOMIC_RELAXED); }
EXPORTED unsigned nvml_calls(void) { return __atomic_load_n(&g_calls, __ATOMIC_RELAXED); }
__attribute__((destructor)) static void tell_end(void) {
  if (getenv("STAND_IN_NVML_TELLS") != NULL) fprintf(stderr, "NVML is started: %d\n", g_started);
}

#elif defined(STAND_IN_NVTX)

// A library of the program that contains NVTX. The tables have the functions that the test uses, in
// NVTX's places.
typedef void (*Function)(void);
static Function g_core[16], g_domains[16];
static Function* g_core_places[16];
static Function* g_domain_places[16];

static int functions(int module, Function*** table, unsigned* count) {
  if (module != 1 && module != 5) return 0;
  for (int i = 1; i < 16; ++i) {
    g_core_places[i] = &g_core[i];
    g_domain_places[i] = &g_domains[i];
  }
  *table = module == 1 ? g_core_places : g_domain_places;
  *count = 16;
  return 1;
}
static const struct {
  size_t size;
  int (*functions)(int, Function***, unsigned*);
} kCallbacks = {sizeof kCallbacks, functions};
static const void* exports(uint32_t table) { return table == 1 ? &kCallbacks : NULL; }

EXPORTED int nvtx_begin(void) {
  const char* const path = getenv("NVTX_INJECTION64_PATH");
  void* const library = path == NULL ? NULL : dlopen(path, RTLD_NOW);
  if (library == NULL) return 0;
  int (*const begin)(const void* (*)(uint32_t)) =
      (int (*)(const void* (*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
  return begin != NULL && begin(exports);
}
EXPORTED int nvtx_push(const char* name) { return ((int (*)(const char*))g_core[9])(name); }
EXPORTED int nvtx_push_wide(const wchar_t* name) {
  return ((int (*)(const wchar_t*))g_core[10])(name);
}
EXPORTED int nvtx_pop(void) { return ((int (*)(void))g_core[11])(); }
EXPORTED uint64_t nvtx_start(const char* name) {
  return ((uint64_t(*)(const char*))g_core[5])(name);
}
EXPORTED void nvtx_end(uint64_t id) { ((void (*)(uint64_t))g_core[7])(id); }
EXPORTED void nvtx_mark(const char* name) { ((void (*)(const char*))g_core[2])(name); }
EXPORTED void nvtx_name_category(uint32_t category, const char* name) {
  ((void (*)(uint32_t, const char*))g_core[12])(category, name);
}
EXPORTED void nvtx_name_category_in(void* domain, uint32_t category, const char* name) {
  ((void (*)(void*, uint32_t, const char*))g_domains[8])(domain, category, name);
}

struct attributes {
  uint16_t version, size;
  uint32_t category, words[4];
  uint64_t payload;
  int32_t type;
  const void* message;
};
// With a name that is registered in the domain.
static struct attributes attributes_of(void* domain, const char* name, uint32_t category) {
  struct attributes one = {3, sizeof one, category, {0}, 0, 3, NULL};
  one.message = ((void* (*)(void*, const char*))g_domains[10])(domain, name);
  return one;
}
EXPORTED int nvtx_push_of(void* domain, const char* name, uint32_t category) {
  const struct attributes one = attributes_of(domain, name, category);
  return ((int (*)(void*, const void*))g_domains[4])(domain, &one);
}
EXPORTED int nvtx_push_in(void* domain, const char* name) { return nvtx_push_of(domain, name, 0); }
EXPORTED void nvtx_mark_of(void* domain, const char* name, uint32_t category) {
  const struct attributes one = attributes_of(domain, name, category);
  ((void (*)(void*, const void*))g_domains[1])(domain, &one);
}
EXPORTED void* nvtx_domain(const char* name) {
  return ((void* (*)(const char*))g_domains[12])(name);
}
EXPORTED int nvtx_pop_in(void* domain) { return ((int (*)(void*))g_domains[5])(domain); }

#elif defined(STAND_IN_OTHER)

typedef void Request(uint8_t**, size_t*, size_t*);
typedef void Complete(void*, uint32_t, uint8_t*, size_t, size_t);
int cuptiActivityRegisterTimestampCallback(uint64_t (*)(void));
int cuptiActivityRegisterCallbacks(Request*, Complete*);
int cuptiActivityEnable(uint32_t kind);

static uint8_t g_own[4096];
static size_t g_bytes;

static void request(uint8_t** buffer, size_t* size, size_t* most) {
  *buffer = g_own;
  *size = sizeof g_own;
  *most = 0;
}
static void complete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  (void)context, (void)stream, (void)size;
  if (buffer == g_own) g_bytes += valid;
}

static uint64_t clock_of_its_own(void) { return 1000; }

EXPORTED int other_begin(int with_clock) {
  if (with_clock) cuptiActivityRegisterTimestampCallback(clock_of_its_own);
  const int result = cuptiActivityRegisterCallbacks(request, complete);
  return result == 0 ? cuptiActivityEnable(10) : result;
}
EXPORTED size_t other_bytes(void) { return g_bytes; }

#else

enum {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kKernel = 10,
  kPeer = 22,
  kEvent = 36,
  kWait = 38,
  kMemory = 49
};

typedef void Request(uint8_t**, size_t*, size_t*);
typedef void Complete(void*, uint32_t, uint8_t*, size_t, size_t);

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*g_clock)(void);
static Request* g_request;
static Complete* g_complete;
static uint8_t* g_buffer;
static size_t g_size, g_used;
static unsigned char g_enabled[64];
static size_t g_dropped;
static uint32_t g_period;

EXPORTED int cuptiGetVersion(uint32_t* version) {
  *version = 130001;
  return 0;
}
EXPORTED int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void)) {
  g_clock = clock;
  return clock == NULL;
}
EXPORTED int cuptiActivityRegisterCallbacks(Request* request, Complete* complete) {
  g_request = request;
  g_complete = complete;
  return 0;
}
EXPORTED int cuptiActivityEnable(uint32_t kind) {
  if (getenv("STAND_IN_REFUSES") != NULL) return 39;
  g_enabled[kind] = 1;
  return 0;
}
EXPORTED int cuptiActivityDisable(uint32_t kind) {
  g_enabled[kind] = 0;
  return 0;
}
EXPORTED int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream, size_t* dropped) {
  (void)context, (void)stream;
  *dropped = g_dropped;
  g_dropped = 0;
  return 0;
}
EXPORTED int cuptiActivityFlushPeriod(uint32_t milliseconds) {
  g_period = milliseconds;
  return 0;
}

static size_t size_of(uint32_t kind) {
  switch (kind) {
    case kMemcpy: return 96;
    case kMemset: return 88;
    case kDriver:
    case kRuntime: return 40;
    case kDevice: return 184;
    case kKernel: return 216;
    case kPeer: return 96;
    case kEvent: return 56;
    case kWait: return 56;
    case kMemory: return 128;
    default: return 24;  // of a kind that nobody knows
  }
}

EXPORTED int cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  uint8_t* const next = *record == NULL ? buffer : *record + size_of(*(uint32_t*)*record);
  if (next >= buffer + valid) return 12;  // as of the last
  *record = next;
  return 0;
}

EXPORTED int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char** name) {
  static const char* const kRuntimeNames[] = {"cudaLaunchKernel_v7000",
                                              "cudaMemcpyAsync_v3020",
                                              "cudaMemsetAsync_v3020",
                                              "cudaDeviceSynchronize_v3020",
                                              "cudaGetDevice_v3020",
                                              "cudaMalloc_v3020",
                                              "cudaFree_v3020",
                                              "cudaEventRecord_v3020",
                                              "cudaStreamSynchronize_v3020",
                                              "cudaEventSynchronize_v3020",
                                              "cudaStreamWaitEvent_v3020",
                                              "cudaGraphLaunch_v10000"};
  if (domain == 1 && function == 0) return *name = "cuLaunchKernel", 0;
  if (domain == 2 && function < 12) return *name = kRuntimeNames[function], 0;
  return 1;
}

static void hand_out(void) {
  uint8_t* const buffer = g_buffer;
  const size_t size = g_size, used = g_used;
  g_buffer = NULL;
  g_used = 0;
  if (buffer == NULL) return;
  pthread_mutex_unlock(&g_mutex);
  g_complete(NULL, 0, buffer, size, used);
  pthread_mutex_lock(&g_mutex);
}

EXPORTED int cuptiActivityFlushAll(uint32_t flags) {
  (void)flags;
  pthread_mutex_lock(&g_mutex);
  hand_out();
  pthread_mutex_unlock(&g_mutex);
  return 0;
}

// ---- The script

// A zeroed record of the kind, filled with bytes that mean nothing; NULL: it is not wanted.
static uint8_t* record_of(uint32_t kind) {
  if (!g_enabled[kind] || g_request == NULL) return NULL;
  const size_t size = size_of(kind);
  if (g_buffer != NULL && g_used + size > g_size) hand_out();
  if (g_buffer == NULL) {
    size_t most = 0;
    g_request(&g_buffer, &g_size, &most);
  }
  uint8_t* const record = g_buffer + g_used;
  memset(record, 0xa5, size);
  memcpy(record, &kind, 4);
  g_used += size;
  return record;
}

#define PUT(offset, type, value)                         \
  do {                                                   \
    const type put_value = (type)(value);                \
    memcpy(record + (offset), &put_value, sizeof(type)); \
  } while (0)

EXPORTED uint64_t play_now(void) { return g_clock == NULL ? 0 : g_clock(); }

EXPORTED void play_call(uint32_t domain, uint32_t function, uint64_t start, uint64_t end,
                        uint32_t correlation) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(domain == 1 ? kDriver : kRuntime);
  if (record != NULL) {
    PUT(4, uint32_t, function);
    PUT(8, uint64_t, start);
    PUT(16, uint64_t, end);
    PUT(28, uint32_t, pthread_self());
    PUT(32, uint32_t, correlation);
  }
  pthread_mutex_unlock(&g_mutex);
}

// A call that takes so long; its start.
EXPORTED uint64_t play_long_call(uint32_t domain, uint32_t function, uint64_t nanoseconds,
                                 uint32_t correlation) {
  const struct timespec pause = {0, (long)nanoseconds};
  const uint64_t start = play_now();
  nanosleep(&pause, NULL);
  play_call(domain, function, start, play_now(), correlation);
  return start;
}

EXPORTED void play_node(const char* name, uint32_t device, uint32_t context, uint32_t stream,
                        uint64_t start, uint64_t end, uint32_t correlation, uint32_t blocks,
                        uint32_t graph) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(kKernel);
  if (record != NULL) {
    PUT(6, uint16_t, 32);
    PUT(16, uint64_t, start);
    PUT(24, uint64_t, end);
    PUT(40, uint32_t, device);
    PUT(44, uint32_t, context);
    PUT(48, uint32_t, stream);
    for (int i = 0; i < 3; ++i) {
      PUT(52 + 4 * i, uint32_t, i == 0 ? blocks : 1);
      PUT(64 + 4 * i, uint32_t, i == 0 ? 128 : 1);
    }
    PUT(76, uint32_t, 1024);
    PUT(80, uint32_t, 0);
    PUT(92, uint32_t, correlation);
    PUT(104, const char*, strdup(name));
    PUT(156, uint32_t, graph);
  }
  pthread_mutex_unlock(&g_mutex);
}
EXPORTED void play_kernel(const char* name, uint32_t device, uint32_t context, uint32_t stream,
                          uint64_t start, uint64_t end, uint32_t correlation, uint32_t blocks) {
  play_node(name, device, context, stream, start, end, correlation, blocks, 0);
}

// `stream` and `event`: 2^32 - 1 for none.
EXPORTED void play_wait(uint32_t type, uint32_t context, uint32_t stream, uint32_t event,
                        uint64_t start, uint64_t end, uint32_t correlation) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(kWait);
  if (record != NULL) {
    PUT(4, uint32_t, type);
    PUT(8, uint64_t, start);
    PUT(16, uint64_t, end);
    PUT(24, uint32_t, correlation);
    PUT(28, uint32_t, context);
    PUT(32, uint32_t, stream);
    PUT(36, uint32_t, event);
  }
  pthread_mutex_unlock(&g_mutex);
}

EXPORTED void play_event(uint32_t context, uint32_t stream, uint32_t event, uint32_t correlation) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(kEvent);
  if (record != NULL) {
    PUT(4, uint32_t, correlation);
    PUT(8, uint32_t, context);
    PUT(12, uint32_t, stream);
    PUT(16, uint32_t, event);
  }
  pthread_mutex_unlock(&g_mutex);
}

// `operation`: 1 allocates, 2 releases; `memory`: 2 pinned memory of the host, 3 of the device.
EXPORTED void play_memory(uint32_t operation, uint32_t memory, uint64_t address, uint64_t bytes,
                          uint64_t time, uint32_t device, uint32_t context, uint32_t correlation) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(kMemory);
  if (record != NULL) {
    PUT(4, uint32_t, operation);
    PUT(8, uint32_t, memory);
    PUT(12, uint32_t, correlation);
    PUT(16, uint64_t, address);
    PUT(24, uint64_t, bytes);
    PUT(32, uint64_t, time);
    PUT(52, uint32_t, device);
    PUT(56, uint32_t, context);
  }
  pthread_mutex_unlock(&g_mutex);
}

// `kinds`: of the memory, source and target.
EXPORTED void play_copy(uint32_t direction, uint32_t source, uint32_t target, uint64_t bytes,
                        uint32_t device, uint32_t context, uint32_t stream, uint64_t start,
                        uint64_t end, uint32_t correlation) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(direction == 10 ? kPeer : kMemcpy);
  if (record != NULL) {
    PUT(4, uint8_t, direction);
    PUT(5, uint8_t, source);
    PUT(6, uint8_t, target);
    PUT(8, uint64_t, bytes);
    PUT(16, uint64_t, start);
    PUT(24, uint64_t, end);
    PUT(32, uint32_t, device);
    PUT(36, uint32_t, context);
    PUT(40, uint32_t, stream);
    PUT(direction == 10 ? 60 : 44, uint32_t, correlation);
  }
  pthread_mutex_unlock(&g_mutex);
}

EXPORTED void play_set(uint64_t bytes, uint32_t device, uint32_t context, uint32_t stream,
                       uint64_t start, uint64_t end, uint32_t correlation) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(kMemset);
  if (record != NULL) {
    PUT(8, uint64_t, bytes);
    PUT(16, uint64_t, start);
    PUT(24, uint64_t, end);
    PUT(32, uint32_t, device);
    PUT(36, uint32_t, context);
    PUT(40, uint32_t, stream);
    PUT(44, uint32_t, correlation);
  }
  pthread_mutex_unlock(&g_mutex);
}

// `mig`: 1: a part of the device.
EXPORTED void play_part(uint32_t id, const char* name, uint64_t memory, uint32_t mig) {
  pthread_mutex_lock(&g_mutex);
  uint8_t* const record = record_of(kDevice);
  if (record != NULL) {
    PUT(16, uint64_t, memory);
    PUT(112, uint32_t, id);
    PUT(135, uint8_t, id + 1);  // the end of its UUID
    PUT(136, const char*, strdup(name));
    PUT(145, uint8_t, mig);
    memset(record + 160, 1, 15);
    PUT(175, uint8_t, id + 1);
  }
  pthread_mutex_unlock(&g_mutex);
}
EXPORTED void play_device(uint32_t id, const char* name, uint64_t memory) {
  play_part(id, name, memory, 0);
}

// A thread that Python knows nothing of starts a kernel.
static void* native_thread(void* nothing) {
  const uint64_t start = play_now();
  play_call(2, 0, start, start + 1000, 77);
  play_kernel("native", 0, 1, 7, start + 2000, start + 1002000, 77, 1);
  return nothing;
}
EXPORTED void play_native_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, native_thread, NULL);
  pthread_join(thread, NULL);
}

EXPORTED void play_unknown(void) {
  pthread_mutex_lock(&g_mutex);
  g_enabled[60] = 1;
  (void)record_of(60);
  pthread_mutex_unlock(&g_mutex);
}

EXPORTED void play_dropped(size_t records) { g_dropped = records; }
EXPORTED int play_enabled(uint32_t kind) { return g_enabled[kind]; }
EXPORTED uint32_t play_period(void) { return g_period; }

#endif
