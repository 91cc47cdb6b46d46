# Configuring and building a preset, and installing from it. Sourced by ./dev.
# shellcheck shell=bash

release_budget=300 # seconds for library and program from nothing on two cores

# configure PRESET [cmake arguments]: only when the build folder is not as asked yet.
configure() {
  local preset=$1 folder=$root/build/$1 asked
  shift
  local launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    # With these ccache takes part where a precompiled header is used, and knows what another checkout has compiled.
    export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    # clang's precompiled headers hold the folder that they were made in, and save a fifth.
    case $preset in asan | tsan | fuzz) launcher+=(-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON) ;; esac
  fi
  # The linker of every preset but the one that is shipped.
  if [ "$preset" != release ] && command -v mold >/dev/null; then launcher+=(-DHONDANA_LINKER=mold); fi
  asked="$* ${launcher[*]} $(sha256sum <"$root/CMakePresets.json")"
  if [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/.asked" 2>/dev/null)" = "$asked" ]; then return; fi
  mkdir -p "$folder"
  (cd "$root" && cmake --preset "$preset" "${launcher[@]}" "$@") >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "cmake --preset $preset failed"
  }
  printf '%s\n' "$asked" >"$folder/.asked"
}

# build PRESET [targets]
build() {
  local preset=$1 targets=()
  shift
  [ "$#" -eq 0 ] || targets=(--target "$@")
  (cd "$root" && cmake --build --preset "$preset" --parallel "$jobs" "${targets[@]}") </dev/null >&2
}

# The ten slowest steps of a preset's builds so far, and all of them together.
print_timings() { # PRESET
  printf '\n== ten slowest steps\n' >&2
  # Of each output only the last build counts.
  awk -F '\t' '!/^#/ { took[$4] = $2 - $1 } END { for (output in took) printf "%d\t%s\n", took[output], output }' "$root/build/$1/.ninja_log" |
    sort -rn | awk -F '\t' 'NR <= 10 { printf "%7.1f s  %s\n", $1 / 1000, $2 }
      { sum += $1 } END { printf "%7.1f s  all %d steps together\n", sum / 1000, NR }' >&2
}

# build_everything [targets]
build_everything() {
  configure release
  build release everything "$@"
}

build_release() {
  local fresh=no begin=$SECONDS spent
  if [ ! -f "$root/build/release/build.ninja" ]; then
    fresh=yes
    printf 'building hondana for the first time: about 5 minutes on two cores\n' >&2
  fi
  configure release
  build release
  spent=$((SECONDS - begin))
  if [ "$fresh" = yes ]; then
    printf 'library and program from nothing: %d s of %d s on %d cores%s\n' "$spent" "$release_budget" "$jobs" \
      "$(command -v ccache >/dev/null && echo ', with ccache')" >&2
    [ "$spent" -le "$release_budget" ] || printf 'WARNING: the build budget is spent\n' >&2
  fi
  [ -x "$root/build/release/hondana" ] || die 'the build made no build/release/hondana'
}

# install_to PREFIX: as root only if the folder asks for it.
install_to() {
  local prefix=$1 existing=$1
  while [ ! -e "$existing" ]; do existing=$(dirname "$existing"); done
  if [ -w "$existing" ]; then
    cmake --install "$root/build/release" --prefix "$prefix" >&2
  else
    as_root cmake --install "$root/build/release" --prefix "$prefix" >&2
  fi
}

make_package() {
  (cd "$root/build/release" && cpack -G DEB) >"$root/build/release/package.log" 2>&1 || {
    cat "$root/build/release/package.log" >&2
    die 'cpack failed'
  }
  package_file=$(find "$root/build/release/package" -maxdepth 1 -name 'hondana_*.deb' | head -n 1)
  [ -n "$package_file" ] || die 'cpack made no package'
}

# run_fuzz SECONDS: every target of the preset fuzz, as many at once as there are cores; what they learn stays in build/fuzz/fuzz/corpus.
run_fuzz() {
  local target targets=()
  for target in "$root"/build/fuzz/fuzz/fuzz_*; do
    if [ -f "$target" ] && [ -x "$target" ]; then targets+=("$target"); fi
  done
  [ "${#targets[@]}" -gt 0 ] || die 'there are no fuzz targets'
  export -f run_fuzz_target
  printf '%s\0' "${targets[@]}" | root=$root xargs -0 -n 1 -P "$jobs" bash -c 'run_fuzz_target "$@"' fuzz "$1" >&2 ||
    die 'a fuzz target has failed, see above'
}

