/// Reads what an exposition says of families.
#include <algorithm>

#include "sources/metrics/exposition/lines.hpp"

namespace hondana::exposition {
namespace {

constexpr std::string_view blanks = " \t";

void drop_blanks(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size())); }

std::string_view take_until_blank(std::string_view& text) {
  const auto word = text.substr(0, std::min(text.find_first_of(blanks), text.size()));
  text.remove_prefix(word.size());
  return word;
}

comment keyword(std::string_view word, bool has_units) {
  if (word == "HELP") return comment::help;
  if (word == "TYPE") return comment::type;
  if (has_units && word == "UNIT") return comment::unit;
  return comment::none;
}

result<comment_line> read_strictly(std::string_view line) {
  comment_line out;
  if (line == "# EOF") {
    out.what = comment::end;
    return out;
  }
  if (line.starts_with("# ")) out.what = keyword(line.substr(2, 4), true);
  if (out.what == comment::none || line.size() < 7 || line[6] != ' ')
    return fail(errc::invalid_argument, "unknown comment; OpenMetrics allows only # HELP, # TYPE, # UNIT and # EOF");
  line.remove_prefix(7);
  out.name = take_until_blank(line);
  if (!series::is_metric_name(out.name) || !line.starts_with(' '))
    return fail(errc::invalid_argument, "expected a metric family's name and one space after # HELP, # TYPE or # UNIT");
  out.text = line.substr(1);
  return out;
}

}  // namespace

result<comment_line> read_comment(std::string_view line, parser::format which) {
  if (which == parser::format::open_metrics) return read_strictly(line);
  comment_line out;
  drop_blanks(line);
  line.remove_prefix(1);
  if (line.empty() || blanks.find(line[0]) == std::string_view::npos) return out;
  drop_blanks(line);
  out.what = keyword(take_until_blank(line), false);
  drop_blanks(line);
  out.name = take_until_blank(line);
  // Somebody's sentence that begins with such a word.
  if (!series::is_metric_name(out.name)) return comment_line{};
  drop_blanks(line);
  if (out.what == comment::type) line = take_until_blank(line);
  out.text = line;
  return out;
}

std::string unescaped(std::string_view text, bool has_quotes) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    const bool is_escape = text[at] == '\\' && (next == '\\' || next == 'n' || (has_quotes && next == '"'));
    if (!is_escape) {
      out += text[at];
      continue;
    }
    out += next == 'n' ? '\n' : next;
    ++at;
  }
  return out;
}

}  // namespace hondana::exposition
