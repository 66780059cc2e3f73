# Says in one line that there is no compiler, before CMake looks for one and says it in twenty.
# pip shows the line to somebody who may not know that a compiler is needed.
if(NOT CMAKE_CXX_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE AND NOT DEFINED ENV{CXX})
  find_program(TIMELOOM_COMPILER NAMES c++ g++ clang++ CC icpx)
  mark_as_advanced(TIMELOOM_COMPILER)
  if(NOT TIMELOOM_COMPILER)
    # A message that begins with a space stays one line.
    message(FATAL_ERROR " A C++ compiler is missing: install build-essential (Debian), gcc-c++ (Fedora) or "
      "cxx-compiler (conda-forge), or take a wheel, which needs none.")
  endif()
endif()
