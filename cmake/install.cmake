# What `cmake --install` puts where: program, library, headers, CMake package, pkg-config file, documents.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hondana)

# A static library does not carry what it links: the consumer finds each library of the modules again. In hondana.pc they are
# public for that reason: the private ones come only with `--static`, which asks for static builds of Debian's libraries too.
hondana_linked_libraries(links)
set(HONDANA_CONSUMER_FINDS "")
set(HONDANA_PC_REQUIRES "")
set(HONDANA_PC_LIBS "")
get_target_property(library_type hondana TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
  foreach(link ${links})
    get_property(statement GLOBAL PROPERTY "HONDANA_FIND_${link}")
    get_property(module GLOBAL PROPERTY "HONDANA_REQUIRES_${link}")
    get_property(flags GLOBAL PROPERTY "HONDANA_LIBS_${link}")
    string(APPEND HONDANA_CONSUMER_FINDS "${statement}\n")
    list(APPEND HONDANA_PC_REQUIRES ${module})
    list(APPEND HONDANA_PC_LIBS ${flags})
  endforeach()
endif()
list(JOIN HONDANA_PC_REQUIRES ", " HONDANA_PC_REQUIRES)
list(JOIN HONDANA_PC_LIBS " " HONDANA_PC_LIBS)

target_include_directories(hondana INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(hondana INTERFACE cxx_std_20)
set_target_properties(hondana PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

install(TARGETS hondana EXPORT hondana_targets)
install(EXPORT hondana_targets FILE hondanaTargets.cmake NAMESPACE hondana:: DESTINATION ${package_dir})
install(DIRECTORY include/hondana TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp")
if(TARGET hondana_program)
  install(TARGETS hondana_program)
endif()

configure_package_config_file(cmake/hondanaConfig.cmake.in ${PROJECT_BINARY_DIR}/hondanaConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 the interface may change with the minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hondanaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hondanaConfig.cmake ${PROJECT_BINARY_DIR}/hondanaConfigVersion.cmake
        DESTINATION ${package_dir})

# The file finds its prefix from where it lies, so that an installed tree may be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
set(HONDANA_PC_PREFIX "\${pcfiledir}/${up}")
configure_file(cmake/hondana.pc.in ${PROJECT_BINARY_DIR}/hondana.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hondana.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

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
