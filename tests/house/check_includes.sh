#!/usr/bin/env bash
# Checks every #include below include/ and src/ of a tree against the groups and modules that src/CMakeLists.txt declares.
# Usage: check_includes.sh TREE; prints one line a fault, exits 1 if there is any.
#
# A file may include its own module, modules of its group that its module USES, and every module of a group declared before. Apart
# from that a source includes neither another source nor what knows the protocol's messages, and only protocol/wire/choose_codec.cpp
# knows that there are two eras.
set -euo pipefail
cd "$1"

find include src -type f \( -name '*.hpp' -o -name '*.cpp' \) | LC_ALL=C sort | xargs -r grep -nH '^[[:space:]]*#[[:space:]]*include' |
  awk -v cmake=src/CMakeLists.txt '
    function fault(text) { print text; faults++ }

    # The module that holds this path below src/; "" when there is none. A source, or part of the program, that is not declared is
    # its folder.
    function module_of(path,    part) {
      part = path
      while (sub(/\/[^\/]*$/, "", part)) if (part in group) return part
      if (match(path, /^(sources|app)\/[^\/]+\//)) {
        part = substr(path, 1, RLENGTH - 1)
        group[part] = part ~ /^app/ ? "app" : "sources"
        uses[part] = " config otlp "
        return part
      }
      return ""
    }

    function name_of(module) { sub(/^[^\/]*\//, "", module); return module }

    function declare(line,    words, count, i, name, is_use) {
      gsub(/^hondana_module\(|\).*$/, "", line)
      count = split(line, words, " ")
      name = words[1]
      group[name] = name
      sub(/\/.*$/, "", group[name])
      if (!(group[name] in rank)) rank[group[name]] = ++groups
      if (rank[group[name]] != groups) fault(cmake ": " name " is declared behind modules of a higher group")
      uses[name] = " "
      for (i = 2; i <= count; i++) {
        if (words[i] == "USES" || words[i] == "LINK") { is_use = words[i] == "USES"; continue }
        if (!is_use) continue
        if (!((group[name] "/" words[i]) in group)) fault(cmake ": " name " uses " words[i] ", which is not declared before it")
        uses[name] = uses[name] words[i] " "
      }
    }

    function check_public(where, spelled) {
      if (spelled ~ /^<[a-z_0-9]+>$/ || spelled ~ /^<hondana\/[a-z_0-9]+\.hpp>$/ || spelled == "<tl/expected.hpp>") return
      fault(where ": a public header includes " spelled)
    }

    function check_internal(where, file, target,    from, to, both) {
      from = module_of(file)
      to = module_of(target)
      if (from == "") { fault(where ": src/" file " lies in no module of " cmake); return }
      if (to == "") { fault(where ": \"" target "\" lies in no module of " cmake); return }
      if (target ~ /^protocol\/wire\/(legacy|modern)\// && file !~ /^protocol\/wire\/(legacy|modern)\// && file != "protocol/wire/choose_codec.cpp")
        fault(where ": only protocol/wire/choose_codec.cpp names an era")
      both = substr(file, 1, 20) " " substr(target, 1, 20)
      if (both ~ /^protocol\/wire\/legacy .*protocol\/wire\/modern/ || both ~ /^protocol\/wire\/modern .*protocol\/wire\/legacy/)
        fault(where ": an era names the other")
      if (from == to) return
      if (group[from] == "sources" && to ~ /^(protocol\/(rpc|wire)|server\/session)$/) { fault(where ": a source includes \"" target "\""); return }
      if (group[from] == group[to] ? index(uses[from], " " name_of(to) " ") : rank[group[to]] < rank[group[from]]) return
      fault(where ": " from " may not include \"" target "\"")
    }

    BEGIN {
      while ((getline line < cmake) > 0) if (line ~ /^hondana_module\(/) declare(line)
      if (!groups) fault(cmake ": no modules")
    }

    {
      first = index($0, ":")
      file = substr($0, 1, first - 1)
      rest = substr($0, first + 1)
      where = file ":" substr(rest, 1, index(rest, ":") - 1)
      if (!match(rest, /(<[^>]*>|"[^"]*")/)) { fault(where ": an include that cannot be read"); next }
      spelled = substr(rest, RSTART, RLENGTH)
      if (file ~ /^include\//) { check_public(where, spelled); next }
      if (spelled ~ /^</) next
      check_internal(where, substr(file, 5), substr(spelled, 2, length(spelled) - 2))
    }

    END {
      if (!NR) fault("no file with an include was found")
      exit faults ? 1 : 0
    }'
