#!/usr/bin/env bash
# Runs the schema validation with the Node of the npm packages, or says why not and exits 77.
# Usage: validate.sh EMITTED_FOLDER
set -euo pipefail
interop=$(cd "$(dirname "${BASH_SOURCE[0]}")/../interop" && pwd)
for node in "$interop"/node_modules/node-linux-*/bin/node; do
  if [ -x "$node" ]; then exec "$node" "$interop/validate_schemas.mjs" "$1"; fi
done
printf 'skipped: %s/node_modules has no Node; ./dev test installs it (npm ci)\n' "$interop"
exit 77
