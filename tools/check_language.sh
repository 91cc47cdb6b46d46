#!/usr/bin/env bash
# Prints what is left of the project's old dialect, and sentences over 30 words, in documentation, messages, names and the subjects of the
# last commits; fails where there is any. With files as arguments, checks those alone.
# usage: check_language.sh [FILE...]
set -euo pipefail
cd "$(dirname "$0")/.."

check() { awk -v exceptions=tools/language_exceptions.txt -f tools/language.awk "$@"; }

found=$(
  set -e
  if [ "$#" -gt 0 ]; then
    check "$@"
  else
    check README.md CONTRIBUTING.md SECURITY.md docs/*.md docs/quality/*.md
    for kind in messages names_only; do
      find src include \( -name '*.cpp' -o -name '*.hpp' \) -print0 | LC_ALL=C sort -z | xargs -0 awk -v "$kind=1" \
        -v exceptions=tools/language_exceptions.txt -f tools/language.awk
    done
    { git log -30 --format='%s' 2>/dev/null || true; } | check -
  fi
)
[ -z "$found" ] || {
  printf '%s\n' "$found" >&2
  printf 'docs/style.md says how to write it\n' >&2
  exit 1
}
