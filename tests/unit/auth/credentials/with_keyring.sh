#!/bin/sh
# Runs a program of tests with a session bus, a home and an unlocked keyring of their own: with_keyring.sh PROGRAM ARGUMENTS...
set -eu
for one in dbus-run-session gnome-keyring-daemon; do
  if ! command -v "$one" > /dev/null; then
    echo "there is no $one"
    exit 77
  fi
done
# GLib's own locks look like races to it.
if [ -n "${TSAN_OPTIONS:-}" ]; then
  echo "ThreadSanitizer does not know GLib"
  exit 77
fi
if ! dbus-run-session -- true; then
  echo "no session bus can be started here"
  exit 77
fi
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME="$home" XDG_RUNTIME_DIR="$home" XDG_DATA_HOME="$home/data" HONDANA_TEST_KEYRING=1
# The daemon ends with its bus.
# shellcheck disable=SC2016
dbus-run-session -- sh -c '
  printf "password" | gnome-keyring-daemon --unlock --components=secrets > /dev/null || { echo "no keyring can be started here"; exit 77; }
  exec "$@"' sh "$@"
