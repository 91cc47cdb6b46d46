#!/usr/bin/env bash
# Checks that everything a program is linked to, or loads later, stands in the table of licences, and that Debian's copyright
# files agree. Usage: check_licences.sh PROGRAM TABLE [LOADED...]; prints one line a fault, exits 1 if there is any.
# LOADED are names of libraries, such as libcurl.so.4.
set -euo pipefail
program=$1
table=$2
loaded=("${@:3}")
faults=0

fault() {
  printf '%s\n' "$1"
  faults=$((faults + 1))
}

trim() {
  local text=$1
  text=${text#"${text%%[![:space:]]*}"}
  printf '%s' "${text%"${text##*[![:space:]]}"}"
}

declare -A package_of licence_of words_of
while IFS='|' read -r library package licence words; do
  [[ $library =~ ^[[:space:]]*(#|$) ]] && continue
  library=$(trim "$library")
  [ "$library" != header ] || library="the headers of $(trim "$package")"
  package_of[$library]=$(trim "$package")
  licence_of[$library]=$(trim "$licence")
  words_of[$library]=$(trim "$words")
  if [[ ${licence_of[$library]} =~ (^|[^L])A?GPL- && ${licence_of[$library]} != *' WITH '* ]]; then
    fault "$table: $library is under ${licence_of[$library]}"
  fi
done <"$table"

# Which package brings which library: asking dpkg for each takes a hundred times as long.
declare -A owner_of
while read -r file package; do owner_of[$file]=$package; done < <(
  awk 'FNR == 1 { n = split(FILENAME, parts, "/"); package = parts[n]; sub(/(:[a-z0-9]+)?\.list$/, "", package) }
       /\.so(\.[^\/]*)?$/ { print $0, package }' /var/lib/dpkg/info/*.list
)

# The package that owns a file, whichever spelling of a merged /usr the package uses.
owner() {
  local real spelled
  real=$(readlink -f "$1")
  for spelled in "$1" "$real" "${real#/usr}" "/usr$real"; do
    if [ -n "${owner_of[$spelled]:-}" ]; then
      printf '%s\n' "${owner_of[$spelled]}"
      return
    fi
  done
  return 1
}

check_words() { # LIBRARY PACKAGE
  local copyright=/usr/share/doc/$2/copyright
  if [ ! -r "$copyright" ]; then
    fault "$copyright cannot be read"
  elif ! grep -qF -- "${words_of[$1]}" <(tr -s '[:space:]' ' ' <"$copyright"); then
    fault "$copyright does not say \"${words_of[$1]}\""
  fi
}

for library in "${!package_of[@]}"; do
  [[ $library != 'the headers of '* ]] || check_words "$library" "${package_of[$library]}"
done

# Name and file of everything that comes with a program or library.
libraries_of() {
  ldd "$1" | awk '$2 == "=>" { print $1, $3 } $1 ~ /^\// { n = split($1, parts, "/"); print parts[n], $1 }'
}
everything() {
  libraries_of "$program"
  local one file
  for one in "${loaded[@]}"; do
    file=$(/sbin/ldconfig -p | awk -v name="$one" '$1 == name && !found++ { print $NF }')
    # As one of no package, which is a fault.
    printf '%s %s\n' "$one" "${file:-/nonexistent}"
    [ -z "$file" ] || libraries_of "$file"
  done
}

count=0
while read -r library file; do
  count=$((count + 1))
  if [ -z "${package_of[$library]:-}" ]; then
    fault "$program is linked to $library ($(owner "$file" || echo 'of no package')), which $table does not list"
    continue
  fi
  package=$(owner "$file") || { fault "$library ($file) belongs to no package"; continue; }
  [ "$package" = "${package_of[$library]}" ] || fault "$library belongs to $package, not to ${package_of[$library]}"
  check_words "$library" "$package"
done < <(everything | sort -u)

[ "$count" -gt 0 ] || fault "$program is linked to nothing that ldd can see"
[ "$faults" -eq 0 ] && echo "$count libraries, all listed"
exit $((faults > 0))
