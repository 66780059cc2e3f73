# Finds the OTF2 library, or builds it with Timeloom where it is missing, and declares it as the
# target timeloom_otf2_library:
#
#   OTF2_INCLUDE_DIR, OTF2_LIBRARY  where it is
#   TIMELOOM_OTF2_SOURCE            the archive of its source, otherwise; an sdist has one
#                                   in packaging/otf2 (scripts/release/release.py)
find_path(OTF2_INCLUDE_DIR otf2/otf2.h)
# The static library first: what pip installs must run where no OTF2 library is.
# Debian calls it open-trace-format2 or open_trace_format2, its authors otf2; where there is no
# static one, the shared library has to be where the program runs.
find_library(OTF2_LIBRARY NAMES libopen-trace-format2.a libopen_trace_format2.a libotf2.a
  open-trace-format2 open_trace_format2 otf2)
mark_as_advanced(OTF2_INCLUDE_DIR OTF2_LIBRARY)
file(GLOB timeloom_otf2_archive ${PROJECT_SOURCE_DIR}/packaging/otf2/*.tar.*)
set(TIMELOOM_OTF2_SOURCE "${timeloom_otf2_archive}" CACHE FILEPATH
  "An archive of OTF2's source, which is built where its library is missing")

# Whether the headers are of a version whose names are used here.
set(timeloom_otf2_found OFF)
if(OTF2_INCLUDE_DIR AND OTF2_LIBRARY)
  file(STRINGS ${OTF2_INCLUDE_DIR}/otf2/OTF2_GeneralDefinitions.h timeloom_otf2_major
    REGEX "^#define OTF2_VERSION_MAJOR +[3-9]")
  if(timeloom_otf2_major)
    set(timeloom_otf2_found ON)
  endif()
endif()

if(timeloom_otf2_found)
  timeloom_foreign_library(timeloom_otf2_library ${OTF2_INCLUDE_DIR} ${OTF2_LIBRARY})
  return()
endif()
find_program(TIMELOOM_MAKE NAMES make gmake)
mark_as_advanced(TIMELOOM_MAKE)
if(NOT TIMELOOM_OTF2_SOURCE OR NOT TIMELOOM_MAKE)
  # A message that begins with a space stays one line.
  message(FATAL_ERROR " The OTF2 library (3.0 or later) is missing: install libopen-trace-format2-dev (Debian), "
    "otf2-devel (Fedora) or otf2 (conda-forge), or take a wheel or the sdist, which have it inside (the sdist needs make).")
endif()

message(STATUS "The OTF2 library is missing, and is built from ${TIMELOOM_OTF2_SOURCE}")
include(ExternalProject)
cmake_host_system_information(RESULT timeloom_processors QUERY NUMBER_OF_LOGICAL_CORES)
set(timeloom_otf2_directory ${PROJECT_BINARY_DIR}/otf2)
set(timeloom_otf2_built ${timeloom_otf2_directory}/build/build-backend/.libs/libotf2.a)
ExternalProject_Add(timeloom_otf2_source
  URL ${TIMELOOM_OTF2_SOURCE}
  DOWNLOAD_EXTRACT_TIMESTAMP ON
  PREFIX ${timeloom_otf2_directory}
  SOURCE_DIR ${timeloom_otf2_directory}/source
  BINARY_DIR ${timeloom_otf2_directory}/build
  CONFIGURE_COMMAND ""
  BUILD_COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER}
                sh ${PROJECT_SOURCE_DIR}/packaging/otf2/build.sh <SOURCE_DIR> ${timeloom_processors}
  BUILD_BYPRODUCTS ${timeloom_otf2_built}
  INSTALL_COMMAND ""
  LOG_BUILD ON
  LOG_OUTPUT_ON_FAILURE ON)
# One of the headers is made by configure.
timeloom_foreign_library(timeloom_otf2_library
  "${timeloom_otf2_directory}/source/include;${timeloom_otf2_directory}/build/include" ${timeloom_otf2_built})
add_dependencies(timeloom_otf2_library timeloom_otf2_source)
# A wheel carries the licence of what is in its program.
if(DEFINED SKBUILD_METADATA_DIR)
  install(FILES ${timeloom_otf2_directory}/source/COPYING
    DESTINATION ${SKBUILD_METADATA_DIR}/licenses/bundled RENAME otf2.txt)
endif()
