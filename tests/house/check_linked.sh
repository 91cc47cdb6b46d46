#!/usr/bin/env bash
# Checks which libraries a program is linked with, apart from those of the C and C++ languages.
# Usage: check_linked.sh PROGRAM LIBRARY...; LIBRARY is a name such as libre2. Prints the differences, and exits 1 if there are any.
set -euo pipefail
export LC_ALL=C
program=$1
shift
linked=$(readelf --dynamic --wide "$program" | sed -nE 's/.*\(NEEDED\).*\[(.*)\.so.*\]/\1/p' |
  grep -vE '^(libc|libm|libgcc_s|libstdc\+\+|ld-linux.*)$' | sort)
diff -u --label expected --label "$program" <(printf '%s\n' "$@" | sort) <(printf '%s\n' "$linked")
