#!/usr/bin/env bash
# Every configuration key that the program knows stands in the pages about its table, every key that these pages list exists, and
# every new name of a renamed key is listed.
set -euo pipefail
program=$1 docs=$2 renamed_keys=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/shelf"
failed=0
declare -A exists

# Prints the keys of the last table of a configuration, which the program tells where one is unknown.
keys_of() {
  printf '%s\nno_such_key = 1\n' "$1" >"$folder/c.toml"
  local said
  said=$("$program" check --config "$folder/c.toml" 2>&1 >/dev/null || true)
  case $said in
    *"no_such_key: unknown key; known here: "*) printf '%s\n' "${said##*known here: }" | tr -d ' ' | tr ',' '\n' ;;
    *) printf 'the program does not name the keys of this table:\n%s\n%s\n' "$1" "$said" >&2 && return 1 ;;
  esac
}

# Each key stands in one of the pages: in a table as `key`, in an example as `key = …`, perhaps behind a #, or as a table [x.key].
expect_all() {
  local table=$1 keys key
  shift
  keys=$(keys_of "$table")
  for key in $keys; do
    exists[$key]=1
    grep -qE "(\`$key\`|^(# )?$key = |(\[|\.)$key\])" "$@" && continue
    printf '%s of the table\n%s\nis not in %s\n' "$key" "$table" "$*" >&2
    failed=1
  done
}

# Prints the keys in the columns "Key" of the tables of a page.
listed_keys() {
  awk -F ' *[|] *' '
    !/^[|]/ { column = 0; next }
    !column { for (i = 2; i < NF; ++i) if ($i ~ /^Key( |$)/) column = i; if (!column) column = -1; next }
    column > 0 { rest = $column; while (match(rest, /`[a-z][a-z0-9_]*`/)) {
                   print substr(rest, RSTART + 1, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH) } }' "$1"
}

oauth=$'[auth.oauth]\nissuer = "https://a"\nresource = "https://b"'
embeddings=$'[search.embeddings]\nurl = "http://localhost/v1"\nmodel = "m"'
for table in '' '[http]' '[http.tls]' '[stdio]' '[auth]' "$oauth" "$oauth"$'\n[auth.oauth.introspection]' '[auth.certificates]' \
  '[[auth.certificates.allow]]' '[auth.unix]' '[[auth.rule]]' '[sandbox]' '[limits]' '[limits.address]' '[limits.identity]' '[audit]' \
  '[tracing]' '[search]' "$embeddings" '[access]' '[[access.rule]]' '[[link]]'; do
  expect_all "$table" "$docs/configuration.md"
done
expect_all '[search]' "$docs/search.md"
expect_all "$embeddings" "$docs/search.md"
expect_all '[http]' "$docs/configuration.md" "$docs/http.md"
expect_all '[audit]' "$docs/audit.md"
expect_all '[tracing]' "$docs/observability.md"
expect_all '[sandbox]' "$docs/sandbox.md"
expect_all '[limits.address]' "$docs/limits.md"

# The keys that all sources have stand in configuration.md.
expect_source() {
  expect_all $'[[source]]\ntype = '"\"$1\""$'\n'"$3" "$docs/$2" "$docs/configuration.md"
}
expect_source files files.md 'path = "shelf"'
expect_source files files.md $'path = "shelf"\n[[source.rule]]\npattern = "a"'
expect_source skills skills.md 'path = "shelf"'
expect_source git git.md 'path = "shelf"'
expect_source config configuration-files.md 'path = "shelf"'
expect_source config configuration-files.md $'[[source.layer]]\nname = "a"'
expect_source env environment.md 'allow = ["A"]'
expect_source docs documents.md 'path = "shelf"'
expect_source gdrive gdrive.md 'store = ":memory:"'
expect_source log logs.md 'path = "shelf/a.log"'
expect_source log logs.md 'journal = true'
expect_source metrics metrics.md 'store = ":memory:"'
expect_source metrics metrics.md 'prometheus = "http://localhost"'
expect_source metrics metrics.md $'store = ":memory:"\n[[source.scrape]]\nurl = "http://localhost"\njob = "a"'
expect_source analyses analyses.md 'store = ":memory:"'
expect_source analyses analyses.md 'redis_url = "redis://localhost:6379/0"'
expect_source analyses analyses.md $'store = ":memory:"\n[source.basic]'
expect_source mcp mounting.md $'name = "a"\nurl = "http://localhost/mcp"'

# What documents.md lists besides: keys of front matter and of rules.
for key in description lang match charset; do exists[$key]=1; done
for page in configuration files skills git configuration-files environment documents gdrive logs metrics analyses mounting search audit \
  observability sandbox limits http authorization authorization-setup; do
  for key in $(listed_keys "$docs/$page.md"); do
    [ -n "${exists[$key]:-}" ] && continue
    printf '%s.md lists the key %s, which no table has\n' "$page" "$key" >&2
    failed=1
  done
done

# The rows of renamed_keys.cpp: {"table", "old name", "new name"}
tr -d '`"' <"$docs/api-renames.md" >"$folder/renames"
while read -r old new; do
  grep -qE "(^|[ ,|])$old → $new([ ,|]|$)" "$folder/renames" && continue
  printf 'api-renames.md does not say that %s is now called %s\n' "$old" "$new" >&2
  failed=1
done < <(sed -nE 's/^ *\{"[^"]*", "([^"]+)", "([^"]+)"\},$/\1 \2/p' "$renamed_keys")
exit $failed
