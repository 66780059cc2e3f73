# fish completion of timeloom-config; made by scripts/pages/command_pages.py
complete -c timeloom-config -l cflags -d 'flags of the compiler'
complete -c timeloom-config -l libs -d 'flags of the linker; the program finds the library where it is now'
complete -c timeloom-config -l compiler -d 'flags of the compiler $CC (cc) with which the calls of all functions are recorded, but for functions of system headers; with --libs, or run with timeloom run --compiler'
complete -c timeloom-config -l prefix -d 'directory of the library and the header, for CMAKE_PREFIX_PATH'
complete -c timeloom-config -l cmakedir -d 'directory of the CMake package, for timeloom_DIR'
complete -c timeloom-config -l kokkos -d 'path of the library that Kokkos loads, for KOKKOS_TOOLS_LIBS'
complete -c timeloom-config -l version -d 'version of Timeloom'
