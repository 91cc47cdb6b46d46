#!/usr/bin/env bash
# Proves that check_includes.sh accepts a good tree and names each kind of bad include.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

put() { # FILE LINE...
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}

modules='hondana_module(base/uri)
hondana_module(protocol/model)
hondana_module(protocol/rpc)
hondana_module(protocol/wire USES model rpc)
hondana_module(server/session LINK Boost::url)
hondana_module(server/core USES session)
hondana_module(transport/stdio)
hondana_module(sources/config)
hondana_module(sources/files USES config)
hondana_module(app/otlp)'

good_tree() {
  rm -rf "$tree/include" "$tree/src"
  put src/CMakeLists.txt "$modules"
  put include/hondana/error.hpp '#include <string>' '#include <tl/expected.hpp>'
  put include/hondana/server.hpp '#include <hondana/error.hpp>'
  put src/base/uri/parse.hpp '#include <boost/url.hpp>'
  put src/protocol/model/answers.hpp '#include <hondana/server.hpp>' '#include "base/uri/parse.hpp"'
  put src/protocol/wire/codec.hpp '#include "protocol/model/answers.hpp"'
  put src/protocol/wire/legacy/read.cpp '#include "protocol/wire/codec.hpp"' '#include "protocol/wire/legacy/names.hpp"'
  put src/protocol/wire/choose_codec.cpp '#include "protocol/wire/legacy/read.hpp"' '#include "protocol/wire/modern/read.hpp"'
  put src/sources/moon/moon.cpp '#include "sources/moon/moon.hpp"' '#include "protocol/model/answers.hpp"' '#include "sources/config/section.hpp"'
  put src/app/cli/providers.cpp '#include "sources/moon/moon.hpp"' '#include "transport/stdio/stdio.hpp"'
}

expect_clean() { # WHAT
  if ! said=$("$here/check_includes.sh" "$tree" 2>&1); then
    printf 'FAILED: %s, but the checker said:\n%s\n' "$1" "$said"
    failures=$((failures + 1))
  fi
}

expect_fault() { # WHAT TEXT
  if said=$("$here/check_includes.sh" "$tree" 2>&1); then
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

refuse 'a source that includes the wire' src/sources/moon/a.cpp '"protocol/wire/codec.hpp"' 'a.cpp:1: a source includes'
refuse 'a source that includes rpc' src/sources/files/a.cpp '"protocol/rpc/envelope.hpp"' 'a source includes'
refuse 'a source that includes the session' src/sources/files/a.cpp '"server/session/session.hpp"' 'a source includes'
refuse 'a source that includes another' src/sources/files/a.cpp '"sources/moon/a.hpp"' 'sources/files may not include'
refuse 'an unlisted source that includes another' src/sources/sun/a.cpp '"sources/moon/moon.hpp"' 'sources/sun may not include'
refuse 'a session that names an era' src/server/session/a.cpp '"protocol/wire/legacy/read.hpp"' 'only protocol/wire/choose_codec.cpp names an era'
refuse 'a file of wire that names an era' src/protocol/wire/encode.cpp '"protocol/wire/modern/read.hpp"' 'only protocol/wire/choose_codec.cpp names an era'
refuse 'an era that names the other' src/protocol/wire/legacy/a.cpp '"protocol/wire/modern/read.hpp"' 'an era names the other'
refuse 'a program that names an era' src/app/cli/a.cpp '"protocol/wire/legacy/read.hpp"' 'only protocol/wire/choose_codec.cpp names an era'
refuse 'a server that names a source' src/server/core/a.cpp '"sources/files/a.hpp"' 'server/core may not include'
refuse 'a server that names a transport' src/server/core/a.cpp '"transport/stdio/a.hpp"' 'server/core may not include'
refuse 'a lower group that includes a higher one' src/base/uri/a.cpp '"server/core/core.hpp"' 'base/uri may not include'
refuse 'a module of the same group that it does not use' src/protocol/model/a.cpp '"protocol/rpc/a.hpp"' 'protocol/model may not include'
refuse 'an include relative to its own file' src/base/uri/a.cpp '"parse.hpp"' 'lies in no module'
refuse 'an include that climbs out of its module' src/base/uri/a.cpp '"../rpc/envelope.hpp"' 'lies in no module'
refuse 'a module that is not declared' src/base/attic/a.cpp '"base/uri/parse.hpp"' 'src/base/attic/a.cpp lies in no module'
refuse 'a public header that includes a library' include/hondana/a.hpp '<boost/url.hpp>' 'a public header includes <boost/url.hpp>'
refuse 'a public header that includes a C header' include/hondana/a.hpp '<unistd.h>' 'a public header includes <unistd.h>'
refuse 'a public header that includes a module' include/hondana/a.hpp '"base/uri/parse.hpp"' 'a public header includes "base/uri/parse.hpp"'
refuse 'an include by macro' src/base/uri/a.cpp 'PARSER' 'cannot be read'

good_tree
put src/CMakeLists.txt "$modules" 'hondana_module(base/late)'
expect_fault 'a module declared behind a higher group' 'base/late is declared behind modules of a higher group'
put src/CMakeLists.txt "$modules" 'hondana_module(sources/odd USES sun)'
expect_fault 'a module that uses one that is not declared' 'sources/odd uses sun, which is not declared before it'

rm -rf "$tree/include" "$tree/src"
mkdir -p "$tree/include" "$tree/src"
put src/CMakeLists.txt "$modules"
expect_fault 'an empty tree' 'no file with an include'

[ "$failures" -eq 0 ] && echo 'check_includes.sh tells good from bad'
exit $((failures > 0))
