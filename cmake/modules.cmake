# A module is a folder of src/, such as src/base/json, built as one object library.

add_library(hondana_flags INTERFACE)
target_include_directories(hondana_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(hondana_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                               -Wnon-virtual-dtor -Woverloaded-virtual)
# g++ 12 takes a moved std::optional for uninitialised, a string's comparison for an overread, and "literal" + string for an
# overflow (its bug 105651); clang sees these files too, with all its warnings.
target_compile_options(
  hondana_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-maybe-uninitialized>)
# Where files are compiled in batches, g++ takes a local for shadowing what another file keeps to itself, and a class of a source
# file for one of a header; clang does not.
if(CMAKE_UNITY_BUILD)
  target_compile_options(hondana_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-shadow;-Wshadow=local;-Wno-subobject-linkage>)
endif()
if(HONDANA_WERROR)
  target_compile_options(hondana_flags INTERFACE -Werror)
endif()
target_compile_definitions(hondana_flags INTERFACE HONDANA_VERSION="${PROJECT_VERSION}")
if(HONDANA_PORTABLE_KERNELS)
  target_compile_definitions(hondana_flags INTERFACE HONDANA_PORTABLE_KERNELS)
endif()
target_link_libraries(hondana_flags INTERFACE Threads::Threads hondana_safety)

# hondana_precompile(TARGET headers...)
# g++ notes the bytes of each header in what it makes of them, comments too, and takes a header that differs for another one.
# So ccache is to go by the files themselves (depend mode) and not by what the preprocessor leaves of them.
function(hondana_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_DEPEND=1;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()

# The one precompiled header, used by every module. It holds no header of ours: ccache would bring one checkout's into another.
file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cpp.new "// Carries the precompiled header.\n")
file(COPY_FILE ${PROJECT_BINARY_DIR}/precompiled.cpp.new ${PROJECT_BINARY_DIR}/precompiled.cpp ONLY_IF_DIFFERENT)
add_library(hondana_pch OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
target_link_libraries(hondana_pch PRIVATE hondana_flags)
set(HONDANA_PRECOMPILED
    <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstddef> <cstdint> <cstring> <deque> <filesystem>
    <functional> <map> <memory> <mutex> <optional> <set> <span> <stop_token> <string> <string_view> <thread> <tuple>
    <unordered_map> <utility> <variant> <vector> <tl/expected.hpp>)
hondana_precompile(hondana_pch ${HONDANA_PRECOMPILED})

# hondana_module(NAME [USES modules of its group...] [LINK libraries...])
# NAME is the path below src/, GROUP/MODULE; the target is hondana_GROUP_MODULE. A module may include every module of a lower group and
# those of its own group that it names under USES (checked by tests/house/check_includes.sh). Lower groups are declared first, so that
# the libraries whose headers a module may meet are those of the modules declared before it, and its own.
function(hondana_module name)
  cmake_parse_arguments(module "" "" "LINK;USES" ${ARGN})
  string(REPLACE "/" "_" target "hondana_${name}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY HONDANA_LINKS Threads::Threads ${module_LINK})
  get_property(links GLOBAL PROPERTY HONDANA_LINKS)
  list(REMOVE_DUPLICATES links)
  add_library(${target} OBJECT ${sources})
  target_precompile_headers(${target} REUSE_FROM hondana_pch)
  target_link_libraries(${target} PUBLIC hondana_flags ${links})
  set_target_properties(${target} PROPERTIES HONDANA_LINK "Threads::Threads;${module_LINK}")
  set_property(GLOBAL APPEND PROPERTY HONDANA_MODULES ${name})
endfunction()

# Makes a module of every folder of src/sources/ that src/CMakeLists.txt does not name. One that links a library says so in a file
# `module.cmake` of its own: set(LINK ...).
function(hondana_remaining_sources)
  file(GLOB folders CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/sources/*)
  foreach(folder ${folders})
    string(REPLACE "/" "_" target "hondana_${folder}")
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/src/${folder} AND NOT TARGET ${target})
      set(LINK "")
      include(${PROJECT_SOURCE_DIR}/src/${folder}/module.cmake OPTIONAL)
      hondana_module(${folder} USES config LINK ${LINK})
    endif()
  endforeach()
endfunction()

# hondana_component(NAME MODULES modules... [NEEDS components...])
# A part of the library that embedders link by its name: the archive libhondana_NAME.a and the target hondana::NAME. In MODULES a group
# stands for those of its modules that no component names. NEEDS names components that are declared before and whose headers or functions
# these modules use; the components that those need are added. tests/house links each component as a whole, which fails if one is missing.
function(hondana_component name)
  cmake_parse_arguments(component "" "" "MODULES;NEEDS" ${ARGN})
  get_property(declared GLOBAL PROPERTY HONDANA_COMPONENTS)
  set(needs "")
  foreach(need ${component_NEEDS})
    if(NOT need IN_LIST declared)
      message(FATAL_ERROR "component ${name} needs ${need}, which is not declared before it")
    endif()
    get_property(further GLOBAL PROPERTY HONDANA_NEEDS_${need})
    list(APPEND needs ${need} ${further})
  endforeach()
  list(REMOVE_DUPLICATES needs)
  set_property(GLOBAL APPEND PROPERTY HONDANA_COMPONENTS ${name})
  set_property(GLOBAL APPEND PROPERTY HONDANA_IN_COMPONENTS ${component_MODULES})
  set_property(GLOBAL PROPERTY HONDANA_MODULES_${name} ${component_MODULES})
  set_property(GLOBAL PROPERTY HONDANA_NEEDS_${name} ${needs})
endfunction()

# Makes the libraries of the components, and `hondana`, which is all of them. A module that is in no component becomes one, which needs
# all others. As a shared library all is in libhondana.so, and each component is another name of it.
function(hondana_make_libraries)
  get_property(modules GLOBAL PROPERTY HONDANA_MODULES)
  get_property(named GLOBAL PROPERTY HONDANA_IN_COMPONENTS)
  foreach(module ${modules})
    string(REGEX MATCH "^[^/]+" group ${module})
    if(NOT module IN_LIST named AND NOT group IN_LIST named)
      string(REPLACE "/" "_" name ${module})
      get_property(before GLOBAL PROPERTY HONDANA_COMPONENTS)
      hondana_component(${name} MODULES ${module} NEEDS ${before})
    endif()
  endforeach()

  if(BUILD_SHARED_LIBS)
    add_library(hondana SHARED)
    target_link_libraries(hondana PRIVATE $<BUILD_INTERFACE:hondana_flags>)
    set_target_properties(hondana PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    add_library(hondana INTERFACE)
  endif()
  add_library(hondana::hondana ALIAS hondana)

  set(public_headers $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  get_property(components GLOBAL PROPERTY HONDANA_COMPONENTS)
  foreach(component ${components})
    set(objects "")
    set(links "")
    get_property(entries GLOBAL PROPERTY HONDANA_MODULES_${component})
    foreach(module ${modules})
      string(REGEX MATCH "^[^/]+" group ${module})
      if(module IN_LIST entries OR (group IN_LIST entries AND NOT module IN_LIST named))
        string(REPLACE "/" "_" target "hondana_${module}")
        get_target_property(link ${target} HONDANA_LINK)
        list(APPEND objects $<TARGET_OBJECTS:${target}>)
        list(APPEND links ${link})
      endif()
    endforeach()
    if(NOT objects)
      message(FATAL_ERROR "component ${component} has no modules")
    endif()
    hondana_linked_libraries(links ${links})
    set(target hondana_component_${component})
    if(BUILD_SHARED_LIBS)
      add_library(${target} INTERFACE)
      target_link_libraries(${target} INTERFACE hondana)
      target_sources(hondana PRIVATE ${objects})
      target_link_libraries(hondana PRIVATE ${links})
    else()
      get_property(needs GLOBAL PROPERTY HONDANA_NEEDS_${component})
      list(TRANSFORM needs PREPEND hondana_component_)
      add_library(${target} STATIC ${objects})
      target_link_libraries(${target} PRIVATE ${needs} ${links})
      set_target_properties(${target} PROPERTIES OUTPUT_NAME hondana_${component})
      target_link_libraries(hondana INTERFACE ${target})
    endif()
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_include_directories(${target} INTERFACE ${public_headers})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${component} HONDANA_LINK "${links}")
    add_library(hondana::${component} ALIAS ${target})
  endforeach()
  target_compile_features(hondana INTERFACE cxx_std_20)
  target_include_directories(hondana INTERFACE ${public_headers})
endfunction()
