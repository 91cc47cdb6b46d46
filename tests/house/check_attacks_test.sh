#!/usr/bin/env bash
# The checker of the table of attacks finds what it is to find.
# usage: check_attacks_test.sh
# Back quotes here are those of Markdown.
# shellcheck disable=SC2016
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tests/transcripts/area" "$scratch/docs/quality"
printf 'TEST(suite, is_there) {}\nTEST_P(suite,\n       is_broken_over_lines) {}\n' >"$scratch/tests/a.cpp"
: >"$scratch/tests/transcripts/area/case.2025-11-25.txt"

# The table with 19 sound rows and one more.
table_with() {
  {
    printf '| Shape | Answer | Tests |\n|---|---|---|\n'
    for _ in {1..19}; do printf '| a `b` | c | `suite.is_there` transcript `area/case` |\n'; done
    printf '%s\n' "$1"
  } >"$scratch/docs/quality/security.md"
}
expect() {
  local wanted=$1 said
  if said=$("$here/check_attacks.sh" "$scratch" 2>&1); then
    [ "$wanted" = '' ] && return
    printf 'not found: %s\n' "$wanted" >&2
    exit 1
  fi
  if [ "$wanted" = '' ] || ! grep -qF "$wanted" <<<"$said"; then
    printf 'expected "%s", got: %s\n' "$wanted" "$said" >&2
    exit 1
  fi
}

table_with '| x | y | `suite.is_broken_over_lines` |'
expect ''
table_with '| x | Not applicable: there is no such source. | — |'
expect ''
table_with '| x | y | `suite.is_missing` |'
expect 'there is no test suite.is_missing'
table_with '| x | y | transcript `area/none` |'
expect 'there is no transcript area/none'
table_with '| x | y | — |'
expect 'no test in the row of x'
table_with '
| Shape | Answer | Tests |
|---|---|---|
| x | y | `suite.is_missing_in_the_second_table` |'
expect 'there is no test suite.is_missing_in_the_second_table'
printf 'no table\n' >"$scratch/docs/quality/security.md"
expect 'only 0 rows'
