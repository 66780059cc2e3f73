# Finds the Python that the extension is for: the interpreter that builds, or, for a wheel of
# another one or of another architecture (scripts/release/wheels.py), the headers of that alone:
#
#   TIMELOOM_PYTHON_HEADERS  directories of headers, separated by semicolons; the first has Python.h
#   TIMELOOM_PYTHON_SOABI    what its extensions have in their names: cpython-314-x86_64-linux-gnu
#
# Either way defines Python_VERSION_MAJOR, Python_VERSION_MINOR, the target Python::Module, the function
# Python_add_library, and TIMELOOM_PYTHON_ABI_FLAG, which is t for a build without a GIL, else empty.
if(NOT TIMELOOM_PYTHON_HEADERS)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  set(TIMELOOM_PYTHON_SOABI ${Python_SOABI})
endif()
string(REGEX MATCH "^cpython-[0-9]+(t?)" timeloom_python_tag "${TIMELOOM_PYTHON_SOABI}")
set(TIMELOOM_PYTHON_ABI_FLAG ${CMAKE_MATCH_1})
if(NOT TIMELOOM_PYTHON_HEADERS)
  return()
endif()

list(GET TIMELOOM_PYTHON_HEADERS 0 timeloom_python_first)
foreach(part MAJOR MINOR)
  file(STRINGS ${timeloom_python_first}/patchlevel.h timeloom_python_line
    REGEX "^#define[ \t]+PY_${part}_VERSION[ \t]+[0-9]+")
  string(REGEX REPLACE ".*[ \t]([0-9]+).*" "\\1" Python_VERSION_${part} "${timeloom_python_line}")
endforeach()
add_library(Python::Module INTERFACE IMPORTED)
target_include_directories(Python::Module INTERFACE ${TIMELOOM_PYTHON_HEADERS})
# The headers of a build without a GIL are the other build's headers, but for this line of pyconfig.h.
if(TIMELOOM_PYTHON_ABI_FLAG)
  target_compile_definitions(Python::Module INTERFACE Py_GIL_DISABLED=1)
endif()

function(Python_add_library name)
  set(sources ${ARGN})
  list(REMOVE_ITEM sources MODULE WITH_SOABI)
  add_library(${name} MODULE ${sources})
  target_link_libraries(${name} PRIVATE Python::Module)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".${TIMELOOM_PYTHON_SOABI}.so")
endfunction()
