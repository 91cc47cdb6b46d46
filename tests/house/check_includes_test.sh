#!/usr/bin/env bash
# Proves that check_includes.sh accepts a good tree and names each kind of bad include.
# Usage: check_includes_test.sh TABLE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
table=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

put() { # FILE LINE...
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}

good_tree() {
  rm -rf "$tree/include" "$tree/src"
  put src/CMakeLists.txt
  put include/hondana/error.hpp '#include <string>' '#include <tl/expected.hpp>'
  put include/hondana/server.hpp '#include <hondana/error.hpp>'
  put src/uri/parse.hpp '#include <boost/url.hpp>'
  put src/model/answers.hpp '#include <hondana/server.hpp>' '#include "uri/parse.hpp"'
  put src/wire/codec.hpp '#include "model/answers.hpp"'
  put src/wire/legacy/read.cpp '#include "wire/codec.hpp"' '#include "wire/legacy/names.hpp"'
  put src/wire/choose.cpp '#include "wire/legacy/read.hpp"' '#include "wire/modern/read.hpp"'
  put src/providers/moon/moon.cpp '#include "providers/moon/moon.hpp"' '#include "model/answers.hpp"'
  put src/cli/providers.cpp '#include "providers/moon/moon.hpp"' '#include "transport/stdio/stdio.hpp"'
}

expect_clean() { # WHAT
  if ! said=$("$here/check_includes.sh" "$tree" "$table" 2>&1); then
    printf 'FAILED: %s, but the checker said:\n%s\n' "$1" "$said"
    failures=$((failures + 1))
  fi
}

expect_fault() { # WHAT TEXT
  if said=$("$here/check_includes.sh" "$tree" "$table" 2>&1); then
    printf 'FAILED: %s went unnoticed\n' "$1"
    failures=$((failures + 1))
  elif [[ $said != *"$2"* ]]; then
    printf 'FAILED: %s: expected "%s" in:\n%s\n' "$1" "$2" "$said"
    failures=$((failures + 1))
  fi
}

refuse() { # WHAT FILE INCLUDE TEXT
  good_tree
  put "$2" "#include $3"
  expect_fault "$1" "$4"
}

good_tree
expect_clean 'a good tree'

refuse 'a provider that includes the wire' src/providers/moon/a.cpp '"wire/codec.hpp"' 'a.cpp:1: providers/* may not include'
refuse 'a provider that includes rpc' src/providers/files/a.cpp '"rpc/envelope.hpp"' 'providers/files may not include'
refuse 'a provider that includes the session' src/providers/links/a.cpp '"session/session.hpp"' 'providers/links may not include'
refuse 'a provider that includes another' src/providers/files/a.cpp '"providers/memory/a.hpp"' 'providers/files may not include'
refuse 'an unlisted provider that includes another' src/providers/sun/a.cpp '"providers/moon/moon.hpp"' 'a provider includes another'
refuse 'a session that names an era' src/session/a.cpp '"wire/legacy/read.hpp"' 'session may not include'
refuse 'a file of wire that names an era' src/wire/encode.cpp '"wire/modern/read.hpp"' 'wire may not include'
refuse 'an era that names the other' src/wire/legacy/a.cpp '"wire/modern/read.hpp"' 'wire/legacy may not include'
refuse 'a program that names an era' src/cli/a.cpp '"wire/legacy/read.hpp"' 'cli may not include'
refuse 'a server that names a provider' src/server/a.cpp '"providers/files/a.hpp"' 'server may not include'
refuse 'a server that names a transport' src/server/a.cpp '"transport/http/a.hpp"' 'server may not include'
refuse 'a lower room that includes a higher one' src/uri/a.cpp '"catalog/catalog.hpp"' 'uri may not include'
refuse 'an include relative to its own file' src/uri/a.cpp '"parse.hpp"' 'lies in no room'
refuse 'an include that climbs out of its room' src/uri/a.cpp '"../rpc/envelope.hpp"' 'lies in no room'
refuse 'a room the table does not know' src/attic/a.cpp '"uri/parse.hpp"' 'src/attic/a.cpp lies in no room'
refuse 'a public header that includes a library' include/hondana/a.hpp '<boost/url.hpp>' 'a public header includes <boost/url.hpp>'
refuse 'a public header that includes a C header' include/hondana/a.hpp '<unistd.h>' 'a public header includes <unistd.h>'
refuse 'a public header that includes a room' include/hondana/a.hpp '"uri/parse.hpp"' 'a public header includes "uri/parse.hpp"'
refuse 'an include by macro' src/uri/a.cpp 'PARSER' 'cannot be read'

good_tree
put src/CMakeLists.txt 'hondana_room(model ROOMS uri rpc)'
expect_fault 'a room that links what it may not include' 'model links rpc'
put src/CMakeLists.txt 'hondana_room(model LINK Boost::url)'
expect_fault 'a room that may include what it does not link' 'model may include uri but does not link it'

rm -rf "$tree/include" "$tree/src"
mkdir -p "$tree/include" "$tree/src"
put src/CMakeLists.txt
expect_fault 'an empty tree' 'no file with an include'

good_tree
table=$tree/table.txt
printf '%s\n' 'uri:' 'model: uri session' >"$table"
expect_fault 'a table in a circle' 'names session, which is not a room above it'
printf '%s\n' 'rpc:' 'providers/files: rpc' >"$table"
expect_fault 'a table that lets a provider include rpc' 'a provider never includes rpc'
printf '%s\n' 'providers/files:' 'server: providers/files' >"$table"
expect_fault 'a table that lets the server name a provider' 'only cli names providers/files'

[ "$failures" -eq 0 ] && echo 'check_includes.sh tells good from bad'
exit $((failures > 0))
