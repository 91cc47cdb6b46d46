/// Common parts of secret matchers: spans, byte classes, placeholders and references.
#include "text/secrets/matcher.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/ascii/ascii.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t looked_at = 128;  // of a long text; enough to classify it

/// The number of different bytes, and their entropy.
struct variety {
  std::size_t different = 0;
  double entropy = 0;
};

variety variety_of(std::string_view what) noexcept {
  // n * log2(n), the summands of the entropy.
  static const auto parts = [] {
    std::array<double, looked_at + 1> out{};
    for (std::size_t n = 1; n < out.size(); ++n) out[n] = static_cast<double>(n) * std::log2(n);
    return out;
  }();
  std::array<std::uint8_t, 256> counts{};
  variety out;
  double sum = 0;
  for (const char byte : what) {
    auto& count = counts[static_cast<unsigned char>(byte)];
    out.different += count == 0 ? 1 : 0;
    sum += parts[count + 1u] - parts[count];
    ++count;
  }
  const auto size = static_cast<double>(what.size());
  if (!what.empty()) out.entropy = std::log2(size) - sum / size;
  return out;
}

/// Parts of placeholders that are too long to occur by chance.
constexpr std::array<std::string_view, 14> stand_ins{"example",    "placeholder", "redacted", "changeme",  "change_me",
                                                     "change-me",  "your_",       "your-",    "_here",     "-here",
                                                     "replace_me", "replaceme",   "xxxxxx",   "notasecret"};

/// The first bytes of these words.
constexpr auto beginnings = [] {
  std::array<bool, 256> table{};
  for (const auto word : stand_ins) table[static_cast<unsigned char>(word.front())] = true;
  return table;
}();

bool has_stand_in(std::string_view what) noexcept {
  for (std::size_t i = 0; i < what.size(); ++i) {
    if (!beginnings[static_cast<unsigned char>(ascii::lower(what[i]))]) continue;
    const auto rest = what.substr(i);
    if (std::any_of(stand_ins.begin(), stand_ins.end(), [rest](auto word) { return begins_with(rest, word); })) return true;
  }
  return false;
}

bool stands_in(std::string_view front, const variety& of) noexcept {
  if (front.empty()) return true;
  if (front.size() >= 6 && of.different <= 2) return true;
  if (front.size() >= 16 && of.different <= 5) return true;
  return has_stand_in(front);
}

}  // namespace

std::size_t known_runs::end_of(kind what, std::size_t at, std::size_t slot) noexcept {
  auto& known = known_[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint16_t>(what)))][slot];
  if (at < known.begin || at >= known.end) {
    const auto size = run_of(what, whole_.substr(std::min(at, whole_.size())));
    known = {at, at + size};
    count(size + 1);
  }
  return known.end;
}

bool begins_anew(const place& near, std::size_t at) noexcept {
  if (at == 0 || !is(kind::alnum, near[at - 1])) return true;
  const char before = near[at - 1];
  const bool is_letter_escape = at >= 2 && near[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't');
  const bool is_percent =
      at >= 3 && near[at - 3] == '%' && is(kind::hex, ascii::lower(near[at - 2])) && is(kind::hex, ascii::lower(before));
  const bool is_unicode = at >= 6 && near[at - 6] == '\\' && near[at - 5] == 'u' && near[at - 4] == '0' && near[at - 3] == '0';
  if (is_letter_escape || is_percent || is_unicode) return true;
  if (before != 'm') return false;
  auto colour = at - 1;
  while (colour > 0 && at - colour < 20 && (near[colour - 1] == ';' || (near[colour - 1] >= '0' && near[colour - 1] <= '9')))
    --colour;
  return colour >= 1 && near[colour - 1] == '[';
}

bool is_placeholder(std::string_view what) noexcept {
  const auto front = what.substr(0, looked_at);
  return stands_in(front, variety_of(front));
}

double entropy_of(std::string_view what) noexcept { return variety_of(what.substr(0, looked_at)).entropy; }

