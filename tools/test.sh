# `./dev test`: the gate, and with --all every check there is. Sourced by ./dev.
# shellcheck shell=bash

# Labels of tests that only --all runs: they take long, measure time, put the machine under load or judge search results.
only_in_all='^(long|timing|load|retrieval)$'

# The failed tests and what they expected, at the end of the output, where they are seen.
print_failures() { # FILE
  printf '\n== failures\n'
  grep -E -A 8 '^\[  FAILED  \] [^ ]+ \(|: Failure$|: error:|SUMMARY: .*Sanitizer|^FAIL |\*\*\*(Failed|Timeout|Exception)' "$1" | grep -vE '^\[ (RUN|      OK) ' | head -120 || true
}

# Tests that failed first and passed, or were skipped, at the second try.
flaky_tests() { # FILE
  sed -nE 's/^.*Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Timeout|Exception).*$/\1/p' "$1" | sort -u | while read -r name; do
    if grep -qE "Test +#[0-9]+: $name \.* *(Passed|\*\*\*Skipped)" "$1"; then printf '%s\n' "$name"; fi
  done
}

print_slowest() { # FILE
  printf '\n== ten slowest tests\n' >&2
  sed -nE 's/^.*Test +#[0-9]+: ([^ ]+) \.* *(Passed|\*\*\*[A-Za-z]+) +([0-9.]+) sec.*$/\3 s  \1/p' "$1" | sort -rn | awk '!($3 in seen) { seen[$3]; printf "%9s %s  %s\n", $1, $2, $3 }' | head >&2 || true
}

# Twice as many tests at once as there are cores: half of their time they wait for timers, processes and sockets.
run_ctest() { # PRESET [ctest arguments]
  local preset=$1 log=$root/build/$1/ctest.txt name why status=0
  shift
  (cd "$root" && ctest --preset "$preset" --parallel $((2 * jobs)) "$@") </dev/null | tee "$log" || status=$?
  print_slowest "$log"
  ((status == 0)) || print_failures "$log"
  while read -r name; do
    why=$(sed -n "/^\"$name\" start time/,/<end of output>/s/^skipped: //p" "$root/build/$preset/Testing/Temporary/LastTest.log")
    skip "$name" "${why:-it says no more}"
  done < <(sed -nE 's/^.*Test +#[0-9]+: ([^ ]+) \.*\*\*\*Skipped.*$/\1/p' "$log")
  # Those that a test program skips itself, each behind its reason.
  while read -r name why; do skip "$name" "${why:-it says no more}"; done < <(
    sed -nE '/^\[  SKIPPED \] [^ ]+ \(/{s/^\[  SKIPPED \] ([^ ]+) .*/\1/;G;s/\n/ /;p};h' \
      "$root/build/$preset/Testing/Temporary/LastTest.log" | sort -u)
  while read -r name; do flaky_lines+=("$name"); done < <(flaky_tests "$log")
  return "$status"
}

build_gate() {
  configure gate
  build gate
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
  answers=$(cd "$folder" && timeout 200 "$1" <<'JSON'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"consumer","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/list"}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///logs/app.log"}}
JSON
  ) || die "$1 failed; it had answered: $answers"
  local wanted
  for wanted in '"example-server"' '"Application Logs"' '"text":"started\nserved one peer\n"'; do
    [[ $answers == *"$wanted"* ]] || die "$1: no $wanted in its answers: $answers"
  done
}

# Configures a project outside the tree against the installed package. All libraries of its link line show in its program.
configure_consumer() { # PROJECT FOLDER [CMake arguments]
  cmake -S "$1" -B "$root/build/consumer/$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$root/build/consumer/prefix" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--no-as-needed "${@:3}"
}

# Builds what was configured, asks the server, and prints its size and how long the linker takes.
build_consumer() { # FOLDER PROGRAM
  local program=$root/build/consumer/$1/$2 TIMEFORMAT="$1 is linked in %R s"
  cmake --build "${program%/*}" >&2
  rm "$program"
  time cmake --build "${program%/*}" >&2
  size "$program" >&2
  ask_app_log "$program"
}

