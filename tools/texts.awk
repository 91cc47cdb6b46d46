#!/usr/bin/awk -f
# Prints the texts of C++ sources that people or models can read: FILE:LINE: TEXT, one a line. These are the string literals of three words
# or more, those that follow one another joined. Literals of one statement are separated by " … " where an expression stands between them.

function flush() {
  words = split(text, ignored, /[ …]+/)
  if (words >= 3 && text ~ /[a-z][a-z]/) printf "%s:%d: %s\n", file, from, text
  text = ""
}

FNR == 1 { flush(); file = FILENAME }

/^[ \t]*\/\// || /^#/ { next }

{
  line = $0
  joined = 1
  while (match(line, /"([^"\\]|\\.)*"/)) {
    between = substr(line, 1, RSTART - 1)
    piece = substr(line, RSTART + 1, RLENGTH - 2)
    line = substr(line, RSTART + RLENGTH)
    if (text == "") { from = FNR; text = piece }
    else if (between ~ /^[ \t]*$/) text = text piece
    else text = text " … " piece
    if (between ~ /\/\/ /) break
  }
  # The end of a statement or of an entry of a table.
  if (line ~ /[;{}]/ || $0 ~ /[;{}][ \t]*$/) flush()
  else if (line !~ /^[ \t]*$/ && text != "" && line ~ /,[ \t]*$/) flush()
}

END { flush() }
