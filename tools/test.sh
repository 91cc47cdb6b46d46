# `./dev test`: every check of the house except lint. Sourced by ./dev.
# shellcheck shell=bash

# What has failed, after all else, where it is seen: tests by name, and what they expected.
print_failures() { # FILE
  printf '\n== what failed\n'
  grep -E -A 8 '^\[  FAILED  \] [^ ]+ \(|: Failure$|: error:|SUMMARY: .*Sanitizer|^FAIL |\*\*\*(Failed|Timeout|Exception)' "$1" | grep -vE '^\[ (RUN|      OK) ' | head -120 || true
}

run_ctest() { # PRESET [ctest arguments]
  local preset=$1 said=$root/build/$1/ctest.txt name why status=0
  shift
  (cd "$root" && ctest --preset "$preset" --parallel "$jobs" "$@") </dev/null | tee "$said" || status=$?
  ((status == 0)) || print_failures "$said"
  while read -r name; do
    why=$(sed -n "/^\"$name\" start time/,/<end of output>/s/^skipped: //p" "$root/build/$preset/Testing/Temporary/LastTest.log")
    skip "$name" "${why:-it says no more}"
  done < <(sed -nE 's/^.*Test +#[0-9]+: ([^ ]+) \.*\*\*\*Skipped.*$/\1/p' "$said")
  return "$status"
}

# without_warnings COMMAND...: one that builds, and must not be warned by the compiler.
without_warnings() {
  local said=$root/build/warnings.txt
  mkdir -p "$root/build"
  "$@" 2>&1 | tee "$said" >&2
  ! grep -q ' warning: ' "$said" || die "the compiler has warned; $said has all that it said"
}

# The tests, of the library and the program as they are shipped.
build_tests() {
  configure release -DHONDANA_BUILD_TESTS=ON
  build release
}

build_sanitized() { # PRESET [targets]
  configure "$1"
  build "$@"
}

# Speaks to the example server over stdio and checks what comes back.
ask_app_log() { # PROGRAM
  local folder answers
  folder=$root/build/consumer/run
  mkdir -p "$folder"
  printf 'started\nserved one peer\n' >"$folder/app.log"
  answers=$(cd "$folder" && timeout 20 "$1" <<'EOF'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"consumer","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/list"}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///logs/app.log"}}
EOF
  ) || die "$1 failed; it had answered: $answers"
  local wanted
  for wanted in '"example-server"' '"Application Logs"' '"text":"started\nserved one peer\n"'; do
    [[ $answers == *"$wanted"* ]] || die "$1: no $wanted in its answers: $answers"
  done
}

# The example outside the tree, against the installed package: once by CMake, once by pkg-config.
check_consumer() {
  local prefix=$root/build/consumer/prefix built=$root/build/consumer/app_log flags libraries
  rm -rf "$prefix"
  install_to "$prefix" >"$root/build/consumer.log" 2>&1 || { cat "$root/build/consumer.log" >&2; die 'the installation failed'; }
  cmake -S "$root/examples/app_log" -B "$built" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >&2
  cmake --build "$built" >&2
  ask_app_log "$built/app_log"

  local -x PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name hondana.pc)")
  read -ra flags < <(pkg-config --cflags hondana)
  read -ra libraries < <(pkg-config --libs hondana)
  g++ -std=c++20 -O1 "${flags[@]}" "$root/examples/app_log/main.cpp" -o "$built/app_log_by_pkg_config" "${libraries[@]}"
  ask_app_log "$built/app_log_by_pkg_config"
  printf 'the example server was built by CMake and by pkg-config and answered\n' >&2
}

check_package() {
  local listing wanted depends recommends
  make_package
  listing=$(dpkg-deb --contents "$package_file")
  for wanted in /usr/bin/hondana /libhondana.a /usr/include/hondana/server.hpp /hondanaConfig.cmake /pkgconfig/hondana.pc \
    /usr/share/doc/hondana/LICENSE /usr/share/doc/hondana/copyright /usr/share/man/man1/hondana.1.gz \
    /usr/share/bash-completion/completions/hondana /usr/share/zsh/vendor-completions/_hondana \
    /usr/share/fish/vendor_completions.d/hondana.fish; do
    [[ $listing == *"$wanted"* ]] || die "the package lacks $wanted"
  done
  depends=$(dpkg-deb --field "$package_file" Depends)
  # libcurl is loaded when it is first used, so no tool finds out that it is needed.
  for wanted in libc6 libcurl4; do
    [[ $depends == *"$wanted"* ]] || die "the package does not depend on $wanted but on \"$depends\""
  done
  # So are Pango and fonts, with the first chart; everything else works without them.
  recommends=$(dpkg-deb --field "$package_file" Recommends)
  for wanted in libpangocairo-1.0-0 fonts-noto-cjk; do
    [[ $recommends == *"$wanted"* ]] || die "the package does not recommend $wanted but \"$recommends\""
  done
  printf '%s depends on %s\n' "${package_file##*/}" "$depends" >&2
}

run_tests() {
  local all=$1 long=(-LE '^long$')
  phase 'packages' need_packages build test package
  phase 'npm packages' need_npm_packages
  phase 'build release' without_warnings build_release
  phase 'instruction counts' check_instructions
  phase 'build tests' without_warnings build_tests
  if [ "$all" = yes ]; then
    long=()
  else
    skip 'long interop and long fuzzing' './dev test --all runs them'
  fi
  phase 'tests' run_ctest release "${long[@]}"
  print_conformance release
  if [ "$all" = yes ]; then
    phase 'build asan' build_sanitized asan
    phase 'tests and fuzz targets under asan and ubsan' run_ctest asan
    phase 'build tsan' build_sanitized tsan
    phase 'tests under tsan' run_ctest tsan
  else
    skip 'the whole program, transcripts and rooms without foreign bytes, under asan and ubsan' './dev test --all runs them'
    phase 'build asan' build_sanitized asan foreign_bytes
    phase 'rooms of foreign bytes, and fuzz targets, under asan and ubsan' run_ctest asan -L '^(bytes|fuzz)$'
    skip 'rooms where threads do not meet, under tsan' './dev test --all runs them'
    phase 'build tsan' build_sanitized tsan meeting_places
    phase 'tests under tsan' run_ctest tsan -L '^threads$'
  fi
  phase 'installed package and its consumer' check_consumer
  phase 'Debian package' check_package
  if [ "$all" = yes ]; then
    phase 'build fuzz' build_sanitized fuzz
    phase 'fuzz' run_fuzz 60
  fi
}
