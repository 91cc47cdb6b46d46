# `./dev instructions`: how many instructions hot paths cost, held against the committed counts. Sourced by ./dev.
# shellcheck shell=bash

# check_instructions [--write]: on the release build.
check_instructions() {
  if ! grep -qw avx2 /proc/cpuinfo; then
    skip 'instruction counts' 'the committed ones are those of a processor with AVX2'
    return
  fi
  "${HONDANA_NODE:-node}" "$root/bench/instructions/count.mjs" "$root/build/release/hondana" "$@" </dev/null >&2
}