bool is_random(std::string_view what) noexcept {
  const auto front = what.substr(0, looked_at);
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  bool has_digit = false;
  bool has_letter = false;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    has_digit = has_digit || (front[i] >= '0' && front[i] <= '9');
    has_letter = has_letter || is_small(front[i]) || is_capital(front[i]);
    if (i > 0 && is_small(front[i]) != is_small(front[i - 1])) ++changes;
  }
  // A random text may consist of letters only. Then it changes case far more often than words in names do.
  const bool is_mixed = front.size() >= 20 && changes * 3 >= front.size();
  if (!has_letter || (!has_digit && !is_mixed)) return false;
  const auto of = variety_of(front);
  return of.entropy >= 3 && !stands_in(front, of);
}

namespace {

using ascii::is_letter;

bool are_all(std::string_view what, bool (*is_one)(char)) noexcept {
  return !what.empty() && std::all_of(what.begin(), what.end(), is_one);
}

/// Whether this is a word with one run of digits, such as `b64`, `sha256sum` and `OAUTH2`. Random text has several runs, or
/// both cases.
bool is_word_with_number(std::string_view word) noexcept {
  constexpr std::size_t longest = 9;
  std::array<bool, 2> has_case{};
  std::size_t runs = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (ascii::is_digit(word[i])) {
      runs += i == 0 || !ascii::is_digit(word[i - 1]) ? 1 : 0;
    } else {
      has_case[is(kind::capital, word[i]) ? 1 : 0] = true;
    }
  }
  return word.size() <= longest && runs == 1 && !(has_case[0] && has_case[1]);
}

/// Whether at most `most_numbers` words contain digits, each as in names.
bool are_words(std::string_view what, std::size_t most_numbers) noexcept {
  const auto is_part = [](char c) { return is(kind::alnum, c) || static_cast<unsigned char>(c) >= 0x80; };
  std::size_t numbers = 0;
  for (auto at = std::find_if(what.begin(), what.end(), is_part); at != what.end();) {
    const auto end = std::find_if_not(at, what.end(), is_part);
    if (std::any_of(at, end, ascii::is_digit) && (++numbers > most_numbers || !is_word_with_number(std::string_view(at, end))))
      return false;
    at = std::find_if(end, what.end(), is_part);
  }
  return true;
}

/// Whether these are such words, separated by `_`, `-` and `.`.
bool is_plain_name(std::string_view what) noexcept {
  return are_all(what, [](char c) { return is(kind::dotted, c); }) && is_name(what);
}

/// Whether this may be arguments of a call or a command: names, strings and separators.
bool are_arguments(std::string_view what) noexcept {
  return is_name(what) && std::all_of(what.begin(), what.end(), [](char c) {
           return is(kind::dotted, c) || is(kind::blank, c) || std::string_view("\"'$/,").find(c) != std::string_view::npos;
         });
}

bool is_between(std::string_view what, std::string_view front, std::string_view back) noexcept {
  return what.size() > front.size() + back.size() && what.starts_with(front) && what.ends_with(back);
}

/// `{name}`, `<a name>`, `[name]`
bool is_framed(std::string_view what) noexcept {
  constexpr std::array<std::string_view, 3> frames{"{}", "<>", "[]"};
  const bool has_frame = std::any_of(frames.begin(), frames.end(), [what](auto pair) {
    return what.size() > 2 && what.front() == pair.front() && what.back() == pair.back();
  });
  return has_frame && is_name(what.substr(1, what.size() - 2)) && are_all(what.substr(1, what.size() - 2), [](char c) {
           return is(kind::dotted, c) || is(kind::blank, c) || std::string_view("()'\",:").find(c) != std::string_view::npos;
         });
}

/// `getenv("NAME")`, `env(NAME)`, `os.environ["NAME"]`
bool is_call(std::string_view what) noexcept {
  if (what.starts_with('@')) what.remove_prefix(1);
  const auto open = what.find_first_of("([");
  if (open == std::string_view::npos || what.back() != (what[open] == '(' ? ')' : ']')) return false;
  const auto name = what.substr(0, open);
  const auto inside = what.substr(open + 1, what.size() - open - 2);
  return is_plain_name(name) && is_letter(name.front()) && (inside.empty() || !ascii::is_digit(inside.front())) &&
         are_arguments(inside);
}