run_fuzz_target() { # SECONDS TARGET
  local seconds=$1 target=$2 seeds=() status=0
  local what=${target##*/fuzz_}
  local log=$root/build/fuzz/$what.log
  if [ -d "$root/fuzz/seeds/$what" ]; then seeds=("$root/fuzz/seeds/$what"); fi
  mkdir -p "$root/build/fuzz/fuzz/corpus/$what"
  "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$root/build/fuzz/$what." "$root/build/fuzz/fuzz/corpus/$what" "${seeds[@]}" </dev/null >"$log" 2>&1 || status=$?
  if ((status == 0)); then
    printf '%s: %s runs in %d s\n' "$what" "$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds"
    return
  fi
  tail -n 60 "$log"
  printf '%s FAILED with %d; %s has its output\n' "$what" "$status" "$log"
  return 1
}

# run_table_bench [--json FILE] [MILLISECONDS [REPETITIONS]]: pins server and load to cores of their own itself, and goes on without the
# peers that npm brings where it brings none.
run_table_bench() {
  need_npm_packages bench/peers || skip 'servers of the TypeScript SDK' 'npm could not install bench/peers'
  "$root/build/release/bench/table_bench" "$root/build/release/hondana" "$root/bench/peers" "$@" </dev/null
}

# run_auth_bench [MILLISECONDS [REPETITIONS]]: pins as well.
run_auth_bench() {
  "$root/build/release/bench/auth_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_safety_bench [MILLISECONDS [REPETITIONS]]: pins as well.
run_safety_bench() {
  "$root/build/release/bench/safety_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_crowding_bench [MILLISECONDS [REPETITIONS]]
run_crowding_bench() {
  "$root/build/release/bench/crowding_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_git_bench [MILLISECONDS [REPETITIONS]]: pins as well.
run_git_bench() {
  "$root/build/release/bench/git_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_logs_bench [GIGABYTES [LINES]]: pins as well.
run_logs_bench() {
  "$root/build/release/bench/logs_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_metrics_bench [KILLS [READS]]: pins as well.
run_metrics_bench() {
  "$root/build/release/bench/metrics_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_search_bench [PASSAGES [QUERIES [KILLS]]]
run_search_bench() {
  "$root/build/release/bench/search_bench" "$@" </dev/null
}

# run_analyses_bench [ENTRIES [KILLS]]
run_analyses_bench() {
  "$root/build/release/bench/analyses_bench" "$@" </dev/null
  printf '\n'
  "$root/build/release/bench/hits_bench" "$root/build/release/hondana" </dev/null
}

# run_drive_bench [FILES]
run_drive_bench() {
  "$root/build/release/bench/drive_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_growth_bench [ENTRIES]: curves up to so many entries and files, at several sizes each; pins as well.
run_growth_bench() {
  local most=${1:-1000000} size=1000 sizes=()
  while [ "$size" -le "$most" ]; do
    sizes+=("$size")
    size=$((size * 10))
  done
  run_list_bench "${sizes[@]}"
  printf '\n'
  run_feed_bench 10,100,1000,10000 5 0
  printf '\n'
  "$root/build/release/bench/growth_bench" "$root/build/release/hondana" "$most" </dev/null
}

# run_feed_bench [STREAMS [REPETITIONS [CHANGES]]]: pins as well.
run_feed_bench() {
  "$root/build/release/bench/feed_bench" "$root/build/release/hondana" "$@" </dev/null
}

# run_list_bench [ENTRIES...]
run_list_bench() {
  "$root/build/release/bench/list_bench" "$@" </dev/null
}

# run_bench [arguments]: every benchmark of a module, pinned to one core, and then the table of what the program has to show.
run_bench() {
  local program count=0
  for program in "$root"/build/release/bench/bench_*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    count=$((count + 1))
    printf -- '-- %s\n' "${program##*/}" >&2
    taskset -c 0 "$program" "$@" </dev/null
  done
  [ "$count" -gt 0 ] || die 'there are no benchmarks'
  printf -- '-- table\n' >&2
  run_table_bench 500 5
}