# The example outside the tree, against the installed package: with the component that it needs and with all, by CMake and by pkg-config.
check_consumer() {
  local consumer=$root/build/consumer package flags libraries answer linked
  rm -rf "$consumer"
  mkdir -p "$consumer/pkgconfig"
  install_to "$consumer/prefix" >"$root/build/consumer.log" 2>&1 || { cat "$root/build/consumer.log" >&2; die 'the installation failed'; }

  # A server of its own resources needs no other packages than these, and is linked with no other libraries.
  for package in hogweed libutf8proc nettle re2; do
    ln -s "$(pkg-config --variable=pcfiledir $package)/$package.pc" "$consumer/pkgconfig/"
  done
  PKG_CONFIG_LIBDIR=$consumer/pkgconfig configure_consumer "$root/examples/app_log" app_log >&2
  build_consumer app_log app_log
  linked=$(ldd "$consumer/app_log/app_log")
  ! grep -E 'sqlite|git2|gumbo|mecab|stemmer|uchardet|libpq|curl|ssl|crypto|xml2|archive|yaml|jsoncpp|magic|libz|lzma|seccomp' <<<"$linked" ||
    die 'the server is linked with libraries that it does not need'

  configure_consumer "$root/tests/consumer" components '-DCONSUMER_COMPONENTS=server;client;sources;search' \
    '-DCONSUMER_LINKS=hondana::search;hondana::sources;hondana::client;hondana::server' >&2
  build_consumer components consumer
  configure_consumer "$root/tests/consumer" everything -DCONSUMER_LINKS=hondana::hondana >&2
  build_consumer everything consumer
  if answer=$(configure_consumer "$root/tests/consumer" unknown '-DCONSUMER_COMPONENTS=server;serch' 2>&1); then
    die 'find_package takes a component that does not exist'
  fi
  [[ $(tr -s '[:space:]' ' ' <<<"$answer") == *'hondana has no component serch. Its components are base, '*' search, '* ]] ||
    die "find_package does not name the components: $answer"

  local -x PKG_CONFIG_PATH
  PKG_CONFIG_PATH=$(dirname "$(find "$consumer/prefix" -name hondana.pc)")
  for package in hondana-server hondana; do
    read -ra flags < <(pkg-config --cflags "$package")
    read -ra libraries < <(pkg-config --libs "$package")
    g++ -std=c++20 -O1 "${flags[@]}" "$root/examples/app_log/main.cpp" -o "$consumer/by_$package" "${libraries[@]}"
    ask_app_log "$consumer/by_$package"
  done
  printf 'the example server was built by CMake and by pkg-config and answered\n' >&2
}

