# Brings what a bare Debian 12 lacks: apt packages by section, npm packages by lock file. Sourced by ./dev.
# shellcheck shell=bash

as_root() {
  if [ "$EUID" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root and there is no sudo; as root, run: $*"
  fi
}

# need_packages SECTION...: installs what packaging/debian-packages.txt lists there and this machine lacks.
need_packages() {
  local section package command wanted=() missing=()
  if ! command -v dpkg-query >/dev/null; then
    skip 'Debian packages' 'no dpkg here; packaging/debian-packages.txt lists what is needed'
    return
  fi
  while read -r section package command; do
    [[ " $* " == *" $section "* ]] || continue
    if [ -n "$command" ] && command -v "$command" >/dev/null; then continue; fi
    wanted+=("$package")
  done < <(grep -v '^#' "$root/packaging/debian-packages.txt")
  for package in "${wanted[@]}"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *' ok installed' ]] || missing+=("$package")
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  printf 'installing %s\n' "${missing[*]}" >&2
  as_root apt-get update -q >&2 || printf 'apt-get update failed; trying with the lists at hand\n' >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" </dev/null >&2 ||
    die "apt-get could not install ${missing[*]}; is this Debian 12 with its main archive?"
}

# need_npm_packages [FOLDER]: the npm packages of a folder (tests/interop), as its lock file says, only when it changed. Sets HONDANA_NODE to
# the Node they bring.
need_npm_packages() {
  local folder=$root/${1:-tests/interop} lock stamp node
  if [ ! -f "$folder/package-lock.json" ]; then
    skip 'npm packages' "$folder has no package-lock.json"
    return
  fi
  lock=$(sha256sum "$folder/package-lock.json" | cut -d ' ' -f 1)
  stamp=$folder/node_modules/.lock-sha256
  if [ "$(cat "$stamp" 2>/dev/null)" != "$lock" ]; then
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >&2) || return 1
    printf '%s\n' "$lock" >"$stamp"
  fi
  for node in "$folder"/node_modules/node-linux-*/bin/node; do
    if [ -x "$node" ]; then export HONDANA_NODE=$node; fi
  done
}
