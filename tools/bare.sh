# `./dev test --bare`: every command of ./dev in a chroot with nothing but Debian's base system, each with only the packages that it
# installs itself. Sourced by ./dev.
# shellcheck shell=bash

bare=$(realpath -m "$root/build/bare")

# A file system of Debian's base system, made once; each command gets a writable layer of its own above it.
make_bare_base() {
  local base=$bare/base
  [ ! -e "$base/.complete" ] || return 0
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$base" >"$bare/debootstrap.log" 2>&1 || {
    tail -n 20 "$bare/debootstrap.log" >&2
    die "debootstrap failed; $bare/debootstrap.log has its output"
  }
  # The package sources and registries of this machine.
  rm -f "$base/etc/apt/sources.list"
  cp -a /etc/apt/sources.list* /etc/apt/apt.conf.d "$base/etc/apt/"
  cp -a /usr/share/keyrings/. "$base/usr/share/keyrings/"
  # Nothing here has to survive a crash, and what was downloaded is kept for the next command.
  rm -f "$base/etc/apt/apt.conf.d/docker-clean"
  printf 'force-unsafe-io\n' >"$base/etc/dpkg/dpkg.cfg.d/unsafe-io"
  printf 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\nAPT::Keep-Downloaded-Packages "true";\n' >"$base/etc/apt/apt.conf.d/keep-packages"
  touch "$base/.complete"
}

unmount_below() { # FOLDER
  local place
  # The deepest first.
  awk -v under="$1/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r | while read -r place; do umount -l "$place"; done
}

# Removes a layer, and refuses while a file system such as /dev is mounted in it.
remove_layer() { # FOLDER
  unmount_below "$1"
  ! grep -qF " ${1// /\\040}/" /proc/mounts || die "$1 has file systems mounted that cannot be unmounted"
  rm -rf --one-file-system "$1"
}

