# What `cmake --install` puts where: program, library, headers, CMake package, pkg-config file, documents.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hondana)

# A static library does not carry what it links: the consumer finds the libraries of the components that it asks for. In the pkg-config
# files they are public for that reason: the private ones come only with `--static`, which asks for static builds of Debian's libraries
# too. hondana_links_NAME is what component NAME and those that it needs link.
get_property(components GLOBAL PROPERTY HONDANA_COMPONENTS)
set(HONDANA_COMPONENT_LINKS "")
set(all_links "")
foreach(component ${components})
  set(links "")
  if(NOT BUILD_SHARED_LIBS)
    get_property(needs GLOBAL PROPERTY HONDANA_NEEDS_${component})
    foreach(part ${component} ${needs})
      get_target_property(linked hondana_component_${part} HONDANA_LINK)
      list(APPEND links ${linked})
    endforeach()
    list(REMOVE_DUPLICATES links)
  endif()
  list(JOIN links " " spelled)
  string(APPEND HONDANA_COMPONENT_LINKS "set(hondana_links_${component} ${spelled})\n")
  list(APPEND all_links ${links})
endforeach()
list(REMOVE_DUPLICATES all_links)
set(HONDANA_CONSUMER_FINDS "")
foreach(link ${all_links})
  get_property(statement GLOBAL PROPERTY "HONDANA_FIND_${link}")
  string(APPEND HONDANA_CONSUMER_FINDS "if(\"${link}\" IN_LIST hondana_links)\n  ${statement}\nendif()\n")
endforeach()
list(JOIN components " " HONDANA_COMPONENTS)

# `cmake --install build --component program` installs the program and its documents, `--component development` what embedders compile
# and link. Without --component both are installed.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
list(TRANSFORM components PREPEND hondana_component_ OUTPUT_VARIABLE libraries)
install(TARGETS hondana ${libraries} EXPORT hondana_targets ARCHIVE COMPONENT development
        LIBRARY COMPONENT program NAMELINK_COMPONENT development) # the program needs a shared library, too
install(EXPORT hondana_targets FILE hondanaTargets.cmake NAMESPACE hondana:: DESTINATION ${package_dir} COMPONENT development)
install(DIRECTORY include/hondana TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN "*.hpp")
if(TARGET hondana_program)
  install(TARGETS hondana_program)
endif()

configure_package_config_file(cmake/hondanaConfig.cmake.in ${PROJECT_BINARY_DIR}/hondanaConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_CHECK_REQUIRED_COMPONENTS_MACRO NO_SET_AND_CHECK_MACRO)
# Before 1.0 the interface may change with the minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hondanaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hondanaConfig.cmake ${PROJECT_BINARY_DIR}/hondanaConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# A file finds its prefix from where it lies, so that an installed tree may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
set(HONDANA_PC_PREFIX "\${pcfiledir}/${up}")
function(hondana_install_pc name description requires libs)
  list(JOIN requires ", " requires)
  list(JOIN libs " " libs)
  configure_file(cmake/hondana.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
string(REPLACE "_" "-" files "${components}")
list(TRANSFORM files PREPEND hondana-)
if(BUILD_SHARED_LIBS)
  hondana_install_pc(hondana "${PROJECT_DESCRIPTION}" "" -lhondana)
else()
  list(REVERSE files) # those that others need stand last on the linker's command line
  hondana_install_pc(hondana "${PROJECT_DESCRIPTION}" "${files}" "")
endif()
foreach(component ${components})
  set(requires hondana)
  set(libs "")
  if(NOT BUILD_SHARED_LIBS)
    get_property(requires GLOBAL PROPERTY HONDANA_NEEDS_${component})
    string(REPLACE "_" "-" requires "${requires}")
    list(TRANSFORM requires PREPEND hondana-)
    set(libs -lhondana_${component})
    get_target_property(links hondana_component_${component} HONDANA_LINK)
    foreach(link ${links})
      get_property(module GLOBAL PROPERTY "HONDANA_REQUIRES_${link}")
      get_property(flags GLOBAL PROPERTY "HONDANA_LIBS_${link}")
      list(APPEND requires ${module})
      list(APPEND libs ${flags})
    endforeach()
  endif()
  string(REPLACE "_" "-" file hondana-${component})
  hondana_install_pc(${file} "${PROJECT_DESCRIPTION}: component ${component}" "${requires}" "${libs}")
endforeach()

# As in the source tree, so that the links between the pages lead somewhere.
install(FILES README.md README.ja.md CHANGELOG.md LICENSE SECURITY.md packaging/copyright TYPE DOC)
install(DIRECTORY docs TYPE DOC)
install(DIRECTORY packaging/systemd examples/nginx DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
        PATTERN CMakeLists.txt EXCLUDE PATTERN check.sh EXCLUDE)

# What the program says of itself: the manual page and the completions. A program for another machine cannot be asked here.
if(TARGET hondana_program AND NOT CMAKE_CROSSCOMPILING)
  set(told ${PROJECT_BINARY_DIR}/told)
  file(MAKE_DIRECTORY ${told})
  add_custom_command(
    OUTPUT ${told}/hondana.1.gz ${told}/hondana ${told}/_hondana ${told}/hondana.fish
    COMMAND hondana_program help --man > ${told}/hondana.1
    COMMAND gzip -9nf ${told}/hondana.1
    COMMAND hondana_program completions bash > ${told}/hondana
    COMMAND hondana_program completions zsh > ${told}/_hondana
    COMMAND hondana_program completions fish > ${told}/hondana.fish
    DEPENDS hondana_program
    COMMENT "Manual page and completions"
    VERBATIM)
  add_custom_target(hondana_told ALL DEPENDS ${told}/hondana.1.gz ${told}/hondana ${told}/_hondana ${told}/hondana.fish)
  install(FILES ${told}/hondana.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${told}/hondana DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${told}/hondana.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # Debian's zsh looks there.
  install(FILES ${told}/_hondana DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
