/* Loads the libraries that argv names, one after the other, and then uses the last one,
   libtimeloom: others may have used up the room for thread-local variables by then. */
#include <dlfcn.h>
#include <stdio.h>

#include "timeloom/timeloom.h"

static timeloom_region region = TIMELOOM_REGION("late");

int main(int argc, char** argv) {
  void* library = NULL;
  for (int i = 1; i < argc; ++i) {
    library = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
  }
  void (*enter)(timeloom_region*) = (void (*)(timeloom_region*))dlsym(library, "timeloom_enter");
  void (*leave)(timeloom_region*) = (void (*)(timeloom_region*))dlsym(library, "timeloom_leave");
  if (enter == NULL || leave == NULL) return 2;
  enter(&region);
  leave(&region);
  dlclose(library);
  return 0;
}
