#!/usr/bin/env bash
# docs/uri-schemes.md is what `hondana schemes --markdown` prints.
set -euo pipefail
program=$1 page=$2
if ! diff -u "$page" <("$program" schemes --markdown); then
  printf 'docs/uri-schemes.md is stale: write it anew with %s schemes --markdown\n' "$program" >&2
  exit 1
fi
