#!/usr/bin/awk -f
# Finds house dialect in texts and names and prints FILE:LINE: PATTERN: SENTENCE, one a line. Markdown (*.md) is read as prose: code blocks and comments
# are skipped, code in back quotes counts as one word, a table cell is a sentence. Of C++ (*.hpp, *.cpp) the comments are read, and
# with -v messages=1 the string literals instead, and with -v names_only=1 the names of declarations. Of other input each line is a sentence. Options: -v most_words=30, the longest
# sentence; -v count=1 prints how often each pattern was found; -v exceptions=FILE names a file of lines "PATH: PATTERN" or "PATH: PATTERN: SENTENCE"
# that are not reported (paths as in the arguments; "long" is the pattern of long sentences).

BEGIN {
  # Messages are cut into pieces by expressions, and among them are SQL and lists.
  if (most_words == "") most_words = messages ? 0 : 30
  while (exceptions != "" && (getline exception < exceptions) > 0)
    if (exception !~ /^(#|$)/) excepted[exception] = 1
  # Pattern, as an extended regular expression over lower-case text that begins and ends with a space.
  rule("is no ", " (is|are|was|were) no ")
  rule("who asks", " who(ever)? (asks?|is asked|may ask|asked)")
  rule("whoever", " (whoever|whomever|whatever|whichever) ")
  rule("nobody", " (nobody|nobody's) ")
  rule("what is read", " what (is|was|are|has|stands|comes) ([a-z-]+ )?(is|are|was|were|has|have|may|must|stays|goes|counts|of|to|by|there|from|not) ")
  rule("what there is", " (what there is|all there is|that there is)")
  rule("of what", " (of|by|from|with|for|in) what (is|was|has|are|the|it|a) ")
  rule("is asked", " (is|are|was) asked (for|by|with|of)? ?")
  rule("is told", " (is|are|was|were) told ")
  rule("hears of", " (hear|hears|heard) (of|about|that) ")
  rule("is kept", " (is|are|was|were) kept ")
  rule("good for nothing", " good for nothing")
  rule("by hand of", " (by the hand|in hand|at hand) ")
  rule("let alone", " (let alone|besides that|for want of|in so many words|says nothing of|more than that it) ")
  rule("without more", " (without more|with no more|and no more)[ ,.]")
  rule("looked at anew", " (anew|afresh) ")
  rule("stands beside", " (stand|stands|stood) (beside|behind|in|there|for itself) ")
  rule("counts for nothing", " (counts? for nothing|count as long|does not count for) ")
  rule("holds of", " (holds?|hold true) of ")
  rule("that which", " (that which|those which|such as are) ")
  rule("as is", " (as it is there|as are those|but for|all but) ")
  rule("figures", " figures ")
  rule("ground", " (shelf's|scene|scenes|grounds|veil|veils|lookout|owed|outlet|lane|lanes|press|presses) ")
}

# Words that say nothing as the whole name of a declaration, and words of the dialect in any name.
function is_unclear(name) {
  sub(/_$/, "", name)
  gsub(/most_(common|recent|frequent|similar|specific)|longest_(prefix|run|match)/, "", name)
  return name ~ /^(one|what|of|from|by|to|how|with|found|who|whom|whose|why|which|where|there|such|most|least|told|asked|wanted|took|got|gone|given|made|is)$/ ||
    ("_" name "_") ~ /_(most|least|longest|deepest|largest|told|hears?|heard|hearers?|owed|outlets?|scenes?|shelf|shelves|ground|veil|lookout|lane|beneath|anew|afresh|trouble|obstacles?|refusals?|kept)_/
}

# The names that a line of C++ declares: words behind a type and before what may follow a name. Without strings and comments.
function judge_names(line, text,    before, name) {
  gsub(/"([^"\\]|\\.)*"/, "\"\"", text)
  sub(/\/\/.*/, "", text)
  gsub(/'([^'\\]|\\.)*'/, "0", text)
  while (match(text, /[A-Za-z0-9_>&*] +[a-z][a-z0-9_]* *([,;)=:{([]|$)/)) {
    before = substr(text, 1, RSTART)
    name = substr(text, RSTART + 1, RLENGTH - 1)
    gsub(/[^a-z0-9_]/, "", name)
    text = substr(text, RSTART + 1)
    sub(/^ +[a-z][a-z0-9_]*/, "", text)
    if (before ~ /(^|[^A-Za-z0-9_])(return|case|else|throw|delete|new|and|or|not|operator|using|co_return|typename)$/) continue
    if (is_unclear(name)) report(line, "name " name, name)
  }
}

function rule(name, pattern) { names[++rules] = name; patterns[rules] = pattern }

function report(line, name, text) {
  if ((FILENAME ": " name) in excepted || (FILENAME ": " name ": " text) in excepted) return
  counts[name]++
  if (!count) printf "%s:%d: %s: %s\n", FILENAME, line, name, text
}

# One sentence, which began at a line.
function judge(line, sentence,    text, words, parts, i) {
  gsub(/^[ \t]+|[ \t]+$/, "", sentence)
  if (sentence == "") return
  text = tolower(sentence)
  gsub(/[^a-z0-9'’?,.;-]+/, " ", text)
  gsub(/[,.;?]/, " & ", text)
  gsub(/ +/, " ", text)
  text = " " text " "
  gsub(/ there (is|are|was|were) no /, " there-is-none ", text)
  gsub(/ no longer /, " no-longer ", text)
  for (i = 1; i <= rules; i++) if (text ~ patterns[i]) report(line, names[i], sentence)
  gsub(/[,.;?]/, " ", text)
  words = split(text, parts, " ")
  if (most_words > 0 && words > most_words) report(line, "long", words " words: " sentence)
}

# A run of prose: cut into sentences.
function flush(    text, cut, piece) {
  text = prose
  prose = ""
  while (match(text, /[.!?]["')*_]*( +|$)/)) {
    cut = RSTART + RLENGTH
    piece = substr(text, 1, cut - 1)
    text = substr(text, cut)
    # No end of a sentence: "e.g. ", "1. ", "…. "
    if (piece ~ /(^|[ (])(e\.g|i\.e|etc|cf|vs|[0-9]+|[A-Z])\. *$/ && text != "") { held = held piece; continue }
    judge(prose_line, held piece)
    held = ""
  }
  judge(prose_line, held text)
  held = ""
}

function add(line, text) {
  if (prose == "") prose_line = line
  prose = prose == "" ? text : prose " " text
}

function plain(text) {
  gsub(/``[^`]*``/, "CODE", text)
  gsub(/`[^`]*`/, "CODE", text)
  gsub(/!?\[[^]]*\]\([^)]*\)/, "LINK", text)
  gsub(/<[^>]*>/, "", text)
  gsub(/\*\*|__/, "", text)
  return text
}

FNR == 1 {
  if (NR > 1) flush()
  fenced = commented = 0
  is_markdown = FILENAME ~ /\.md$/
  is_source = FILENAME ~ /\.[ch]pp$/
}

!is_markdown && !is_source { judge(FNR, $0); next }

is_markdown {
  if (commented) { if (/-->/) commented = 0; next }
  if (/^ *```/) { flush(); fenced = !fenced; next }
  if (fenced) next
  if (/^<!--/) { flush(); if ($0 !~ /-->/) commented = 1; next }
  if (/^ *$/ || /^#/) { flush(); if (/^#/) judge(FNR, plain($0)); next }
  if (/^ *\|/) {
    flush()
    if ($0 ~ /^ *\|[-:| ]+$/) next
    row = plain($0)
    n = split(row, cells, "|")
    for (c = 2; c < n; c++) { prose = cells[c]; prose_line = FNR; flush() }
    next
  }
  if (/^ *([-*]|[0-9]+\.) /) { flush(); sub(/^ *([-*]|[0-9]+\.) /, "") }
  add(FNR, plain($0))
  next
}

is_source && names_only {
  if ($0 !~ /^[ \t]*(\/\/|#)/) judge_names(FNR, $0)
  next
}

messages {
  line = $0
  sub(/^[ \t]*\/\/.*/, "", line)
  if (line !~ /^#include/)
    while (match(line, /"([^"\\]|\\.)*"/)) {
      add(FNR, substr(line, RSTART + 1, RLENGTH - 2))
      line = substr(line, RSTART + RLENGTH)
      open_string = line ~ /^ *$/
    }
  if (!open_string) flush()
  open_string = 0
  next
}

{
  if (match($0, /(^|[^:"])\/\/+!?<? ?/)) {
    before = substr($0, 1, RSTART)
    text = substr($0, RSTART + RLENGTH)
    if (before !~ /^[ \t\/]*$/) { flush(); judge(FNR, plain(text)); next }
    add(FNR, plain(text))
  } else flush()
}

END {
  flush()
  if (count) for (name in counts) printf "%6d  %s\n", counts[name], name | "sort -rn"
}
