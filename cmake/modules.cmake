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
  set_target_properties(${target} PROPERTIES HONDANA_LINK "${links}")
  set_property(GLOBAL APPEND PROPERTY HONDANA_MODULES ${target})
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
