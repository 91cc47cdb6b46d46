# `./dev lint`: format, clang-tidy, shell scripts, house habits. Sourced by ./dev.
# shellcheck shell=bash

most_lines=450

# All C++ of ours, NUL-separated.
source_files() {
  local folder folders=()
  for folder in include src tests fuzz bench examples; do
    [ ! -d "$root/$folder" ] || folders+=("$root/$folder")
  done
  find "${folders[@]}" -name node_modules -prune -o -type f \( -name '*.cpp' -o -name '*.hpp' \) -print0 | LC_ALL=C sort -z
}

check_format() {
  source_files | xargs -0 -r -n 40 -P "$jobs" clang-format-19 --dry-run -Werror
}

check_scripts() {
  (
    cd "$root"
    shellcheck --external-sources --check-sourced dev .ci/run
    find tests packaging fuzz bench -name node_modules -prune -o -type f -name '*.sh' -print0 2>/dev/null | xargs -0 -r shellcheck
  )
}

check_habits() {
  local file lines faults=0
  while IFS= read -r -d '' file; do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt "$most_lines" ]; then
      printf 'WARNING: %s has %d lines, perhaps two ideas\n' "${file#"$root"/}" "$lines" >&2
    fi
    if [[ $(head -n 1 "$file") != '/// '* ]]; then
      printf '%s:1: the file does not open with a sentence saying what lives there\n' "${file#"$root"/}" >&2
      faults=$((faults + 1))
    fi
  done < <(source_files)
  # A benchmark may pace itself by the clock; nothing else waits by time.
  local lines
  lines=$(
    # xargs calls grep several times, and tells of any call that finds nothing.
    source_files | xargs -0 grep -nHE '\b(TODO|FIXME|XXX|NOLINT[A-Z]*|co_await|co_return)\b|catch *\(\.\.\.\) *\{ *\}' || [ $? -eq 123 ]
    source_files | grep -zv "^$root/bench/" | xargs -0 grep -nHE '\b(sleep_for|sleep_until|usleep|nanosleep) *\(' || [ $? -eq 123 ]
  )
  if [ -n "$lines" ]; then
    printf '%s\n' "$lines" >&2
    printf 'the lines above promise, wait by time, silence a check or swallow an error\n' >&2
    faults=$((faults + 1))
  fi
  [ "$faults" -eq 0 ] || die 'habits'
}

