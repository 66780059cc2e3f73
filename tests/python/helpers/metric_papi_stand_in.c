/* A libpapi for machines without counters: TICK counts its own reads on a thread, in
   steps of 10, TOCK in steps of 1. Its version is 7.0. */
#include <stdlib.h>
#include <string.h>

#define MOST 8
static __thread int events[MOST];
static __thread int count;
static __thread long long reads;
static int initialised;

int PAPI_library_init(int version) {
  if (getenv("STAND_IN_FAILS")) return -6;
  if (version != 0x07000000) return -1;
  initialised = 1;
  return version;
}
int PAPI_thread_init(unsigned long (*id)(void)) { return initialised && id() != 0 ? 0 : -1; }
int PAPI_create_eventset(int* set) {
  *set = 1;
  count = 0;
  return 0;
}
int PAPI_add_named_event(int set, const char* name) {
  (void)set;
  if (strcmp(name, "FORBIDDEN") == 0) return -15;
  if (strcmp(name, "TICK") != 0 && strcmp(name, "TOCK") != 0) return -7;
  events[count++] = name[1] == 'I' ? 10 : 1;
  return 0;
}
int PAPI_start(int set) {
  (void)set;
  reads = 0;
  return 0;
}
int PAPI_read(int set, long long* values) {
  (void)set;
  ++reads;
  for (int i = 0; i < count; ++i) values[i] = reads * events[i];
  return 0;
}
int PAPI_stop(int set, long long* values) {
  (void)set;
  (void)values;
  return 0;
}
int PAPI_cleanup_eventset(int set) {
  (void)set;
  count = 0;
  return 0;
}
int PAPI_destroy_eventset(int* set) {
  *set = -1;
  return 0;
}
char* PAPI_strerror(int code) { return code == -6 ? "Component failed" : "Invalid argument"; }
