#!/usr/bin/awk -f
# From paths of changed files, one a line, to the modules whose tests see the change: those whose source or tests changed, and those
# that include a module or public header whose source changed. Variables: table, the include table; includes, a file with lines
# "FILE:#include <hondana/HEADER>".

# The longest row of the include table that holds this path below src/ or tests/unit/.
function module_of(path,    part) {
  part = path
  while (sub(/\/[^\/]*$/, "", part)) {
    if (part in named) return part
    if (part ~ /^providers\/[^\/]+$/) return part
    if (part == "cli") return part
  }
  return ""
}

BEGIN {
  while ((getline line < table) > 0) {
    if (line ~ /^(#|file )/ || line !~ /:/) continue
    colon = index(line, ":")
    name = substr(line, 1, colon - 1)
    if (name == "providers/*") continue
    named[name] = substr(line, colon + 1) " "
    # Parts of a module are tested with it: wire/legacy is wire.
  }
  while ((getline line < includes) > 0) {
    colon = index(line, ":")
    file = substr(line, 1, colon - 1)
    match(line, /hondana\/[a-z_]+\.hpp/)
    header = substr(line, RSTART, RLENGTH)
    users[header] = users[header] " " file
  }
}

/^src\// {
  module = module_of(substr($0, 5))
  if (module != "") { changed[module] = 1; out[module] = 1 }
}
/^tests\/unit\// {
  module = module_of(substr($0, 12))
  if (module != "") out[module] = 1
}
/^include\// {
  count = split(users[substr($0, 9)], files, " ")
  for (i = 1; i <= count; i++) {
    if (files[i] !~ /^src\//) continue
    module = module_of(substr(files[i], 5))
    if (module != "") out[module] = 1
  }
}

END {
  for (name in named)
    for (module in changed)
      if (index(named[name], " " module " ")) out[name] = 1
  for (module in out) {
    sub(/^wire\/.*/, "wire", module)
    if (!(module in printed)) { printed[module] = 1; print module }
  }
}
