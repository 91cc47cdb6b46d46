#!/usr/bin/awk -f
# From paths of changed files, one a line, to the modules whose tests see the change: those whose source or tests changed, and those
# that include a header of a module whose source changed, or a public header that changed. Variables: modules, the modules separated
# by spaces; includes, a file with lines "FILE:#include "HEADER"" of src/ and include/.

# The longest module that holds this path below src/ or tests/unit/.
function module_of(path) {
  while (sub(/\/[^\/]*$/, "", path))
    if (path in known) return path
  return ""
}

# Adds a changed public header, and the public headers that include it.
function change_header(header,    count, list, i) {
  if (header in changed_headers) return
  changed_headers[header] = 1
  count = split(public_users[header], list, " ")
  for (i = 1; i <= count; i++) change_header(list[i])
}

BEGIN {
  count = split(modules, names, " ")
  for (i = 1; i <= count; i++) known[names[i]] = 1
  while ((status = (getline line < includes)) > 0) {
    colon = index(line, ":")
    file = substr(line, 1, colon - 1)
    rest = substr(line, colon + 1)
    if (!match(rest, /["<][^">]+[">]/)) continue
    header = substr(rest, RSTART + 1, RLENGTH - 2)
    if (file ~ /^include\//) {
      if (header ~ /^hondana\//) public_users[header] = public_users[header] " " substr(file, 9)
      continue
    }
    user = module_of(substr(file, 5))
    if (user == "") continue
    if (header ~ /^hondana\//) header_users[header] = header_users[header] " " user
    else if ((used = module_of(header)) != "" && used != user) users[used] = users[used] " " user
  }
  if (status < 0) { print "affected_modules.awk: cannot read " includes > "/dev/stderr"; exit failed = 1 }
}

/^src\// && (module = module_of(substr($0, 5))) != "" { changed[module] = 1 }
/^tests\/unit\// && (module = module_of(substr($0, 12))) != "" { affected[module] = 1 }
/^include\/hondana\// { change_header(substr($0, 9)) }

END {
  if (failed) exit 1
  for (module in changed) {
    affected[module] = 1
    count = split(users[module], list, " ")
    for (i = 1; i <= count; i++) affected[list[i]] = 1
  }
  for (header in changed_headers) {
    count = split(header_users[header], list, " ")
    for (i = 1; i <= count; i++) affected[list[i]] = 1
  }
  for (module in affected) print module
}
