#!/bin/sh
# Runs a test program under the Node that the npm packages bring: node.sh PROGRAM.mjs [ARGUMENT...]. 77: there is none, skipped.
here=$(cd "$(dirname "$0")" && pwd)
for node in "$here"/node_modules/node-linux-*/bin/node; do
  if [ -x "$node" ] && "$node" --version >/dev/null 2>&1; then
    exec "$node" "$@"
  fi
done
echo "skipped: there is no $here/node_modules with a Node in it; npm ci --prefix $here brings it" >&2
exit 77
