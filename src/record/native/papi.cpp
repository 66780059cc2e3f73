#include "record/native/papi.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <mutex>

#include "core/error.hpp"

namespace timeloom::record {
namespace {

constexpr int kOk = 0;            // PAPI_OK
constexpr int kNoEvent = -7;      // PAPI_ENOEVNT
constexpr int kNoSet = -1;        // PAPI_NULL
constexpr int kPermission = -15;  // PAPI_EPERM

// As they are declared in papi.h.
struct Library {
  int (*library_init)(int version) = nullptr;
  int (*thread_init)(unsigned long (*id)()) = nullptr;
  int (*create_eventset)(int* set) = nullptr;
  int (*add_named_event)(int set, const char* name) = nullptr;
  int (*start)(int set) = nullptr;
  int (*read)(int set, long long* values) = nullptr;
  int (*stop)(int set, long long* values) = nullptr;
  int (*cleanup_eventset)(int set) = nullptr;
  int (*destroy_eventset)(int* set) = nullptr;
  char* (*strerror)(int code) = nullptr;
  int process = 0;  // in which it is initialised
};

void* try_library() noexcept {
  for (const char* name : {"libpapi.so", "libpapi.so.7.2", "libpapi.so.7.1", "libpapi.so.7.0",
                           "libpapi.so.6.0", "libpapi.so.7", "libpapi.so.6", "libpapi.so.5"}) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

void* open_library() {
  if (void* handle = try_library()) return handle;
  throw Error(
      "metric-papi: there is no libpapi here; install it (Debian: libpapi7.0, or load its module) "
      "so that LD_LIBRARY_PATH or the system's list of libraries finds it, or leave metric-papi "
      "out [TL054]");
}

template <typename Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) {
    throw Error(std::string("metric-papi: libpapi has no function ") + name +
                "; use version 5 or later of PAPI [TL055]");
  }
}

Library load() {
  void* handle = open_library();
  Library papi;
  find(handle, "PAPI_library_init", papi.library_init);
  find(handle, "PAPI_thread_init", papi.thread_init);
  find(handle, "PAPI_create_eventset", papi.create_eventset);
  find(handle, "PAPI_add_named_event", papi.add_named_event);
  find(handle, "PAPI_start", papi.start);
  find(handle, "PAPI_read", papi.read);
  find(handle, "PAPI_stop", papi.stop);
  find(handle, "PAPI_cleanup_eventset", papi.cleanup_eventset);
  find(handle, "PAPI_destroy_eventset", papi.destroy_eventset);
  find(handle, "PAPI_strerror", papi.strerror);
  return papi;
}

std::string why(const Library& papi, int code) {
  const char* text = papi.strerror(code);
  return text == nullptr ? "error " + std::to_string(code) : text;
}

unsigned long thread_number() { return static_cast<unsigned long>(pthread_self()); }

// It wants to be told its own version: the first two numbers count.
void initialise(const Library& papi) {
  int result = 0;
  for (int major = 7; major >= 5; --major) {
    for (int minor = 9; minor >= 0; --minor) {
      const int version = major << 24 | minor << 16;
      result = papi.library_init(version);
      if (result == version) {
        (void)papi.thread_init(thread_number);
        return;
      }
    }
  }
  throw Error("metric-papi: libpapi cannot be used here: " + why(papi, result) +
              "; see what papi_avail prints, or leave metric-papi out [TL055]");
}

// Set once, by whoever is the first to count.
Library* g_papi = nullptr;

// Initialised anew in the child of a fork.
const Library& library() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (g_papi == nullptr) g_papi = new Library(load());
  if (g_papi->process != ::getpid()) initialise(*g_papi);
  g_papi->process = ::getpid();
  return *g_papi;
}

[[noreturn]] void refuse(const Library& papi, const std::string& event, int code) {
  const std::string begin = "metric-papi: ";
  if (code == kNoEvent) {
    throw Error(
        begin + "there is no event " + event +
        " on this machine; papi_avail and papi_native_avail list those that there are [TL056]");
  }
  if (code == kPermission) {
    throw Error(begin + event +
                " may not be counted; set /proc/sys/kernel/perf_event_paranoid to "
                "2 or less, or leave metric-papi out [TL057]");
  }
  throw Error(begin + event + " cannot be counted: " + why(papi, code) +
              "; see what papi_avail prints, or leave it out [TL058]");
}

}  // namespace

bool has_papi() noexcept { return try_library() != nullptr; }

std::unique_ptr<PapiCounters> PapiCounters::start(const std::vector<std::string>& events) {
  const Library& papi = library();
  int set = kNoSet;
  const int made = papi.create_eventset(&set);
  if (made != kOk) refuse(papi, events.front(), made);
  std::unique_ptr<PapiCounters> counters(new PapiCounters(set));
  for (const std::string& event : events) {
    const int added = papi.add_named_event(set, event.c_str());
    if (added != kOk) refuse(papi, event, added);
  }
  const int started = papi.start(set);
  if (started != kOk) refuse(papi, events.front(), started);
  return counters;
}

PapiCounters::~PapiCounters() {
  (void)g_papi->stop(set_, nullptr);
  (void)g_papi->cleanup_eventset(set_);
  (void)g_papi->destroy_eventset(&set_);
}

void PapiCounters::read(std::span<std::uint64_t> values) noexcept {
  static_assert(sizeof(long long) == sizeof(std::uint64_t));
  (void)g_papi->read(set_, reinterpret_cast<long long*>(values.data()));
}

}  // namespace timeloom::record
