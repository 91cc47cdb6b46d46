#!/usr/bin/env bash
# Checks the requirements manifests of a tree against what its tests cite.
# Usage: check_requirements.sh TREE; prints one line a fault, exits 1 if there is any.
#
# A transcript CASE.REVISION.txt says `# requires: ID...` and cites the IDs of its revision; CASE.legacy.txt cites those of all
# handshake revisions that have them. Other tests say `// requires: REVISION/ID...`, with `*` for every revision that has it.
set -euo pipefail
cd "$1"

mapfile -t files < <({
  find tests/transcripts -type f -name '*.txt'
  find tests -type f \( -name '*.cpp' -o -name '*.mjs' -o -name '*.sh' \) ! -path '*/node_modules/*' ! -path 'tests/requirements/*'
} | LC_ALL=C sort)

awk '
  function fault(text) { print text; faults++ }

  function cite(where, revision, id) {
    if (status[revision, id] != "tested") fault(where ": cites " id ", which the manifest of " revision " has as: " status[revision, id])
    cited[revision, id] = 1
  }

  function cite_all(where, list, id,    words, count, i, known) {
    count = split(list, words, " ")
    for (i = 1; i <= count; i++) {
      if (!((words[i], id) in status)) continue
      cite(where, words[i], id)
      known = 1
    }
    if (!known) fault(where ": cites " id ", which no manifest of its revisions has")
  }

  function read_manifest(file, revision,    line, fields, place) {
    while ((getline line < file) > 0) {
      place++
      if (line ~ /^#/ || line ~ /^[[:space:]]*$/) continue
      if (split(line, fields, / \| /) != 5) { fault(file ":" place ": not five fields"); continue }
      if (fields[1] !~ /^[a-z]+\.[a-z0-9_]+$/) fault(file ":" place ": not an id: " fields[1])
      if (fields[2] !~ /^(MUST|SHOULD)( NOT)?$/) fault(file ":" place ": not a level: " fields[2])
      if (fields[3] !~ /^[a-z\/-]+#[a-z0-9-]+$/) fault(file ":" place ": not PAGE#ANCHOR: " fields[3])
      if (fields[5] !~ /^(tested|client|later: .+|client: .+)$/) fault(file ":" place ": not a status: " fields[5])
      if ((revision, fields[1]) in status) fault(file ":" place ": " fields[1] " is there twice")
      status[revision, fields[1]] = fields[5]
      where[revision, fields[1]] = file ":" place
    }
    close(file)
  }

  BEGIN {
    legacy = "2024-11-05 2025-03-26 2025-06-18 2025-11-25"
    every = legacy " 2026-07-28"
    count = split(every, revisions, " ")
    for (r = 1; r <= count; r++) read_manifest("tests/requirements/" revisions[r] ".txt", revisions[r])
    if (!length(status)) fault("tests/requirements: no manifest says anything")
  }

  /^# requires: / && FILENAME ~ /\.txt$/ {
    parts = split(FILENAME, names, ".")
    mine = names[parts - 1] == "legacy" ? legacy : names[parts - 1]
    for (i = 3; i <= NF; i++) cite_all(FILENAME ":" FNR, mine, $i)
  }

  match($0, /^[[:space:]]*(\/\/|#) requires: /) && FILENAME !~ /\.txt$/ {
    words_count = split(substr($0, RSTART + RLENGTH), words, " ")
    for (i = 1; i <= words_count; i++) {
      slash = index(words[i], "/")
      revision = substr(words[i], 1, slash - 1)
      id = substr(words[i], slash + 1)
      if (!slash) fault(FILENAME ":" FNR ": not REVISION/ID: " words[i])
      else cite_all(FILENAME ":" FNR, revision == "*" ? every : revision, id)
    }
  }

  END {
    for (key in status) {
      split(key, part, SUBSEP)
      if (status[key] == "tested" && !(key in cited)) fault(where[key] ": no test cites " part[2])
    }
    exit faults ? 1 : 0
  }' "${files[@]}" | LC_ALL=C sort
