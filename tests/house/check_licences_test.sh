#!/usr/bin/env bash
# Proves that check_licences.sh notices an unlisted library, linked or loaded, a wrong licence and a GPL row.
# Usage: check_licences_test.sh TABLE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
table=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

expect_fault() { # WHAT TEXT PROGRAM [LOADED...]
  if said=$("$here/check_licences.sh" "$3" "$folder/table.txt" "${@:4}" 2>&1); then
    printf 'FAILED: %s went unnoticed\n' "$1"
    failures=$((failures + 1))
  elif [[ $said != *"$2"* ]]; then
    printf 'FAILED: %s: expected "%s" in:\n%s\n' "$1" "$2" "$said"
    failures=$((failures + 1))
  fi
}

grep -v '^libc.so.6 ' "$table" >"$folder/table.txt"
expect_fault 'an unlisted library' 'is linked to libc.so.6 (libc6), which' /bin/bash

sed '/^libc.so.6 /s/GNU Lesser General Public/licence of another library/' "$table" >"$folder/table.txt"
expect_fault 'a copyright file that says something else' 'does not say "licence of another library"' /bin/bash

sed '/^libc.so.6 /s/| libc6 /| zlib1g /' "$table" >"$folder/table.txt"
expect_fault 'a library of another package' 'libc.so.6 belongs to libc6, not to zlib1g' /bin/bash

grep -v '^libcurl.so.4 ' "$table" >"$folder/table.txt"
expect_fault 'an unlisted library that is loaded' 'is linked to libcurl.so.4 (libcurl4), which' /bin/bash libcurl.so.4
grep -v '^libkrb5.so.3 ' "$table" >"$folder/table.txt"
expect_fault 'an unlisted library behind one that is loaded' 'is linked to libkrb5.so.3 (libkrb5-3), which' /bin/bash libcurl.so.4

{ cat "$table"; echo 'libtinfo.so.6 | libtinfo6 | GPL-3.0-only | X11'; } >"$folder/table.txt"
expect_fault 'a GPL row' 'libtinfo.so.6 is under GPL-3.0-only' /bin/bash

cp "$table" "$folder/table.txt"
printf '#!/bin/sh\n' >"$folder/script"
expect_fault 'a program nothing is known of' 'linked to nothing' "$folder/script"

[ "$failures" -eq 0 ] && echo 'check_licences.sh tells good from bad'
exit $((failures > 0))
