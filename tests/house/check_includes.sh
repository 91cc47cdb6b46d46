#!/usr/bin/env bash
# Checks every #include below include/ and src/ of a tree against its include table.
# Usage: check_includes.sh TREE TABLE; prints one line a fault, exits 1 if there is any.
set -euo pipefail
tree=$1
table=$2
cd "$tree"

find include src -type f \( -name '*.hpp' -o -name '*.cpp' \) | LC_ALL=C sort | xargs -r grep -nH '^[[:space:]]*#[[:space:]]*include' |
  awk -v table="$table" -v cmake=src/CMakeLists.txt '
    function fault(text) { print text; faults++ }

    # The longest row that is this path or holds it; "" when there is none.
    function room_of(path,    part) {
      part = path
      while (sub(/\/[^\/]*$/, "", part)) if (part in allowed) return part
      return path ~ /^providers\/[^\/]+\// ? "providers/*" : ""
    }

    function has(list, word) { return index(" " list " ", " " word " ") > 0 }

    function check_row(room, list,    words, count, i) {
      count = split(list, words, " ")
      for (i = 1; i <= count; i++) {
        if (words[i] == "*" && room == "cli") continue
        if (!(words[i] in allowed)) fault(table ": " room " names " words[i] ", which is not a room above it")
        if (room ~ /^providers\// && words[i] ~ /^(rpc|session|wire|providers)(\/|$)/)
          fault(table ": a provider never includes " words[i])
        if (words[i] ~ /^(providers|transport)\//) fault(table ": only cli names " words[i])
        if (words[i] ~ /^wire\/(legacy|modern)$/) fault(table ": only the choosing file of wire names " words[i])
      }
    }

    function check_public(where, spelled) {
      if (spelled ~ /^<[a-z_0-9]+>$/ || spelled ~ /^<hondana\/[a-z_0-9]+\.hpp>$/ || spelled == "<tl/expected.hpp>") return
      fault(where ": a public header includes " spelled)
    }

    function check_internal(where, file, target,    from, to) {
      from = room_of(file)
      to = room_of(target)
      if (from == "") { fault(where ": src/" file " lies in no room of the table"); return }
      if (to == "") { fault(where ": \"" target "\" lies in no room of the table"); return }
      if (to == "providers/*" && from == "providers/*") {
        split(file, mine, "/"); split(target, theirs, "/")
        if (mine[2] == theirs[2]) return
        fault(where ": a provider includes another: \"" target "\"")
        return
      }
      if (from == to || has(allowed[from], to) || allowed[from] == "*") {
        if (allowed[from] == "*" && to ~ /^wire\/(legacy|modern)$/) fault(where ": " from " may not include \"" target "\"")
        return
      }
      if (file in extra && has(extra[file], to)) return
      fault(where ": " from " may not include \"" target "\"")
    }

    BEGIN {
      while ((getline line < table) > 0) {
        if (line ~ /^#/ || line ~ /^[[:space:]]*$/) continue
        colon = index(line, ":")
        name = substr(line, 1, colon - 1)
        list = substr(line, colon + 1)
        gsub(/^ +| +$/, "", list)
        if (name ~ /^file /) {
          name = substr(name, 6)
          extra[name] = list
          sub(/\/[^\/]*$/, "", name)
          of_files[name] = of_files[name] " " list
          continue
        }
        check_row(name, list)
        allowed[name] = list
        rows++
      }
      if (!rows) fault(table ": no rows")
      # What a room links is what it may include.
      while ((getline line < cmake) > 0) {
        if (line !~ /^hondana_room\(/) continue
        gsub(/^hondana_room\(|\).*$/, "", line)
        count = split(line, words, " ")
        rooms = 0
        linked = ""
        for (i = 2; i <= count; i++) {
          if (words[i] == "ROOMS" || words[i] == "LINK") { rooms = words[i] == "ROOMS"; continue }
          if (rooms) {
            linked = linked " " words[i]
            if (!has(allowed[words[1]], words[i]) && !has(of_files[words[1]], words[i])) fault(cmake ": " words[1] " links " words[i] ", its row does not name it")
          }
        }
        count = split(allowed[words[1]], named, " ")
        for (i = 1; i <= count; i++) {
          # A room comes with the rooms below it.
          whole = named[i]
          sub(/\/[^\/]*$/, "", whole)
          if (!has(linked, named[i]) && !has(linked, whole)) fault(cmake ": " words[1] " may include " named[i] " but does not link it")
        }
      }
    }

    {
      first = index($0, ":")
      file = substr($0, 1, first - 1)
      rest = substr($0, first + 1)
      where = file ":" substr(rest, 1, index(rest, ":") - 1)
      files[file] = 1
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
