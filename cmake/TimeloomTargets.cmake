# Compiler settings and the functions that declare Timeloom's targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
find_package(Threads REQUIRED)
include(CheckCSourceCompiles)
# The program, the tests and the extensions of all Pythons compile the same files with the same
# options: the compiler cache makes that one compilation.
find_program(TIMELOOM_CCACHE ccache)
find_program(TIMELOOM_ENV env)
if(TIMELOOM_CCACHE AND TIMELOOM_ENV AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache caches nothing that uses a precompiled header. With the base
  # directory the build directories of all checkouts have the same precompiled headers.
  set(timeloom_ccache_settings CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(NOT DEFINED ENV{CCACHE_BASEDIR})
    list(APPEND timeloom_ccache_settings CCACHE_BASEDIR=${PROJECT_SOURCE_DIR})
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TIMELOOM_ENV} ${timeloom_ccache_settings} ${TIMELOOM_CCACHE})
endif()

add_library(timeloom_options INTERFACE)
target_compile_options(timeloom_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${TIMELOOM_WERROR}>:-Werror>
  # src/record/exports.map.in lists the names that libtimeloom.so exports of the folders in it.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TIMELOOM_EXPORTED>>>:-fvisibility=hidden>
  # One load per access of a thread-local instead of a call of __tls_get_addr.
  -ftls-model=initial-exec)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own std::string at -O3 (GCC bug 105651).
  target_compile_options(timeloom_options INTERFACE -Wno-restrict)
