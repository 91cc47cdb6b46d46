#!/usr/bin/env bash
# Draws the pictures of the documentation into a folder that is removed again and holds them against those that are committed:
# the same files, PNGs of the same size, SVGs with the same words. How wide letters are depends on the fonts that are installed, and
# with them every place, so pictures are not compared byte for byte.
# usage: check_pictures.sh PROGRAM COMMITTED
set -euo pipefail
program=$1 committed=$2
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
bad=0
complain() {
  printf '%s\n' "$1" >&2
  bad=1
}

"$program" "$drawn"
# Signature, width and height.
head_of() { head -c 24 "$1" | od -An -v -tx1; }
words_of() { grep -oE '<(text|title|desc)[^>]*>[^<]*' "$1" | sed 's/^<[^>]*>//'; }

count=0
for one in "$drawn"/*; do
  name=$(basename "$one")
  count=$((count + 1))
  if [ ! -f "$committed/$name" ]; then
    complain "$committed lacks $name"
    continue
  fi
  case $name in
    *.png) [ "$(head_of "$one")" = "$(head_of "$committed/$name")" ] || complain "$name has another size than it is drawn in" ;;
    *.svg) diff -u <(words_of "$committed/$name") <(words_of "$one") || complain "$name says something else than is drawn" ;;
  esac
  size=$(wc -c <"$committed/$name")
  [ "$size" -lt 100000 ] || complain "$name has $size bytes, which is much for a page"
done
[ "$count" -ge 5 ] || complain "only $count pictures were drawn"
exit $bad
