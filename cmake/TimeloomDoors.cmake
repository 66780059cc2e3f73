# The doors that are built: a folder of src/doors each, see CONTRIBUTING.md.
set(TIMELOOM_DOORS timeloom scorep omnitrace CACHE STRING
  "The doors that are built: names of folders in src/doors, separated by semicolons")
file(GLOB timeloom_known_doors RELATIVE ${PROJECT_SOURCE_DIR}/src/doors ${PROJECT_SOURCE_DIR}/src/doors/*)
foreach(door IN LISTS TIMELOOM_DOORS)
  if(NOT door IN_LIST timeloom_known_doors)
    list(JOIN timeloom_known_doors ", " known)
    # A message that begins with a space stays one line.
    message(FATAL_ERROR " TIMELOOM_DOORS: there is no door '${door}'; the folders of src/doors are ${known}.")
  endif()
endforeach()
if(NOT timeloom IN_LIST TIMELOOM_DOORS)
  message(FATAL_ERROR " TIMELOOM_DOORS: the door 'timeloom' cannot be left out.")
endif()

# timeloom_door_table(<layer>)
# writes doors/<layer>.inc, which sources include: a line TIMELOOM_DOOR(Name) for each door with a
# folder of that layer.
set(timeloom_door_tables ${PROJECT_BINARY_DIR}/door_tables)
function(timeloom_door_table layer)
  set(lines "")
  foreach(door IN LISTS TIMELOOM_DOORS)
    if(EXISTS ${PROJECT_SOURCE_DIR}/src/doors/${door}/${layer})
      string(SUBSTRING ${door} 0 1 first)
      string(SUBSTRING ${door} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND lines "TIMELOOM_DOOR(${first}${rest})\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${timeloom_door_tables}/doors/${layer}.inc CONTENT "${lines}" @ONLY)
endfunction()

# timeloom_door_sources(<layer> <target>)
# compiles into the target what the doors have for its layer. A folder with targets of its own is
# not for this.
function(timeloom_door_sources layer target)
  timeloom_door_table(${layer})
  target_include_directories(${target} PRIVATE ${timeloom_door_tables})
  foreach(door IN LISTS TIMELOOM_DOORS)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/doors/${door}/${layer}/*.cpp)
    target_sources(${target} PRIVATE ${sources})
    foreach(used settings format)
      if(TARGET timeloom_${door}_${used} AND (used STREQUAL settings OR layer STREQUAL tools))
        target_link_libraries(${target} PRIVATE timeloom_${door}_${used})
      endif()
    endforeach()
  endforeach()
endfunction()

# timeloom_add_doors(<layer>)
# adds the targets that doors have for a layer: timeloom_<door>_<layer>.
function(timeloom_add_doors layer)
  foreach(door IN LISTS TIMELOOM_DOORS)
    timeloom_add_folder(src/doors/${door}/${layer})
  endforeach()
endfunction()
