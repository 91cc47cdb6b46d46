#!/usr/bin/env bash
# Runs nginx with hondana.conf in front of the program, and asks through it. Usage: check.sh PROGRAM CONFIGURATION
set -euo pipefail
program=$1
configuration=$2

skip() {
  printf 'skipped: %s\n' "$1"
  exit 77
}
fail() {
  printf '%s\n' "$1"
  for log in "$work"/*.log; do printf -- '-- %s\n%s\n' "${log##*/}" "$(tail -n 20 "$log")"; done
  exit 1
}

nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || skip 'there is no nginx; Debian has it in nginx-light'
command -v curl >/dev/null || skip 'there is no curl'
work=$(mktemp -d /tmp/hondana-nginx-XXXXXX)
children=()
clean_up() {
  local child
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  for child in "${children[@]}"; do wait "$child" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT

# Waits until a command succeeds, for three minutes at most.
await() {
  local until=$((SECONDS + 180))
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$until" ] || fail "waited in vain for: $*"
    read -rt 0.05 <> <(:) || true
  done
}

mkdir "$work/served" "$work/tmp"
printf 'a small file\n' >"$work/served/small.txt"
head -c 50000000 /dev/zero | tr '\0' 'x' >"$work/served/large.txt"

"$program" serve --socket "$work/mcp.sock" --host mcp.example.com --admin "$work/admin.sock" "$work/served" 2>"$work/hondana.log" &
children+=($!)
await curl -fsS --unix-socket "$work/admin.sock" http://localhost/readyz

# nginx takes no port 0, so a few are tried. All else is the example as it stands, but for the path of the socket.
start_nginx() { # PORT
  sed -e "s|unix:/run/hondana/mcp.sock|unix:$work/mcp.sock|" -e "s|127.0.0.1:8080|127.0.0.1:$1|" "$configuration" >"$work/hondana.conf"
  cat >"$work/nginx.conf" <<CONF
daemon off;
$user_line
worker_processes 1;
pid $work/nginx.pid;
error_log $work/nginx.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path $work/tmp/body;
  proxy_temp_path $work/tmp/proxy;
  fastcgi_temp_path $work/tmp/fastcgi;
  uwsgi_temp_path $work/tmp/uwsgi;
  scgi_temp_path $work/tmp/scgi;
  include $work/hondana.conf;
}
CONF
  "$nginx" -p "$work" -c "$work/nginx.conf" 2>>"$work/nginx.log" &
  nginx_pid=$!
  children+=("$nginx_pid")
  await eval "[ -s '$work/nginx.pid' ] || ! kill -0 $nginx_pid"
  kill -0 "$nginx_pid" 2>/dev/null && [ -s "$work/nginx.pid" ]
}
# Started by root, nginx would give its workers another user, who may not use a socket that is for its owner.
user_line=
[ "$EUID" -ne 0 ] || user_line='user root;'
grep -q 'unix:/run/hondana/mcp.sock' "$configuration" || fail 'the example names another socket than this test replaces'
port=
for _ in 1 2 3 4 5; do
  candidate=$((20000 + RANDOM % 10000))
  if start_nginx "$candidate"; then
    port=$candidate
    break
  fi
done
[ -n "$port" ] || fail 'nginx did not start'
url=http://127.0.0.1:$port

ask() { # METHOD PARAMETERS [curl arguments]
  local method=$1 params=$2 name
  shift 2
  name=$(sed -n 's/.*"uri":"\([^"]*\)".*/\1/p' <<<"$params")
  curl -sS --max-time 180 "$@" "$url/mcp" -H 'Host: mcp.example.com' -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $method" \
    ${name:+-H "Mcp-Name: $name"} \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$method\",\"params\":{$params\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}"
}

listed=$(ask resources/list '')
[[ $listed == *"\"uri\":\"file://$work/served/large.txt\""* ]] || fail "not listed through nginx: $listed"

ask resources/read "\"uri\":\"file://$work/served/large.txt\"," -o "$work/answer"
size=$(stat -c %s "$work/answer")
[ "$size" -gt 50000000 ] || fail "of 50 MB of text, $size bytes arrived: $(head -c 300 "$work/answer")"
cmp -s <(tr -cd 'x' <"$work/answer" | head -c 50000000) "$work/served/large.txt" || fail 'the large file arrived changed'
[ -z "$(find "$work/tmp" -type f)" ] || fail 'nginx kept a copy on disk'

# A stream begins with an event, which has to come through while the stream stays open.
legacy=(-H 'Host: mcp.example.com' -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2025-11-25')
curl -sS --max-time 180 -D "$work/opened" -o /dev/null "$url/mcp" "${legacy[@]}" -H 'Accept: application/json, text/event-stream' \
  -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}}}'
session=$(sed -n 's/^Mcp-Session-Id: *\([0-9a-f]*\).*/\1/p' "$work/opened")
[ -n "$session" ] || fail "no session through nginx: $(cat "$work/opened")"
curl -sSN --max-time 180 -D "$work/head" -o "$work/stream" "$url/mcp" "${legacy[@]}" -H 'Accept: text/event-stream' \
  -H "Mcp-Session-Id: $session" &
stream=$!
children+=("$stream")
await grep -q '^id: ' "$work/stream"
grep -qi '^content-type: text/event-stream' "$work/head" || fail "no stream of events: $(cat "$work/head")"
kill -0 "$stream" || fail 'the stream ended'
status=$(curl -sS -X DELETE -o /dev/null -w '%{http_code}' "${legacy[@]}" -H "Mcp-Session-Id: $session" "$url/mcp")
[[ $status == 20[04] ]] || fail "ending the session was answered $status"
wait "$stream" || fail 'the stream did not end well with its session'

status=$(curl -sS -o /dev/null -w '%{http_code}' -H 'Host: evil.example' -H 'Content-Type: application/json' -d '{}' "$url/mcp")
[ "$status" = 403 ] || fail "a foreign Host was answered $status"
status=$(curl -sS -o /dev/null -w '%{http_code}' -H 'Host: mcp.example.com' "$url/healthz")
[ "$status" = 404 ] || fail "/healthz was answered $status to the outside"

echo 'nginx passes lists, a large file and a stream of events on, and nothing that it should not'
