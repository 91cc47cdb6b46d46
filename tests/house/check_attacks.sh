#!/usr/bin/env bash
# Checks that every test that the tables of attacks name exists, and that every row names one or says "Not applicable".
# The tables of attacks are those of the page whose last column is called "Tests".
# usage: check_attacks.sh ROOT [PAGE]
# Back quotes here are those of Markdown.
# shellcheck disable=SC2016
set -euo pipefail

root=$1
table=${2:-$root/docs/quality/security.md}
bad=0
complain() {
  printf '%s: %s\n' "$table" "$1" >&2
  bad=1
}

# SUITE.NAME of every test, one a line; macros may be broken after the comma.
tests=$(find "$root/tests" -name node_modules -prune -o -name '*.cpp' -print0 | xargs -0 cat | tr '\n' ' ' |
  grep -oE 'TEST(_F|_P)?\([a-z0-9_]+, *[a-z0-9_]+\)' | sed -E 's/^TEST(_F|_P)?\(([a-z0-9_]+), *([a-z0-9_]+)\)$/\2.\3/' | sort -u)

rows=0
while IFS= read -r row; do
  rows=$((rows + 1))
  cited=${row%|}
  cited=${cited##*|}
  shape=$(cut -d'|' -f2 <<<"$row")
  names=$(grep -oE '`[^`]+`' <<<"$cited" | tr -d '`' || true)
  if [ -z "$names" ] && ! grep -q 'Not applicable' <<<"$row"; then
    complain "no test in the row of$shape"
  fi
  while IFS= read -r name; do
    case $name in
      '') ;;
      */*) compgen -G "$root/tests/transcripts/$name.*.txt" >/dev/null || complain "there is no transcript $name" ;;
      *) grep -qxF "$name" <<<"$tests" || complain "there is no test $name" ;;
    esac
  done <<<"$names"
done < <(awk '/\| Tests \|$/ { inside = 1; next } !/^\|/ { inside = 0 } inside && !/^\|---/ { print }' "$table")

if [ "$rows" -lt 20 ]; then complain "only $rows rows were found"; fi
exit $bad
