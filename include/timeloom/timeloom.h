/*
 * Timeloom's interface for native code (C99 and later, C++11 and later): marks regions,
 * parameters, counters and points in time of a program, in the same stream of events as
 * the Python functions around them.
 *
 *     static timeloom_region solve = TIMELOOM_REGION("solve");
 *     timeloom_enter(&solve);
 *     ...
 *     timeloom_leave(&solve);
 *
 * The command line starts a measurement: `timeloom run app.py` measures a Python program with
 * the native code that it calls, `timeloom run --program ./prog` any other program. Without a
 * measurement all functions return at once.
 *
 * Rules of all functions, unless their comments differ:
 * - Any thread may call them at any time, with or without Python's interpreter lock. The
 *   first event of a thread gives it a location of its own. Signal handlers may not call them.
 * - They never fail, end the program, change errno or throw. Events that could not be recorded
 *   are counted, and the run contains their number.
 * - Strings are UTF-8 and end with a zero; a null pointer means "". Arguments are copied; the
 *   strings in a timeloom_region are not, and must stay valid.
 *
 * Find the flags of the compiler with `timeloom-config --cflags --libs`, or in CMake with
 * find_package(timeloom) and the target timeloom::timeloom. See docs/native.md.
 */
#ifndef TIMELOOM_TIMELOOM_H
#define TIMELOOM_TIMELOOM_H

#include <stdint.h>

#if defined(__GNUC__)
#define TIMELOOM_API __attribute__((visibility("default")))
#else
#define TIMELOOM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A region of the program: a name, and the line in the source where it starts. It is a static
 * object made by TIMELOOM_REGION, which belongs to the caller and must exist until the process
 * ends, or the result of timeloom_region_define(). It is valid for any number of measurements.
 * Its members are set once, before the first use; after that only the library uses them. Two
 * regions with the same name, file and line are the same region.
 */
typedef struct timeloom_region {
  const char* name; /* this and `file` are not copied: they must stay valid, as literals do */
  const char* file;
  uint32_t line; /* 0: unknown */
  uint32_t reserved;
  uint64_t state; /* for the library */
} timeloom_region;

/* Initialises a region that starts at this line. `name`: a literal. */
#define TIMELOOM_REGION(name) \
  { (name), __FILE__, __LINE__, 0, 0 }

/*
 * Returns the region with this name, file (null: unknown) and line (0: unknown), for names
 * that are known only while the program runs. The same arguments give the same pointer, which
 * stays valid and is never freed. Null when there is no memory; all functions accept null.
 * Costs a look-up under a lock, so call it once and keep the result.
 */
TIMELOOM_API timeloom_region* timeloom_region_define(const char* name, const char* file,
                                                     uint32_t line);

/*
 * Enters and leaves a region on the calling thread. Regions nest: with each other and with
 * the Python functions that are open on the thread. Leaving a region also leaves every region
 * that was entered inside it and is still open. A leave is recorded only if the region was
 * entered within the innermost open Python function (or anywhere on the thread, if no Python
 * function is open); any other leave is counted and not recorded.
 * Costs 15 to 25 ns while recording, of which reading the clock is the larger part.
 */
TIMELOOM_API void timeloom_enter(timeloom_region* region);
TIMELOOM_API void timeloom_leave(timeloom_region* region);

/* The same for the region of this name, without file and line. Costs a look-up under a lock. */
TIMELOOM_API void timeloom_region_begin(const char* name);
TIMELOOM_API void timeloom_region_end(const char* name);

/*
 * Attaches a value to the innermost open region of the calling thread; call it right after
 * entering the region. Profiles tell the region's visits apart by the value. Each different
 * string is kept for the whole run. Costs a look-up under a lock.
 */
TIMELOOM_API void timeloom_parameter_int(const char* name, int64_t value);
TIMELOOM_API void timeloom_parameter_uint(const char* name, uint64_t value);
TIMELOOM_API void timeloom_parameter_float(const char* name, double value);
TIMELOOM_API void timeloom_parameter_string(const char* name, const char* value);

/*
 * Records the present value of a counter. `unit` is a text for people ("bytes", "1/s"). The
 * type is part of the counter: do not mix the two functions for one name. Costs a look-up
 * under a lock.
 */
TIMELOOM_API void timeloom_counter_int(const char* name, int64_t value, const char* unit);
TIMELOOM_API void timeloom_counter_float(const char* name, double value, const char* unit);

/* Puts a mark with a text on the timeline at the present time. Costs a write to a file. */
TIMELOOM_API void timeloom_marker(const char* text);

/*
 * Switches the recording of the whole process off and on, as timeloom.disable_recording() and
 * timeloom.enable_recording() do in Python. Between the two nothing is recorded; the library
 * keeps track of the regions entered and left, so that enter and leave events still balance.
 * For rare use: each call visits all threads. In a Python program the call takes the
 * interpreter lock, so no thread that holds that lock may be waiting for the caller.
 */
TIMELOOM_API void timeloom_disable_recording(void);
TIMELOOM_API void timeloom_enable_recording(void);

/* 1 while a measurement runs in this process, else 0; 1 while that also records, else 0. */
TIMELOOM_API int timeloom_is_active(void);
TIMELOOM_API int timeloom_is_recording(void);

/* The version of the library, "1.2.3". A constant. */
TIMELOOM_API const char* timeloom_version(void);

#ifdef __cplusplus
}  // extern "C"

namespace timeloom {

// Enters a region and leaves it at the end of the block, also by an exception.
class ScopedRegion {
 public:
  explicit ScopedRegion(timeloom_region& region) noexcept : region_(region) {
    timeloom_enter(&region_);
  }
  ~ScopedRegion() { timeloom_leave(&region_); }
  ScopedRegion(const ScopedRegion&) = delete;
  ScopedRegion& operator=(const ScopedRegion&) = delete;

 private:
  timeloom_region& region_;
};

}  // namespace timeloom

#define TIMELOOM_DETAIL_JOIN(a, b) a##b
#define TIMELOOM_DETAIL_NAME(a, b) TIMELOOM_DETAIL_JOIN(a, b)
// The rest of the block is a region of this name (a literal).
#define TIMELOOM_SCOPE(name)                                                                       \
  static timeloom_region TIMELOOM_DETAIL_NAME(timeloom_region_, __LINE__) = TIMELOOM_REGION(name); \
  const ::timeloom::ScopedRegion TIMELOOM_DETAIL_NAME(                                             \
      timeloom_scope_, __LINE__)(TIMELOOM_DETAIL_NAME(timeloom_region_, __LINE__))
#endif

#endif
