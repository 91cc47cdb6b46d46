#!/usr/bin/awk -f
# From paths of changed files, one a line, to the modules whose tests see the change: those whose source or tests changed, and those
# that include a header of a module whose source or tests changed, or a public header that changed. Variables: modules, all modules
# with source, and tested, those with tests, each separated by spaces; includes, a file with lines "FILE:#include "HEADER"" of src/,
# include/ and tests/unit/.

# The longest of these modules that holds this path below src/ or tests/unit/.
function module_of(path, known) {
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

function affect(list,    count, names, i) {
  count = split(list, names, " ")
  for (i = 1; i <= count; i++) affected[names[i]] = 1
}

BEGIN {
  count = split(tested, names, " ")
  for (i = 1; i <= count; i++) with_tests[names[i]] = with_source[names[i]] = 1
  count = split(modules, names, " ")
  for (i = 1; i <= count; i++) with_source[names[i]] = 1
  while ((status = (getline line < includes)) > 0) {
    colon = index(line, ":")
    file = substr(line, 1, colon - 1)
    rest = substr(line, colon + 1)
    if (!match(rest, /["<][^">]+[">]/)) continue
    header = substr(rest, RSTART + 1, RLENGTH - 2)
    if (file ~ /^include\//) {
      if (header ~ /^hondana\//) public_users[header] = public_users[header] " " substr(file, 9)
    } else if (file ~ /^tests\/unit\//) {
      if (header !~ /^unit\//) continue
      user = module_of(substr(file, 12), with_tests)
      used = module_of(substr(header, 6), with_tests)
      if (user != "" && used != "") test_users[used] = test_users[used] " " user
    } else if ((user = module_of(substr(file, 5), with_source)) != "") {
      if (header ~ /^hondana\//) header_users[header] = header_users[header] " " user
      else if ((used = module_of(header, with_source)) != "") users[used] = users[used] " " user
    }
  }
  if (status < 0) { print "affected_modules.awk: cannot read " includes > "/dev/stderr"; exit failed = 1 }
}

/^src\// {
  module = module_of(substr($0, 5), with_source)
  affected[module] = 1
  affect(users[module])
}
/^tests\/unit\// {
  module = module_of(substr($0, 12), with_tests)
  if (module == "") affect(tested)  # what tests of any module may use
  affected[module] = 1
  affect(test_users[module])
}
/^include\/hondana\// { change_header(substr($0, 9)) }

END {
  if (failed) exit 1
  for (header in changed_headers) affect(header_users[header])
  for (module in affected)
    if (module in with_tests) print module
}
