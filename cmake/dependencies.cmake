# Every library hondana links, all from Debian packages, and how a consumer of the installed static library finds each.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(simdjson REQUIRED)
find_package(spdlog REQUIRED)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle)
# Never linked: it is loaded when it is used, and its headers alone are needed.
pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl)
add_library(curl_headers INTERFACE)
target_include_directories(curl_headers SYSTEM INTERFACE ${curl_INCLUDE_DIRS})
pkg_check_modules(libmagic REQUIRED IMPORTED_TARGET libmagic)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(libgit2 REQUIRED IMPORTED_TARGET libgit2)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(jsoncpp REQUIRED IMPORTED_TARGET jsoncpp)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lzma REQUIRED IMPORTED_TARGET liblzma)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3)
# Never linked: they are loaded when a chart is drawn, and their headers alone are needed.
pkg_check_modules(pango REQUIRED IMPORTED_TARGET pangocairo cairo cairo-svg)
add_library(pango_headers INTERFACE)
target_include_directories(pango_headers SYSTEM INTERFACE ${pango_INCLUDE_DIRS})
# Never linked: it is loaded when a journal is read, and its headers alone are needed.
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
add_library(systemd_headers INTERFACE)
target_include_directories(systemd_headers SYSTEM INTERFACE ${systemd_INCLUDE_DIRS})
pkg_check_modules(uchardet REQUIRED IMPORTED_TARGET uchardet)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(gumbo REQUIRED IMPORTED_TARGET gumbo)
find_path(HONDANA_STEMMER_INCLUDE libstemmer.h REQUIRED)
find_library(HONDANA_STEMMER_LIBRARY stemmer REQUIRED)
add_library(stemmer INTERFACE IMPORTED GLOBAL)
target_include_directories(stemmer SYSTEM INTERFACE ${HONDANA_STEMMER_INCLUDE})
target_link_libraries(stemmer INTERFACE ${HONDANA_STEMMER_LIBRARY})
# Never linked: they are loaded when Japanese is first indexed, Office files are first read, and PostgreSQL is first asked, and
# their headers alone are needed.
find_path(HONDANA_MECAB_INCLUDE mecab.h REQUIRED)
add_library(mecab_headers INTERFACE)
target_include_directories(mecab_headers SYSTEM INTERFACE ${HONDANA_MECAB_INCLUDE})
pkg_check_modules(libarchive REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(libxml2 REQUIRED IMPORTED_TARGET libxml-2.0)
add_library(office_headers INTERFACE)
target_include_directories(office_headers SYSTEM INTERFACE ${libarchive_INCLUDE_DIRS} ${libxml2_INCLUDE_DIRS})
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)
add_library(libpq_headers INTERFACE)
target_include_directories(libpq_headers SYSTEM INTERFACE ${libpq_INCLUDE_DIRS})
# Headers alone, compiled in.
find_path(HONDANA_HNSWLIB_INCLUDE hnswlib/hnswlib.h REQUIRED)
add_library(hnswlib_headers INTERFACE)
target_include_directories(hnswlib_headers SYSTEM INTERFACE ${HONDANA_HNSWLIB_INCLUDE})
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
# Its -pthread would keep the precompiled header from being used; threads are linked anyway.
set_target_properties(PkgConfig::re2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")
# Without it log-ins are kept in a file.
pkg_check_modules(libsecret QUIET libsecret-1)
find_path(HONDANA_EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
# Used as headers only; the Debian build of toml++ throws, ours does not.
find_path(HONDANA_TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(HONDANA_XXHASH_INCLUDE xxhash.h REQUIRED)

# hondana_consumer_finds(TARGET [MODULE pkg-config module] [CMAKE statement] [REQUIRES pkg-config module] [LIBS linker flags])
# TARGET may then stand in a module's LINK; the statement goes into hondanaConfig.cmake, the rest into the pkg-config files. MODULE
# alone is enough for a target PkgConfig::NAME. With neither MODULE nor CMAKE, the library is compiled in or loaded when it is used.
function(hondana_consumer_finds target)
  cmake_parse_arguments(find "" "MODULE;CMAKE;REQUIRES;LIBS" "" ${ARGN})
  if(find_MODULE)
    string(REPLACE "PkgConfig::" "" name ${target})
    set(find_CMAKE "find_package(PkgConfig QUIET)\n  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${find_MODULE})")
    set(find_REQUIRES ${find_MODULE})
  endif()
  set_property(GLOBAL PROPERTY "HONDANA_FIND_${target}" "${find_CMAKE}")
  set_property(GLOBAL PROPERTY "HONDANA_REQUIRES_${target}" "${find_REQUIRES}")
  set_property(GLOBAL PROPERTY "HONDANA_LIBS_${target}" "${find_LIBS}")
endfunction()

# hondana_linked_libraries(OUT libraries...): those of the libraries that are linked and not only compiled in.
function(hondana_linked_libraries out)
  set(linked "")
  foreach(link ${ARGN})
    get_property(known GLOBAL PROPERTY "HONDANA_FIND_${link}" SET)
    if(NOT known)
      message(FATAL_ERROR "a module links ${link}, but cmake/dependencies.cmake does not say how a consumer finds it")
    endif()
    get_property(statement GLOBAL PROPERTY "HONDANA_FIND_${link}")
    if(statement)
      list(APPEND linked ${link})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES linked)
  set(${out} ${linked} PARENT_SCOPE)
endfunction()

hondana_consumer_finds(Threads::Threads CMAKE "find_package(Threads QUIET)" LIBS -pthread)
hondana_consumer_finds(Boost::headers) # compiled in, nothing to find
hondana_consumer_finds(OpenSSL::Crypto CMAKE "find_package(OpenSSL QUIET)" REQUIRES libcrypto)
hondana_consumer_finds(OpenSSL::SSL CMAKE "find_package(OpenSSL QUIET)" REQUIRES libssl)
hondana_consumer_finds(simdjson::simdjson CMAKE "find_package(simdjson QUIET)" REQUIRES simdjson)
hondana_consumer_finds(PkgConfig::re2 MODULE re2)
hondana_consumer_finds(PkgConfig::nettle MODULE nettle)
hondana_consumer_finds(curl_headers) # loaded when it is used
hondana_consumer_finds(systemd_headers) # loaded when a journal is read
hondana_consumer_finds(mecab_headers) # loaded when Japanese is first indexed
hondana_consumer_finds(office_headers) # loaded by the process that reads Office files
hondana_consumer_finds(libpq_headers) # loaded when PostgreSQL is first asked
hondana_consumer_finds(hnswlib_headers) # compiled in
hondana_consumer_finds(PkgConfig::uchardet MODULE uchardet)
hondana_consumer_finds(PkgConfig::utf8proc MODULE libutf8proc)
hondana_consumer_finds(PkgConfig::gumbo MODULE gumbo)
hondana_consumer_finds(
  stemmer
  CMAKE "find_library(HONDANA_STEMMER_LIBRARY stemmer)\n  if(HONDANA_STEMMER_LIBRARY AND NOT TARGET stemmer)\n    add_library(stemmer INTERFACE IMPORTED)\n    target_link_libraries(stemmer INTERFACE \${HONDANA_STEMMER_LIBRARY})\n  endif()"
  LIBS -lstemmer)
hondana_consumer_finds(pango_headers) # loaded when a chart is drawn
hondana_consumer_finds(PkgConfig::sqlite MODULE sqlite3)
hondana_consumer_finds(PkgConfig::jsoncpp MODULE jsoncpp)
hondana_consumer_finds(PkgConfig::zstd MODULE libzstd)
hondana_consumer_finds(PkgConfig::lzma MODULE liblzma)
hondana_consumer_finds(PkgConfig::libgit2 MODULE libgit2)
hondana_consumer_finds(PkgConfig::zlib MODULE zlib)
hondana_consumer_finds(PkgConfig::libmagic MODULE libmagic)
hondana_consumer_finds(PkgConfig::yaml MODULE yaml-0.1)
hondana_consumer_finds(PkgConfig::seccomp MODULE libseccomp)
