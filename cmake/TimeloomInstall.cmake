# Installs what native code is compiled with: libtimeloom.so, its header, the CMake
# package and the program timeloom-config. pip installs them into the package, where the
# extension finds the library by its RPATH, and timeloom-config beside the interpreter, too.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

if(DEFINED SKBUILD_SCRIPTS_DIR)
  set(timeloom_lib timeloom/lib)
  set(timeloom_include timeloom/include)
  set(timeloom_scripts timeloom/bin ${SKBUILD_SCRIPTS_DIR})
  set(timeloom_config_libdir lib)
  # An archive of pip holds no symbolic links: a linker script stands for the one that
  # -ltimeloom is found by. A second file would be a second recorder.
  install(TARGETS timeloom_record_shared LIBRARY DESTINATION ${timeloom_lib} NAMELINK_SKIP)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/libtimeloom.so
    CONTENT "INPUT(-l:$<TARGET_FILE_NAME:timeloom_record_shared>)\n")
  install(FILES ${PROJECT_BINARY_DIR}/libtimeloom.so DESTINATION ${timeloom_lib})
else()
  set(timeloom_lib ${CMAKE_INSTALL_LIBDIR})
  set(timeloom_include ${CMAKE_INSTALL_INCLUDEDIR})
  set(timeloom_scripts ${CMAKE_INSTALL_BINDIR})
  set(timeloom_config_libdir ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS timeloom_record_shared LIBRARY DESTINATION ${timeloom_lib})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/include/timeloom/timeloom.h
  DESTINATION ${timeloom_include}/timeloom)

set(timeloom_library_name libtimeloom.so.${PROJECT_VERSION_MAJOR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/timeloom-config.cmake.in ${PROJECT_BINARY_DIR}/timeloom-config.cmake
  INSTALL_DESTINATION ${timeloom_lib}/cmake/timeloom
  PATH_VARS timeloom_lib timeloom_include)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/timeloom-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/timeloom-config.cmake
              ${PROJECT_BINARY_DIR}/timeloom-config-version.cmake
  DESTINATION ${timeloom_lib}/cmake/timeloom)

configure_file(${CMAKE_CURRENT_LIST_DIR}/timeloom-config.in ${PROJECT_BINARY_DIR}/timeloom-config
  @ONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                         GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
foreach(directory ${timeloom_scripts})
  install(PROGRAMS ${PROJECT_BINARY_DIR}/timeloom-config DESTINATION ${directory})
endforeach()

# Manual pages and what shells complete (scripts/pages/command_pages.py).
if(TIMELOOM_BUILD_TOOLS)
  set(timeloom_share ${CMAKE_INSTALL_DATADIR})
  if(DEFINED SKBUILD_DATA_DIR)
    set(timeloom_share ${SKBUILD_DATA_DIR}/share)
  endif()
  set(timeloom_left_out "")  # pages of the commands of doors that are not built
  if(NOT omnitrace IN_LIST TIMELOOM_DOORS)
    list(APPEND timeloom_left_out REGEX "/_?(omnitrace|rocprof-sys)[^/]*$" EXCLUDE)
  endif()
  if(NOT scorep IN_LIST TIMELOOM_DOORS)
    list(APPEND timeloom_left_out REGEX "/_?scorep[^/]*$" EXCLUDE)
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/ DESTINATION ${timeloom_share} ${timeloom_left_out})
  # What job scripts source or load; by both names of the tool.
  if(omnitrace IN_LIST TIMELOOM_DOORS)
    foreach(name omnitrace rocprofiler-systems)
      install(FILES ${PROJECT_SOURCE_DIR}/packaging/omnitrace/setup-env.sh
              DESTINATION ${timeloom_share}/${name})
      install(FILES ${PROJECT_SOURCE_DIR}/packaging/omnitrace/modulefile
              DESTINATION ${timeloom_share}/modulefiles/${name} RENAME 1.12)
    endforeach()
  endif()
endif()

# The licences of what is linked in, which a wheel carries (scripts/release/bundled.py).
if(TIMELOOM_LICENCES AND DEFINED SKBUILD_METADATA_DIR)
  install(DIRECTORY ${TIMELOOM_LICENCES}/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses/bundled)
endif()