# One line a source file below src/: the file, then every project header it reaches.
tidy_inputs() {
  (cd "$root" && grep -rHoE --include='*.hpp' --include='*.cpp' '^#include ["<][a-z_0-9/]+\.hpp[">]' include src) |
    awk '
      {
        colon = index($0, ":")
        from = substr($0, 1, colon - 1)
        match($0, /["<][a-z_0-9\/]+\.hpp/)
        to = substr($0, RSTART + 1, RLENGTH - 1)
        if (substr($0, RSTART, 1) == "<" && to !~ /^hondana\//) next
        to = (to ~ /^hondana\//) ? "include/" to : "src/" to
        edges[from] = edges[from] " " to
      }
      END {
        for (file in edges) {
          if (file !~ /\.cpp$/) continue
          split("", seen); seen[file] = 1
          queue[1] = file; head = 1; tail = 1
          out = file
          while (head <= tail) {
            count = split(edges[queue[head++]], next_files, " ")
            for (i = 1; i <= count; i++)
              if (!(next_files[i] in seen)) { seen[next_files[i]] = 1; queue[++tail] = next_files[i]; out = out " " next_files[i] }
          }
          print out
        }
      }' | LC_ALL=C sort
}

# One line a translation unit of the build in FOLDER, which may be a batch of sources: its file, then all that it reaches below src/
# and include/.
tidy_units() { # FOLDER
  local unit all
  declare -A reached=()
  all=$(tidy_inputs) || return 1
  while read -r unit; do reached[${unit%% *}]=$unit; done <<<"$all"
  sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$1/compile_commands.json" | LC_ALL=C sort -u | while read -r unit; do
    case $unit in
      "$1"/src/*/Unity/*) printf '%s\n' "$unit"; sed -nE "s|^#include \"$root/(.*)\"\$|\1|p" "$unit" ;;
      "$root"/src/*) printf '%s\n%s\n' "$unit" "${unit#"$root"/}" ;;
    esac
  done | while read -r unit; do
    case $unit in
      /*) printf '\n%s' "$unit" ;;
      *) printf ' %s' "${reached[$unit]:-$unit}" ;;
    esac
  done | sed '/^$/d' || return 1
  printf '\n'
}

# Whether a batch has a file that changed: a source of it, a header beside one of its sources, or a header that no batch before it had.
# Arguments: the files of the batch and all that they include. Reads the changed paths from `changed`, and notes the headers.
has_changed() { # FILE...
  local file own_folders=" " found=1
  for file in "$@"; do
    case $file in *.cpp) own_folders+="${file%/*} " ;; esac
  done
  for file in "$@"; do
    [ -n "${changed[$file]:-}" ] || continue
    case $file in
      *.cpp) found=0 ;;
      *)
        if [[ $own_folders == *" ${file%/*} "* || ${changed[$file]} == yes ]]; then found=0; fi
        changed[$file]=seen
        ;;
    esac
  done
  return "$found"
}

# clang-tidy on every batch of sources below src/ whose text, headers, flags or rules changed since it last passed, and, with a
# revision, only where a file of the batch or a header beside it changed since then. Most of its time goes to headers, which
# the sources of a batch share.
check_tidy() { # [REV]
  local folder=$root/build/lint rules unit inputs key waiting=$root/build/lint/waiting
  mkdir -p "$root/build"
  (cd "$root" && cmake --preset asan -B "$folder" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DHONDANA_SANITIZE= \
    -DHONDANA_BUILD_TESTS=OFF -DHONDANA_BUILD_FUZZ=OFF) >"$root/build/lint.log" 2>&1 || {
    cat "$root/build/lint.log" >&2
    die 'cmake failed'
  }
  mkdir -p "$folder/passed"
  : >"$waiting"
  rules=$(cat "$root/.clang-tidy" "$root"/cmake/*.cmake "$root/CMakePresets.json" <(clang-tidy-19 --version) | sha256sum)
  local -A changed=()
  local base=${1:-} path
  local paths units
  if [ -n "$base" ]; then
    paths=$(changed_paths "$base" src include .clang-tidy) || die 'git cannot tell what changed'
    [[ $'\n'$paths != *$'\n.clang-tidy'* ]] || base=
    while read -r path; do [ -z "$path" ] || changed[$path]=yes; done <<<"$paths"
  fi
  units=$(tidy_units "$folder") || die 'the files to check could not be found out'
  while read -r -a inputs; do
    unit=${inputs[0]}
    if [ -n "$base" ] && ! has_changed "${inputs[@]}"; then continue; fi
    key=$(cd "$root" && { printf '%s' "$rules ${inputs[*]}"; cat "${inputs[@]}"; } | sha256sum | cut -d ' ' -f 1)
    [ -e "$folder/passed/$key" ] || printf '%s\0%s\0' "$unit" "$folder/passed/$key" >>"$waiting"
  done <<<"$units"
  printf 'clang-tidy: %d batches of files to look at\n' $(($(tr -cd '\0' <"$waiting" | wc -c) / 2)) >&2
  # A batch includes sources; that is what it is for.
  # shellcheck disable=SC2016
  xargs -0 -r -n 2 -P "$jobs" bash -c 'clang-tidy-19 -p "$0" --checks=-bugprone-suspicious-include --quiet "$1" 2>&1 | { grep -v "warnings\? .*generated" || true; }; [ "${PIPESTATUS[0]}" -eq 0 ] && touch "$2"' \
    "$folder" <"$waiting" >&2 || die 'clang-tidy has something to say'
}

# run_lint [REV | --all]
run_lint() {
  local base=
  phase 'packages' need_packages build lint
  [ "${1:-}" = --all ] || base=$(base_revision "$@")
  phase 'format' check_format
  phase 'scripts' check_scripts
  phase 'habits' check_habits
  phase 'language' "$root/tools/check_language.sh"
  phase 'clang-tidy' check_tidy "$base"
}
