#!/usr/bin/env bash
# Checks that a program was compiled and linked as cmake/safety.cmake asks. Usage: check_hardening.sh PROGRAM; prints one line a
# fault, exits 1 if there is any.
set -euo pipefail
program=$1
export LC_ALL=C
faults=0

expect() { # WHAT PATTERN TEXT
  grep -qE -- "$2" <<<"$3" && return
  printf '%s: %s\n' "$program" "$1"
  faults=$((faults + 1))
}

header=$(readelf --file-header "$program")
segments=$(readelf --program-headers --wide "$program")
dynamic=$(readelf --dynamic --wide "$program")
symbols=$(readelf --dyn-syms --wide "$program")

expect 'its address is fixed: it is no position-independent executable' 'Type: +DYN' "$header"
expect 'its stack is executable, or nothing says that it is not' 'GNU_STACK .* RW ' "$segments"
expect 'its tables of addresses stay writable: no RELRO' 'GNU_RELRO' "$segments"
expect 'its tables of addresses are filled in later: no BIND_NOW' 'FLAGS_1.*NOW|\(FLAGS\).*BIND_NOW' "$dynamic"
expect 'no function has a stack protector' '__stack_chk_fail' "$symbols"
expect 'no call is checked by _FORTIFY_SOURCE' '__(memcpy|snprintf|read|poll|memmove)_chk' "$symbols"
expect 'the standard library checks no precondition: no _GLIBCXX_ASSERTIONS' '__glibcxx_assert_fail' "$symbols"
((faults == 0))
