#!/usr/bin/env bash
# A page of docs/ is exactly the output of the program with these arguments.
set -euo pipefail
page=$1 program=$2
shift 2
if ! diff -u "$page" <("$program" "$@"); then
  printf 'docs/%s is stale; write it again: %s %s > %s\n' "${page##*/}" "$program" "$*" "$page" >&2
  exit 1
fi
