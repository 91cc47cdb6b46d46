#!/usr/bin/env bash
# Checks that modules whose tests share a program do not give one name to two things: the linker would keep one of two inline functions,
# variables or classes without a word, and GoogleTest refuses a suite with and without a fixture.
# Usage: check_test_names.sh TREE; prints one line a fault, exits 1 if there is any.
set -euo pipefail
cd "$1/tests"

# Lines "GROUP MODULE FILE".
find unit -mindepth 2 -name '*.?pp' -printf '%h %p\n' | LC_ALL=C sort | sed -E 's|^unit/([a-z_]+)([^ ]*)|\1 \1\2|' | awk '
  function give(kind, name, what) {
    key = group " " kind " " name
    if (!(key in owner)) { owner[key] = module; shape[key] = what; first[key] = file; return }
    if (owner[key] == module || (kind == "suite" && shape[key] == what)) return
    printf "%s and %s: %s is %s in both, and one program has both\n", first[key], file, name, kind == "suite" ? "a suite of another kind" : "defined"
    faults++
  }
  {
    group = $1; module = $2; file = $3
    space = ""; hidden = 0
    while ((getline line < file) > 0) {
      if (line ~ /^namespace \{/) hidden = 1
      else if (line ~ /^\}  \/\/ namespace$/) hidden = 0
      else if (line ~ /^namespace [a-z_0-9:]+ \{/) { split(line, words, " "); space = words[2] }
      else if (line ~ /^\}  \/\/ namespace /) space = ""
      else if (match(line, /^(TEST|TEST_F|TEST_P|TYPED_TEST)\([a-z_A-Z0-9]+,/)) {
        split(substr(line, RSTART, RLENGTH - 1), words, "(")
        give("suite", words[2], words[1])
      } else if (!hidden && match(line, /^(class|struct|enum class) [a-z_0-9]+( final)? *[:{]/)) {
        name = substr(line, RSTART, RLENGTH)
        gsub(/^(class|struct|enum class) |( final)? *[:{]$/, "", name)
        give("name", space "::" name, "")
      } else if (!hidden && line ~ /^inline / && match(line, /[a-z_0-9]+ *[=({;]/)) {
        name = substr(line, RSTART, RLENGTH)
        gsub(/ *[=({;]$/, "", name)
        give("name", space "::" name, "")
      }
    }
    close(file)
  }
  END { exit faults ? 1 : 0 }'
