# Finds the library expat, and declares it as the target timeloom_expat_library.
include_guard(GLOBAL)
find_path(EXPAT_INCLUDE_DIR expat.h)
# The static library first: what pip installs must run where it is not.
find_library(EXPAT_LIBRARY NAMES libexpat.a expat)
if(NOT EXPAT_INCLUDE_DIR OR NOT EXPAT_LIBRARY)
  message(FATAL_ERROR "The library expat is missing: install the Debian package libexpat1-dev.")
endif()
mark_as_advanced(EXPAT_INCLUDE_DIR EXPAT_LIBRARY)
timeloom_foreign_library(timeloom_expat_library ${EXPAT_INCLUDE_DIR} ${EXPAT_LIBRARY})
