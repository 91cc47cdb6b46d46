#!/usr/bin/env bash
# Every key of [search], [search.embeddings] and sources of type docs, as the program names them, stands in the pages about them.
set -euo pipefail
program=$1 docs=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/shelf"
failed=0

# Prints the keys of the last table of a configuration, which the program tells where one is unknown.
keys_of() {
  printf '%s\nno_such_key = 1\n' "$1" >"$folder/c.toml"
  local said
  said=$("$program" check --config "$folder/c.toml" 2>&1 >/dev/null || true)
  case $said in
    *"no_such_key: unknown key; known here: "*) printf '%s\n' "${said##*known here: }" | tr -d ' ' | tr ',' '\n' ;;
    *) printf 'the program does not name the keys of this table:\n%s\n%s\n' "$1" "$said" >&2 && return 1 ;;
  esac
}

# Each key stands in one of the pages: in a table as `key`, or in an example as `key = …`, perhaps behind a #.
expect_all() {
  local table=$1 keys key
  shift
  keys=$(keys_of "$table")
  for key in $keys; do
    grep -qE "(\`$key\`|^(# )?$key = |^\[[a-z]+\.$key\])" "$@" && continue
    printf '%s of the table\n%s\nis not in %s\n' "$key" "$table" "$*" >&2
    failed=1
  done
}

embeddings=$'[search.embeddings]\nurl = "http://localhost/v1"\nmodel = "m"'
for page in search.md configuration.md; do
  expect_all '[search]' "$docs/$page"
  expect_all "$embeddings" "$docs/$page"
done
# What all sources have stands with them.
expect_all $'[[source]]\ntype = "docs"\npath = "shelf"' "$docs/documents.md" "$docs/configuration.md"
exit $failed
