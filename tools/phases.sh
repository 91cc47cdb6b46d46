# Phases of a job, timed; what was left out and why. Sourced by ./dev.
# shellcheck shell=bash

phase_lines=()
skip_lines=()
flaky_lines=()
beside= # the process group of the job on a bare Debian, while it runs beside the phases

# phase NAME COMMAND...: runs a command under a heading; the whole job ends where one fails.
phase() {
  local name=$1 begin=$SECONDS
  shift
  running_phase=$name
  printf '\n== %s\n' "$name" >&2
  "$@"
  running_phase=
  phase_lines+=("$(printf '%5d s  %s' $((SECONDS - begin)) "$name")")
}

# skip WHAT WHY: remembers for the summary what was left out.
skip() {
  skip_lines+=("$1: $2")
  printf 'skipped %s: %s\n' "$1" "$2" >&2
}

# Installed as the EXIT trap of jobs with several phases.
summary() {
  local status=$?
  [ -z "$beside" ] || abandon_bare
  printf '\n== summary\n' >&2
  [ "${#phase_lines[@]}" -eq 0 ] || printf '%s\n' "${phase_lines[@]}" >&2
  [ "${#skip_lines[@]}" -eq 0 ] || printf 'skipped  %s\n' "${skip_lines[@]}" | sort -u >&2
  [ "${#flaky_lines[@]}" -eq 0 ] || printf 'FLAKY    %s\n' "${flaky_lines[@]}" >&2
  # Ended by a signal, the status is that of the last command before.
  if [ "$status" -ne 0 ]; then
    printf 'FAILED   %s (exit code %d)\n' "${running_phase:-$job}" "$status" >&2
  elif [ -n "$running_phase" ]; then
    printf 'FAILED   %s (interrupted)\n' "$running_phase" >&2
  else
    printf 'ok       %s in %d s\n' "$job" "$SECONDS" >&2
  fi
}

die() {
  printf 'dev: %s\n' "$1" >&2
  exit 2
}