endif()
target_link_libraries(timeloom_options INTERFACE Threads::Threads)
# Drops what nothing calls: a wheel has the C++ library in each of its programs and libraries.
target_link_options(timeloom_options INTERFACE -Wl,--gc-sections)
if(TIMELOOM_SANITIZE)
  target_compile_options(timeloom_options INTERFACE
    -fsanitize=${TIMELOOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(timeloom_options INTERFACE -fsanitize=${TIMELOOM_SANITIZE})
endif()

# What the compiler of a target with precompiled headers needs besides them: with GCC's option
# ccache need not preprocess the headers again.
set(timeloom_precompiled_options $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of its own std::string here, too, once that header is a precompiled one.
  list(APPEND timeloom_precompiled_options -Wno-array-bounds -Wno-stringop-overflow)
endif()

# timeloom_precompile_headers(<target> [<a.hpp>...])
# parses once what most files include of the standard library, and these.
function(timeloom_precompile_headers target)
  target_compile_options(${target} PRIVATE ${timeloom_precompiled_options})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <charconv> <filesystem> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <thread> <unordered_map> <utility> <vector> ${ARGN})
endfunction()

# For the size of wheels: small code rather than fast code.
set(timeloom_small_options $<$<CONFIG:Release>:-Os>)

# Libraries whose files are compiled with the same options share their precompiled headers.
foreach(headers timeloom_library_headers timeloom_small_headers)
  add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/precompiled_headers.cpp)
  target_link_libraries(${headers} PRIVATE timeloom_options)
  timeloom_precompile_headers(${headers})
endforeach()
target_compile_options(timeloom_small_headers PRIVATE ${timeloom_small_options})

# timeloom_compile_together(<target>)
# lets the compiler read the headers of some files once (TIMELOOM_UNITY). So a name in an unnamed
# namespace must be unique in the whole target: batches of eight change when a file is added.
function(timeloom_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TIMELOOM_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(TIMELOOM_UNITY)
    # GCC warns of types of unnamed namespaces in a file that is included.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# timeloom_library(<folder-name> [EXPORTED] [SMALL] SOURCES a.cpp b.cpp [USES core os]
#                  [LINKS pkg::target] [HEADERS <a.hpp>])
# declares the static library timeloom_<name>. USES is the folder's line in the
# table of layers; scripts/check/check_layers.py checks the includes against the same table.
# EXPORTED: the folder is part of libtimeloom.so (src/record), and others call it there.
# SMALL: nothing in it runs for each event of a run.
# HEADERS are precompiled for it besides the standard library's.
function(timeloom_library name)
  cmake_parse_arguments(ARG "EXPORTED;SMALL" "" "SOURCES;USES;LINKS;HEADERS" ${ARGN})
  add_library(timeloom_${name} STATIC ${ARG_SOURCES})
  timeloom_compile_together(timeloom_${name})
  target_include_directories(timeloom_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(timeloom_${name} PRIVATE timeloom_options ${ARG_LINKS})
  foreach(used ${ARG_USES})
    target_link_libraries(timeloom_${name} PUBLIC timeloom_${used})
  endforeach()
  set(headers timeloom_library_headers)
  if(ARG_SMALL)
    set(headers timeloom_small_headers)
    target_compile_options(timeloom_${name} PRIVATE ${timeloom_small_options})
  endif()
  if(ARG_EXPORTED)
    set_target_properties(timeloom_${name} PROPERTIES TIMELOOM_EXPORTED ON)
    # Nobody replaces a function of ours, so ours call each other directly.
    target_compile_options(timeloom_${name} PRIVATE -fno-semantic-interposition)
  elseif(ARG_HEADERS)
    timeloom_precompile_headers(timeloom_${name} ${ARG_HEADERS})
  else()
    target_compile_options(timeloom_${name} PRIVATE ${timeloom_precompiled_options})
    target_precompile_headers(timeloom_${name} REUSE_FROM ${headers})
  endif()
endfunction()

# timeloom_test_options(<target>)
# does not optimise the sources of a test, which take longer to compile than to run. The
# libraries under test are those that users get.
function(timeloom_test_options target)
  target_link_libraries(${target} PRIVATE timeloom_options)
  target_compile_options(${target} PRIVATE
    $<$<CONFIG:Release>:-O0> ${timeloom_precompiled_options})
endfunction()

# timeloom_test(<name> SOURCES a_test.cpp [USES spool core])
# declares a GoogleTest program and registers it with CTest.
function(timeloom_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  timeloom_test_options(${name})
  timeloom_compile_together(${name})
  target_precompile_headers(${name} REUSE_FROM timeloom_test_headers)
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  foreach(used ${ARG_USES})
    target_link_libraries(${name} PRIVATE timeloom_${used})
  endforeach()
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# Adds a folder of the house if it has content yet.
function(timeloom_add_folder folder)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endfunction()

# timeloom_foreign_library(<target> <directory of headers> <library file>)
# declares a library that is not a part of Timeloom. Where it is static, another library of that name in the same
# process neither sees nor replaces it.
function(timeloom_foreign_library target headers library)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${headers})
  target_link_libraries(${target} INTERFACE ${library})
  if(library MATCHES "\\.a$")
    get_filename_component(archive_name ${library} NAME)
    target_link_options(${target} INTERFACE "LINKER:--exclude-libs,${archive_name}")
  endif()
endfunction()

# timeloom_find_library(<target> <NAME> <header> <static file> <shared name> <Debian package> [<function>])
# finds a library and declares it as the target. The static file comes first, since what pip installs must run where
# the shared one is not. With the name of a function in it, the library is for the shared libraries of Timeloom, too:
# the shared one is taken where the static one cannot be a part of those (expat 2.9 in Debian). NAME is the start of
# the variables that hold the places.
function(timeloom_find_library target name header static_file shared_name package)
  find_path(${name}_INCLUDE_DIR ${header})
  find_library(${name}_LIBRARY NAMES ${static_file} ${shared_name})
  if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
    message(FATAL_ERROR "The library ${shared_name} is missing: install the Debian package ${package}.")
  endif()
  if(ARGN AND ${name}_LIBRARY MATCHES "[.]a$")
    set(CMAKE_REQUIRED_FLAGS "-fPIC -shared")
    set(CMAKE_REQUIRED_LIBRARIES ${${name}_LIBRARY})
    check_c_source_compiles("char ${ARGN}(void); int main(void) { return ${ARGN}(); }" ${name}_IS_RELOCATABLE)
    if(NOT ${name}_IS_RELOCATABLE)
      find_library(${name}_SHARED_LIBRARY NAMES ${shared_name} REQUIRED)
      set(${name}_LIBRARY ${${name}_SHARED_LIBRARY})
    endif()
  endif()
  if(NOT ${name}_LIBRARY MATCHES "[.]a$")
    message(WARNING "There is no static library ${static_file}, or none for shared libraries: "
                    "Timeloom will need the shared one where it runs.")
  endif()
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY ${name}_SHARED_LIBRARY)
  timeloom_foreign_library(${target} ${${name}_INCLUDE_DIR} ${${name}_LIBRARY})
endfunction()
