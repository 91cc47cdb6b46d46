#!/usr/bin/env bash
# Asks the program with the toy provider for what only the toy can answer. Usage: check.sh PROGRAM CONFIGURATION
set -euo pipefail
program=$1
configuration=$2

expect() { # WHERE TEXT
  [[ $1 == *"$2"* ]] || { printf 'expected %s in:\n%s\n' "$2" "$1"; exit 1; }
}

expect "$("$program" schemes)" 'toy:///{name}'
coproc server { exec "$program" stdio --config "$configuration"; }
# shellcheck disable=SC2154 # coproc sets it
pid=$server_PID input=${server[1]}
cat >&"$input" <<'EOF'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/list"}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"toy:///Grace%20Hopper"}}
EOF
answers=
until [[ $answers == *'"id":2,'* && $answers == *'"id":3,'* ]]; do
  IFS= read -rt 180 line <&"${server[0]}" || { printf 'not all was answered:\n%s\n' "$answers"; exit 1; }
  answers+=$line$'\n'
done
exec {input}>&-
wait "$pid"
expect "$answers" '"uri":"toy:///Ada"'
expect "$answers" '"text":"Good morning, Grace Hopper!\n"'
echo 'the toy provider answers'