# in_bare NAME COMMAND: a bash command in a new layer, with this checkout's commit and changes in /hondana. Packages and compiler
# results are taken from caches; they are installed and used by ./dev alone.
in_bare() {
  local name=$1 command=$2 layer=$bare/$1 place status=0 lines
  mapfile -t lines <<<"$command"
  remove_layer "$layer"
  mkdir -p "$layer/upper" "$layer/work" "$layer/root" "$bare/archives/partial" "$bare/lists/partial" "$bare/npm"
  mount -t overlay overlay -o "lowerdir=$bare/base,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
  for place in sys dev dev/shm dev/pts; do
    mkdir -p "$layer/root/$place"
    mount --bind "/$place" "$layer/root/$place"
  done
  mkdir -p "$layer/root/proc" "$layer/root/root/.ccache" "$layer/root/root/.npm"
  mount --bind "$bare/archives" "$layer/root/var/cache/apt/archives"
  mount --bind "$bare/lists" "$layer/root/var/lib/apt/lists"
  if command -v ccache >/dev/null; then
    mkdir -p "$(ccache --get-config cache_dir)"
    mount --bind "$(ccache --get-config cache_dir)" "$layer/root/root/.ccache"
  fi
  mount --bind "$bare/npm" "$layer/root/root/.npm"
  cp -L /etc/resolv.conf /etc/hosts "$layer/root/etc/" 2>/dev/null || true
  for place in /etc/ssl/certs/ca-certificates.crt /root/.npmrc; do
    [ ! -e "$place" ] || cp -L "$place" "$layer/root$place"
  done
  git clone --quiet "$root" "$layer/root/hondana"
  # Changed and new files, and no file that was removed.
  (cd "$root" && git ls-files -z --deleted) | (cd "$layer/root/hondana" && xargs -0 -r rm -f)
  (cd "$root" && comm -z -23 <(git ls-files -z --modified --others --exclude-standard | sort -zu) <(git ls-files -z --deleted | sort -z) |
    tar --null --files-from=- --create) | tar -C "$layer/root/hondana" --extract
  # With process numbers of its own: what looks at process 1 sees the file systems of the chroot. That process also takes in orphans.
  # shellcheck disable=SC2016
  env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR=/root/.ccache \
    unshare --pid --fork --kill-child --mount-proc="$layer/root/proc" chroot "$layer/root" \
    bash -c 'timeout "$1" bash -ec "$2" & wait $!' bare $((3600 * ${#lines[@]})) "$bare_functions cd /hondana; set -x; $command" \
    </dev/null >"$bare/$name.log" 2>&1 || status=$?
  remove_layer "$layer"
  if ((status != 0)); then
    tail -n 30 "$bare/$name.log" >&2
    printf 'in a bare chroot: %s failed with %d; %s has its output\n' "${command//$'\n'/; }" "$status" "$bare/$name.log" >&2
  fi
  return "$status"
}

# What the commands below may call: `answers WORD COMMAND...` starts a server, waits until it prints WORD and ends it.
# shellcheck disable=SC2016
bare_functions='
answers() {
  local word=$1
  shift
  "$@" >/tmp/server.log 2>&1 &
  until grep -qs -- "$word" /tmp/server.log; do kill -0 $! || { cat /tmp/server.log; return 1; }; sleep 0.2; done
  kill $!
}
'

# The commands, by name, one a line. Those of one name install the same packages and build the same preset, and share a layer.
# Benchmarks run with small arguments.
declare -A bare_commands=(
  [help]='./dev help'
  [build]='./dev build
./dev install
./dev install --prefix /tmp/prefix
/tmp/prefix/bin/hondana --version'
  [serve]='answers http://127.0.0.1:7325/mcp ./dev serve docs'
  [everything]='answers 127.0.0.1:18123 ./dev everything 18123'
  [test]='./dev test --since HEAD'
  [conformance]='./dev conformance'
  [package]='./dev package'
  [instructions]='./dev instructions'
  [fuzz]='./dev fuzz 1'
  [lint]='./dev lint --since HEAD'
  [format]='./dev format'
  [texts]='./dev texts src/os/sqlite'
  [bench]='./dev bench --benchmark_min_time=0.001
./dev bench table 20 1
./dev bench auth 20 1
./dev bench safety 20 1
./dev bench crowding 20 1
./dev bench git 20 1
./dev bench logs 1 5
./dev bench metrics 1 1
./dev bench search 500 5 1
./dev bench analyses 500 1
./dev bench drive 20
./dev bench feed 10 1 3
./dev bench list 1000
./dev bench growth 1000'
)

# run_bare [NAME...]: all of them, or those named.
run_bare() {
  local name status line names=("$@") failed=()
  [ "$EUID" -eq 0 ] || die 'test --bare mounts file systems and needs root'
  need_packages bare
  [ "${#names[@]}" -gt 0 ] || mapfile -t names < <(printf '%s\n' "${!bare_commands[@]}" | sort)
  mkdir -p "$bare"
  unmount_below "$bare"
  make_bare_base
  for name in "${names[@]}"; do
    [ -n "${bare_commands[$name]:-}" ] || die "no command is called $name; known: ${!bare_commands[*]}"
    local begin=$SECONDS
    # In a condition the shell would go on after a failed step.
    set +e
    (
      set -e
      in_bare "$name" "${bare_commands[$name]}"
    )
    status=$?
    set -e
    if ((status == 0)) && grep -q '^FLAKY ' "$bare/$name.log"; then
      printf 'in a bare chroot, tests of %s needed a second try; %s names them\n' "$name" "$bare/$name.log" >&2
      status=1
    fi
    while read -r line; do skip "in a bare chroot, $name" "$line"; done < <(sed -n 's/^skipped  //p' "$bare/$name.log")
    if ((status == 0)); then
      printf '%5d s  %s\n' $((SECONDS - begin)) "${bare_commands[$name]//$'\n'/; }" >&2
    else
      failed+=("$name")
    fi
  done
  [ "${#failed[@]}" -eq 0 ] || die "on a bare Debian these fail: ${failed[*]}"
}

# Runs all of them beside what the caller does next.
begin_bare() {
  mkdir -p "$bare"
  # In a process group of its own, which can be ended as a whole.
  set -m
  "$root/dev" test --bare </dev/null >"$bare/all.log" 2>&1 &
  set +m
  beside=$!
}

# unshare ignores the milder signals.
abandon_bare() {
  kill -KILL -- "-$beside" 2>/dev/null || true
  wait "$beside" 2>/dev/null || true
  unmount_below "$bare" || true
}

# Waits for their end and shows what they printed.
end_bare() {
  local status=0 line
  wait "$beside" || status=$?
  beside=
  cat "$bare/all.log" >&2
  while read -r line; do skip_lines+=("$line"); done < <(sed -n 's/^skipped  //p' "$bare/all.log")
  return "$status"
}
