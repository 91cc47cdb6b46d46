#!/usr/bin/env bash
# Shows that check_requirements.sh accepts a good tree and finds each fault it is there for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

fresh_tree() {
  rm -rf "$tree/tests"
  mkdir -p "$tree/tests/requirements" "$tree/tests/transcripts/area" "$tree/tests/unit"
  local revision
  for revision in 2024-11-05 2025-03-26 2025-06-18 2025-11-25 2026-07-28; do
    printf '%s\n' '# What it demands.' '' 'area.one | MUST | server/x#y | One thing. | tested' 'area.two | SHOULD NOT | server/x#y | Another. | later: issue 9' \
      'area.three | MUST | server/x#y | Theirs. | client' >"$tree/tests/requirements/$revision.txt"
  done
  printf '%s\n' '# requires: area.one' '-> {}' >"$tree/tests/transcripts/area/case.legacy.txt"
  printf '%s\n' '// requires: 2026-07-28/area.one' >"$tree/tests/unit/case.cpp"
}

# expect_fault WHAT TEXT: the checker fails and its output holds TEXT.
expect_fault() {
  local output
  if output=$("$here/check_requirements.sh" "$tree" 2>/dev/null); then
    printf 'not found: %s\n' "$1"
    failed=1
  elif [[ $output != *"$2"* ]]; then
    printf '%s: expected "%s" in:\n%s\n' "$1" "$2" "$output"
    failed=1
  fi
}

fresh_tree
"$here/check_requirements.sh" "$tree" >/dev/null 2>&1 || { printf 'a good tree is refused\n'; failed=1; }

fresh_tree
rm "$tree/tests/unit/case.cpp"
expect_fault 'a tested statement that no test cites' '2026-07-28.txt:3: no test cites area.one'

fresh_tree
printf '# requires: area.four\n' >>"$tree/tests/transcripts/area/case.legacy.txt"
expect_fault 'an id in a transcript that no manifest has' 'case.legacy.txt:3: cites area.four, which no manifest of its revisions has'

fresh_tree
printf '// requires: 2025-06-18/area.four\n' >>"$tree/tests/unit/case.cpp"
expect_fault 'an id in a test that no manifest has' 'case.cpp:2: cites area.four'

fresh_tree
printf '// requires: area.one\n' >>"$tree/tests/unit/case.cpp"
expect_fault 'a citation without revision' 'not REVISION/ID'

fresh_tree
printf '// requires: */area.two\n' >>"$tree/tests/unit/case.cpp"
expect_fault 'a citation of what is said to come later' 'cites area.two, which the manifest of 2024-11-05 has as: later: issue 9'

fresh_tree
printf 'area.five | MAY | server/x#y | Anything. | tested\n' >>"$tree/tests/requirements/2025-06-18.txt"
expect_fault 'a level that binds nobody' 'not a level: MAY'

fresh_tree
printf 'area.five | MUST | server/x#y | Anything. | someday\n' >>"$tree/tests/requirements/2025-06-18.txt"
expect_fault 'a status that is none' 'not a status: someday'

fresh_tree
printf 'area.one | MUST | server/x#y | Again. | tested\n' >>"$tree/tests/requirements/2025-06-18.txt"
expect_fault 'an id twice' 'area.one is there twice'

fresh_tree
rm "$tree"/tests/requirements/*.txt
expect_fault 'no manifest at all' ''

exit "$failed"
