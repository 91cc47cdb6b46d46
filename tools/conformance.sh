# `./dev conformance`: the official suite against examples/everything and examples/everything_client. Sourced by ./dev.
# shellcheck shell=bash

run_conformance() {
  phase 'packages' need_packages build test
  phase 'npm packages' need_npm_packages
  phase 'build examples' build_everything everything_client
  phase 'conformance' "$root/tests/interop/node.sh" "$root/tests/conformance/conformance.mjs" \
    "$root/build/release/everything" "$root/build/release/everything_client" "$root/build/conformance" </dev/null
}

# What the tests of a preset found, for the log of `./dev test`.
print_conformance() { # PRESET
  local numbers=$root/build/$1/conformance/summary.txt
  [ ! -f "$numbers" ] || cat "$numbers"
}
