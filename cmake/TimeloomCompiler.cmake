# Prints in one line that there is no compiler, before CMake looks for one and prints it in twenty. pip shows the line
# to somebody who may not know that a compiler is needed.
if(NOT CMAKE_CXX_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE AND NOT DEFINED ENV{CXX})
  find_program(TIMELOOM_COMPILER NAMES c++ g++ clang++ CC icpx)
  mark_as_advanced(TIMELOOM_COMPILER)
  if(NOT TIMELOOM_COMPILER)
    # A message that begins with a space stays one line.
    message(FATAL_ERROR " A C++ compiler is missing: install build-essential (Debian), gcc-c++ (Fedora) or "
      "cxx-compiler (conda-forge), or take a wheel, which needs none.")
  endif()
endif()

# In one line what would else be pages of errors. The loader of musl knows no indirect functions,
# which the wrappers of MPI are made of, nor thread-local variables of a fixed place in what is
# loaded late, which the recorder has.
function(timeloom_refuse_other_c_libraries)
  include(CheckCXXSymbolExists)
  check_cxx_symbol_exists(__GLIBC__ features.h TIMELOOM_HAS_GLIBC)
  if(NOT TIMELOOM_HAS_GLIBC)
    message(FATAL_ERROR " Timeloom needs Linux with glibc, and this compiler makes programs for another C library: "
      "in containers take an image with glibc, such as python:3.13-slim in the place of python:3.13-alpine.")
  endif()
endfunction()