/// `/run/secrets/name`, `./name`. The parts look like names: none has capitals, lower-case letters and digits at once.
bool is_path(std::string_view what) noexcept {
  constexpr std::array<std::string_view, 4> fronts{"/", "./", "../", "~/"};
  const auto front = std::find_if(fronts.begin(), fronts.end(), [what](auto one) { return what.starts_with(one); });
  if (front == fronts.end()) return false;
  for (auto rest = what.substr(front->size());;) {
    const auto part = rest.substr(0, rest.find('/'));
    std::array<bool, 3> has{};
    for (const char c : part) {
      if (!is(kind::dotted, c)) return false;
      if (is(kind::alnum, c)) has[ascii::is_digit(c) ? 0 : is(kind::capital, c) ? 1 : 2] = true;
    }
    if (has[0] && has[1] && has[2]) return false;
    if (part.size() == rest.size()) return true;
    rest.remove_prefix(part.size() + 1);
  }
}

constexpr std::size_t deepest_default = 3;  // nesting of defaults in defaults

bool is_template_in(std::string_view what, std::size_t depth) noexcept;
bool is_elsewhere(std::string_view value) noexcept;

/// Whether `${inside}` refers to a variable: a name, and the operators of shells and frameworks. A default is checked like any
/// value.
bool is_variable(std::string_view inside, std::size_t depth) noexcept {
  const auto is_of_name = [](char c) { return is(kind::alnum, c) || c == '_' || c == '.'; };
  const auto first = inside.find_first_not_of("!#");
  if (first == std::string_view::npos) return true;
  inside.remove_prefix(first);
  const auto name_end = std::find_if_not(inside.begin(), inside.end(), is_of_name);
  const auto name = inside.substr(0, static_cast<std::size_t>(name_end - inside.begin()));
  auto rest = inside.substr(name.size());
  if (rest.empty() || std::string_view(":-=+?").find(rest.front()) == std::string_view::npos) return is_name(inside);
  if (!is_name(name)) return false;
  const bool has_colon = rest.front() == ':';
  if (has_colon) rest.remove_prefix(1);
  const bool has_sign = !rest.empty() && std::string_view("-=+?").find(rest.front()) != std::string_view::npos;
  if (has_sign && rest.front() == '?') return true;
  // `${env:NAME}` and `${a-name}` are references.
  constexpr std::array<std::string_view, 10> places{"env",  "ENV", "sys",   "self",   "ssm",
                                                    "file", "var", "vault", "secret", "param"};
  const bool is_place = has_colon ? !has_sign && std::find(places.begin(), places.end(), name) != places.end() : true;
  if (is_place && is_name(rest)) return true;
  if (has_sign) rest.remove_prefix(1);
  return is_template_in(rest, depth + 1) || is_elsewhere(rest) || is_placeholder(rest) || !is_no_word(rest);
}

