#!/usr/bin/env bash
# The example reads a file through the program, byte for byte, and says what it cannot read.
set -euo pipefail
example=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
folder=$(realpath "$folder")
printf 'one\ntwo\0three\n' >"$folder/notes"
"$example" "file://$folder/notes" "$program" stdio "$folder" >"$folder/got"
cmp "$folder/notes" "$folder/got"
if "$example" "file://$folder/absent" "$program" stdio "$folder" >"$folder/got" 2>"$folder/said"; then
  echo "it read what is not there" >&2
  exit 1
fi
grep -q 'not found' "$folder/said"