check_package() {
  local listing wanted depends recommends
  make_package
  listing=$(dpkg-deb --contents "$package_file")
  for wanted in /usr/bin/hondana /libhondana_server.a /libhondana_search.a /usr/include/hondana/server.hpp /hondanaConfig.cmake \
    /pkgconfig/hondana.pc /pkgconfig/hondana-server.pc \
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

# The modules to test under AddressSanitizer, one a line: those whose source or tests changed since REV, and those that include a
# module whose source or test helpers changed. Uncommitted files count. A change of the build or of files that all tests include
# selects every module.
changed_modules() { # REV
  local paths includes=$root/build/includes.txt modules tested
  modules=$(cd "$root/src" && find . -mindepth 2 -type d -printf '%P\n' && printf 'client\n') || return 1
  tested=$(cd "$root/tests/unit" && grep -rlE --include='*.cpp' '^(TYPED_)?TEST' . | sed -E 's|^\./(.*)/[^/]*$|\1|' | sort -u) || return 1
  paths=$(changed_paths "$1" src tests include cmake CMakeLists.txt CMakePresets.json) || return 1
  if grep -qE '^(cmake/|CMakePresets|tests/([^/]*\.[ch]pp|support/|lsa/|drive/))|(^|/)CMakeLists\.txt$' <<<"$paths"; then
    printf '%s\n' "$tested"
    return
  fi
  mkdir -p "$root/build"
  (cd "$root" && grep -rHoE --include='*.hpp' --include='*.cpp' '^#include ["<][a-z_0-9/]+\.hpp[">]' src include tests/unit) >"$includes" ||
    return 1
  "$root/tools/affected_modules.awk" -v modules="${modules//$'\n'/ }" -v tested="${tested//$'\n'/ }" -v includes="$includes" <<<"$paths"
}

# The files below these folders that changed since a revision or are new, by both their names where they were renamed.
changed_paths() { # REV FOLDER...
  local base=$1
  shift
  (cd "$root" && git diff --no-renames --name-only "$base" -- "$@" && git ls-files --others --exclude-standard -- "$@")
}

# The revision that changes are counted from: the given one, or 30 commits ago, or the first commit of a shorter history.
base_revision() { # [REV]
  local wanted=${1:-HEAD~30}
  if git -C "$root" rev-parse --quiet --verify "$wanted^{commit}" >/dev/null; then
    git -C "$root" rev-parse "$wanted^{commit}"
  elif [ "$#" -gt 0 ]; then
    die "--since: git knows no revision $wanted"
  else
    git -C "$root" rev-list --max-parents=0 HEAD | tail -n 1
  fi
}

test_changed_modules() { # REV
  local modules targets=() labels=() module
  modules=$(changed_modules "$1") || die 'the modules that changed could not be found out'
  while read -r module; do
    [ -n "$module" ] || continue
    module=${module//\//_}
    targets+=("unit_$module")
    labels+=("module_$module")
  done <<<"$modules"
  if [ "${#targets[@]}" -eq 0 ]; then
    skip 'AddressSanitizer' "no module changed since $(git -C "$root" rev-parse --short "$1")"
    return
  fi
  configure asan
  printf 'changed since %s, with direct users: %s\n' "$(git -C "$root" rev-parse --short "$1")" "${targets[*]#unit_}" >&2
  phase 'build asan' build asan "${targets[@]}"
  phase 'changed modules under asan and ubsan' run_ctest asan --repeat until-pass:2 -L "^($(IFS='|' && printf '%s' "${labels[*]}"))\$"
}

# The gate: whether a change is good.
run_gate() { # [REV]
  local base
  phase 'packages' need_packages build test
  base=$(base_revision "$@")
  phase 'npm packages' need_npm_packages
  phase 'build' build_gate
  phase 'tests' run_ctest gate --repeat until-pass:2 -LE "$only_in_all"
  print_conformance gate
  test_changed_modules "$base"
}

# Everything: the gate's tests and the long ones without a second try, all modules under all sanitizers, fuzzing, package, instruction
# counts, and every command of ./dev on a bare Debian. That last part waits for downloads half of its time and runs beside the sanitizers.
run_all_tests() {
  phase 'packages' need_packages build test package lint bare
  phase 'npm packages' need_npm_packages
  phase 'build' build_gate
  phase 'tests' run_ctest gate --timeout 1800
  print_conformance gate
  phase 'build release' build_release
  phase 'instruction counts' check_instructions
  phase 'installed package and its consumer' check_consumer
  phase 'Debian package' check_package
  begin_bare
  phase 'build asan' build_sanitized asan
  phase 'tests and fuzz targets under asan and ubsan' run_ctest asan
  phase 'build tsan' build_sanitized tsan
  phase 'tests under tsan' run_ctest tsan
  phase 'build fuzz' build_sanitized fuzz
  phase 'fuzz' run_fuzz "${HONDANA_FUZZ_SECONDS:-20}"
  phase 'format' check_format
  phase 'scripts' check_scripts
  phase 'habits' check_habits
  phase 'language' "$root/tools/check_language.sh"
  phase 'clang-tidy' check_tidy
  phase 'commands on a bare Debian, begun before asan' end_bare
}