/// The position after the brace that closes the one at the second byte of `what`; npos if it is not closed.
std::size_t end_of_braces(std::string_view what) noexcept {
  std::size_t open = 0;
  for (std::size_t at = 1; at < what.size(); ++at) {
    if (what[at] == '{') ++open;
    if (what[at] == '}' && --open == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// `$PREFIX-$SUFFIX`, `${A}${B:-}`, `$1`: shell variables and separators.
bool are_variables(std::string_view what, std::size_t depth) noexcept {
  while (!what.empty()) {
    if (what.starts_with("${{")) {
      const auto end = end_of_braces(what);
      if (end == std::string_view::npos || !is_name(what.substr(0, end))) return false;
      what.remove_prefix(end);
    } else if (what.starts_with("${")) {
      const auto end = end_of_braces(what);
      if (end == std::string_view::npos || !is_variable(what.substr(2, end - 3), depth)) return false;
      what.remove_prefix(end);
    } else if (what.front() == '$') {
      const auto size = static_cast<std::size_t>(
          std::find_if(what.begin() + 1, what.end(), [](char c) { return !is(kind::alnum, c) && c != '_'; }) - what.begin());
      if (!is_plain_name(what.substr(1, size - 1))) return false;
      what.remove_prefix(size);
    } else if (std::string_view("-_./:").find(what.front()) != std::string_view::npos) {
      what.remove_prefix(1);
    } else {
      return false;
    }
  }
  return true;
}

bool begins_with_scheme(std::string_view what) noexcept {
  const auto end = what.find("://");
  return end != std::string_view::npos && end != 0 &&
         are_all(what.substr(0, end), [](char c) { return is_letter(c) || ascii::is_digit(c) || c == '+' || c == '-'; });
}

bool is_template_in(std::string_view what, std::size_t depth) noexcept {
  if (depth > deepest_default) return false;
  if (what.empty() || is_framed(what) || is_call(what)) return true;
  if (is_between(what, "{{", "}}") || is_between(what, "#{", "}") || is_between(what, "%(", ")s") ||
      is_between(what, "<%", "%>"))
    return is_name(what);
  // A command may have any number of words with digits. Its end may be missing, after a blank or at the end of the line.
  if (is_between(what, "$(", ")")) return are_words(what, what.find(' ') == std::string_view::npos ? 2 : what.size());
  if (what.starts_with("$(")) return are_all(what.substr(2), is_letter);
  if (what.front() == '$') return are_variables(what, depth);
  if (what.size() > 2 && what.front() == '%' && what.back() == '%') return is_plain_name(what.substr(1, what.size() - 2));
  if (what.size() == 2 && what.front() == '%') return is_letter(what.back());
  // Dots and asterisks are ellipses.
  return what == "…" || what.find_first_not_of('*') == std::string_view::npos ||
         what.find_first_not_of('.') == std::string_view::npos;
}

bool is_elsewhere(std::string_view value) noexcept {
  if (is_path(value) || begins_with_scheme(value) ||
      (is_between(value, "`", "`") && are_arguments(value.substr(1, value.size() - 2))))
    return true;
  constexpr std::array<std::string_view, 10> fronts{
      "file:", "env:", "vault:", "ref:", "arn:", "aws:", "secret:", "op://", "projects/", "ENC["};
  if (std::any_of(fronts.begin(), fronts.end(), [value](auto front) { return value.starts_with(front); })) return true;
  // YAML tags, anchors and aliases, and files to be read.
  return !value.empty() && std::string_view("!&*@").find(value.front()) != std::string_view::npos &&
         are_all(value.substr(1),
                 [](char c) { return is_letter(c) || c == '_' || c == '-' || c == '.' || c == ':' || c == '!'; });
}

}  // namespace

bool is_name(std::string_view what) noexcept { return are_words(what, 2); }

std::size_t run_of_property(std::string_view line) noexcept {
  // `a && b` and reference types of C++ and Rust are not anchors.
  constexpr std::array<std::string_view, 3> types{"&mut ", "&dyn ", "&str "};
  const bool is_type = std::any_of(types.begin(), types.end(), [line](auto front) { return line.starts_with(front); });
  const bool is_anchor =
      line.size() > 1 && line[0] == '&' && (is_letter(line[1]) || ascii::is_digit(line[1]) || line[1] == '_');
  if (!line.starts_with('!') && (!is_anchor || is_type)) return 0;
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  const auto behind = line.find_first_not_of(" \t", end);
  // `{password: !Winter22, user: x}`
  const bool ends_item = line[end - 1] == ',' && !is_plain_tag(line.substr(0, end));
  return behind == std::string_view::npos || ends_item ? 0 : behind;
}

bool is_plain_tag(std::string_view property) noexcept {
  if (!property.starts_with('!')) return false;
  return property == "!" || (property.starts_with("!<tag:") && property.ends_with('>')) ||
         are_all(property.substr(1),
                 [](char c) { return is_letter(c) || std::string_view("!<>:/.,_-").find(c) != std::string_view::npos; });
}

bool is_tagged_reference(std::string_view tag, std::string_view value) noexcept {
  // Tags of CloudFormation, Home Assistant, GitLab, and of libraries that read environment variables.
  constexpr std::array<std::string_view, 12> tags{"!Ref", "!GetAtt", "!ImportValue", "!secret",  "!env",  "!env_var",
                                                  "!ENV", "!Env",    "!reference",   "!include", "!file", "!ssm"};
  return std::find(tags.begin(), tags.end(), tag) != tags.end() && is_name(value) && are_all(value, [](char c) {
           return is(kind::dotted, c) || std::string_view(":/${}").find(c) != std::string_view::npos;
         });
}

bool is_template(std::string_view what) noexcept { return is_template_in(what, 0); }

bool is_reference(std::string_view value) noexcept {
  while (value.ends_with(',') || value.ends_with(';')) value.remove_suffix(1);
  return is_template(value) || is_elsewhere(value);
}

}  // namespace hondana::secrets
