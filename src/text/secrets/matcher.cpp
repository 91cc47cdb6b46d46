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

constexpr std::size_t max_classified_bytes = 128;  // of a long text; enough to classify it

/// The number of different bytes, and their entropy.
struct variety {
  std::size_t distinct = 0;
  double entropy = 0;
};

variety measure_variety(std::string_view text) noexcept {
  // n * log2(n), the summands of the entropy.
  static const auto summands = [] {
    std::array<double, max_classified_bytes + 1> out{};
    for (std::size_t n = 1; n < out.size(); ++n) out[n] = static_cast<double>(n) * std::log2(n);
    return out;
  }();
  std::array<std::uint8_t, 256> counts{};
  variety out;
  double sum = 0;
  for (const char byte : text) {
    auto& count = counts[static_cast<unsigned char>(byte)];
    out.distinct += count == 0 ? 1 : 0;
    sum += summands[count + 1u] - summands[count];
    ++count;
  }
  const auto size = static_cast<double>(text.size());
  if (!text.empty()) out.entropy = std::log2(size) - sum / size;
  return out;
}

/// Parts of placeholders that are too long to occur by chance.
constexpr std::array<std::string_view, 14> placeholder_words{"example",    "placeholder", "redacted", "changeme",  "change_me",
                                                             "change-me",  "your_",       "your-",    "_here",     "-here",
                                                             "replace_me", "replaceme",   "xxxxxx",   "notasecret"};

/// The first bytes of these words.
constexpr auto placeholder_first_bytes = [] {
  std::array<bool, 256> table{};
  for (const auto word : placeholder_words) table[static_cast<unsigned char>(word.front())] = true;
  return table;
}();

bool has_placeholder_word(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!placeholder_first_bytes[static_cast<unsigned char>(ascii::to_lower(text[i]))]) continue;
    const auto tail = text.substr(i);
    if (std::any_of(placeholder_words.begin(), placeholder_words.end(),
                    [tail](auto word) { return starts_with_ignore_case(tail, word); }))
      return true;
  }
  return false;
}

bool is_placeholder_text(std::string_view front, const variety& measured) noexcept {
  if (front.empty()) return true;
  if (front.size() >= 6 && measured.distinct <= 2) return true;
  if (front.size() >= 16 && measured.distinct <= 5) return true;
  return has_placeholder_word(front);
}

}  // namespace

std::size_t run_cache::end_of_run(byte_set set, std::size_t position, std::size_t slot) noexcept {
  auto& cached = cached_[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint16_t>(set)))][slot];
  if (position < cached.begin || position >= cached.end) {
    const auto size = run_length(set, text_.substr(std::min(position, text_.size())));
    cached = {position, position + size};
    count(size + 1);
  }
  return cached.end;
}

bool may_begin_token(const match_context& context, std::size_t position) noexcept {
  if (position == 0 || !is_in(byte_set::alnum, context[position - 1])) return true;
  const char previous = context[position - 1];
  const bool is_letter_escape =
      position >= 2 && context[position - 2] == '\\' && (previous == 'n' || previous == 'r' || previous == 't');
  const bool is_percent = position >= 3 && context[position - 3] == '%' &&
                          is_in(byte_set::hex, ascii::to_lower(context[position - 2])) &&
                          is_in(byte_set::hex, ascii::to_lower(previous));
  const bool is_unicode = position >= 6 && context[position - 6] == '\\' && context[position - 5] == 'u' &&
                          context[position - 4] == '0' && context[position - 3] == '0';
  if (is_letter_escape || is_percent || is_unicode) return true;
  if (previous != 'm') return false;
  auto color_begin = position - 1;
  while (color_begin > 0 && position - color_begin < 20 &&
         (context[color_begin - 1] == ';' || (context[color_begin - 1] >= '0' && context[color_begin - 1] <= '9')))
    --color_begin;
  return color_begin >= 1 && context[color_begin - 1] == '[';
}

bool is_placeholder(std::string_view text) noexcept {
  const auto front = text.substr(0, max_classified_bytes);
  return is_placeholder_text(front, measure_variety(front));
}

double entropy_of(std::string_view text) noexcept { return measure_variety(text.substr(0, max_classified_bytes)).entropy; }

bool is_random(std::string_view text) noexcept {
  const auto front = text.substr(0, max_classified_bytes);
  const auto is_lowercase = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  bool has_digit = false;
  bool has_letter = false;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    has_digit = has_digit || (front[i] >= '0' && front[i] <= '9');
    has_letter = has_letter || is_lowercase(front[i]) || is_capital(front[i]);
    if (i > 0 && is_lowercase(front[i]) != is_lowercase(front[i - 1])) ++changes;
  }
  // A random text may consist of letters only. Then it changes case far more often than words in names do.
  const bool is_mixed = front.size() >= 20 && changes * 3 >= front.size();
  if (!has_letter || (!has_digit && !is_mixed)) return false;
  const auto measured = measure_variety(front);
  return measured.entropy >= 3 && !is_placeholder_text(front, measured);
}

namespace {

using ascii::is_letter;

bool are_all(std::string_view text, bool (*matches)(char)) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), matches);
}

/// Whether this is a word with one run of digits, such as `b64`, `sha256sum` and `OAUTH2`. Random text has several runs, or
/// both cases.
bool is_word_with_number(std::string_view word) noexcept {
  constexpr std::size_t max_bytes = 9;
  std::array<bool, 2> has_case{};
  std::size_t runs = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (ascii::is_digit(word[i])) {
      runs += i == 0 || !ascii::is_digit(word[i - 1]) ? 1 : 0;
    } else {
      has_case[is_in(byte_set::capital, word[i]) ? 1 : 0] = true;
    }
  }
  return word.size() <= max_bytes && runs == 1 && !(has_case[0] && has_case[1]);
}

/// Whether at most `max_numbers` words contain digits, each as in names.
bool are_words(std::string_view text, std::size_t max_numbers) noexcept {
  const auto is_part = [](char c) { return is_in(byte_set::alnum, c) || static_cast<unsigned char>(c) >= 0x80; };
  std::size_t numbers = 0;
  for (auto word_begin = std::find_if(text.begin(), text.end(), is_part); word_begin != text.end();) {
    const auto end = std::find_if_not(word_begin, text.end(), is_part);
    if (std::any_of(word_begin, end, ascii::is_digit) &&
        (++numbers > max_numbers || !is_word_with_number(std::string_view(word_begin, end))))
      return false;
    word_begin = std::find_if(end, text.end(), is_part);
  }
  return true;
}

/// Whether these are such words, separated by `_`, `-` and `.`.
bool is_plain_name(std::string_view text) noexcept {
  return are_all(text, [](char c) { return is_in(byte_set::dotted, c); }) && is_name(text);
}

/// Whether this may be arguments of a call or a command: names, strings and separators.
bool are_arguments(std::string_view text) noexcept {
  return is_name(text) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_in(byte_set::dotted, c) || is_in(byte_set::blank, c) ||
                  std::string_view("\"'$/,").find(c) != std::string_view::npos;
         });
}

bool is_between(std::string_view text, std::string_view front, std::string_view back) noexcept {
  return text.size() > front.size() + back.size() && text.starts_with(front) && text.ends_with(back);
}

/// `{name}`, `<a name>`, `[name]`
bool is_framed(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 3> frames{"{}", "<>", "[]"};
  const bool has_frame = std::any_of(frames.begin(), frames.end(), [text](auto pair) {
    return text.size() > 2 && text.front() == pair.front() && text.back() == pair.back();
  });
  return has_frame && is_name(text.substr(1, text.size() - 2)) && are_all(text.substr(1, text.size() - 2), [](char c) {
           return is_in(byte_set::dotted, c) || is_in(byte_set::blank, c) ||
                  std::string_view("()'\",:").find(c) != std::string_view::npos;
         });
}

/// `getenv("NAME")`, `env(NAME)`, `os.environ["NAME"]`
bool is_call(std::string_view text) noexcept {
  if (text.starts_with('@')) text.remove_prefix(1);
  const auto open = text.find_first_of("([");
  if (open == std::string_view::npos || text.back() != (text[open] == '(' ? ')' : ']')) return false;
  const auto name = text.substr(0, open);
  const auto inside = text.substr(open + 1, text.size() - open - 2);
  return is_plain_name(name) && is_letter(name.front()) && (inside.empty() || !ascii::is_digit(inside.front())) &&
         are_arguments(inside);
}

/// `/run/secrets/name`, `./name`. The parts look like names: none has capitals, lower-case letters and digits at once.
bool is_path(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 4> fronts{"/", "./", "../", "~/"};
  const auto front = std::find_if(fronts.begin(), fronts.end(), [text](auto prefix) { return text.starts_with(prefix); });
  if (front == fronts.end()) return false;
  for (auto remaining = text.substr(front->size());;) {
    const auto part = remaining.substr(0, remaining.find('/'));
    std::array<bool, 3> classes{};
    for (const char c : part) {
      if (!is_in(byte_set::dotted, c)) return false;
      if (is_in(byte_set::alnum, c)) classes[ascii::is_digit(c) ? 0 : is_in(byte_set::capital, c) ? 1 : 2] = true;
    }
    if (classes[0] && classes[1] && classes[2]) return false;
    if (part.size() == remaining.size()) return true;
    remaining.remove_prefix(part.size() + 1);
  }
}

constexpr std::size_t max_default_depth = 3;  // nesting of defaults in defaults

bool is_template_in(std::string_view text, std::size_t depth) noexcept;
bool is_external_reference(std::string_view value) noexcept;

/// Whether `${inside}` refers to a variable: a name, and the operators of shells and frameworks. A default is checked like any
/// value.
bool is_variable(std::string_view inside, std::size_t depth) noexcept {
  const auto is_name_byte = [](char c) { return is_in(byte_set::alnum, c) || c == '_' || c == '.'; };
  const auto first = inside.find_first_not_of("!#");
  if (first == std::string_view::npos) return true;
  inside.remove_prefix(first);
  const auto name_end = std::find_if_not(inside.begin(), inside.end(), is_name_byte);
  const auto name = inside.substr(0, static_cast<std::size_t>(name_end - inside.begin()));
  auto remaining = inside.substr(name.size());
  if (remaining.empty() || std::string_view(":-=+?").find(remaining.front()) == std::string_view::npos) return is_name(inside);
  if (!is_name(name)) return false;
  const bool has_colon = remaining.front() == ':';
  if (has_colon) remaining.remove_prefix(1);
  const bool has_sign = !remaining.empty() && std::string_view("-=+?").find(remaining.front()) != std::string_view::npos;
  if (has_sign && remaining.front() == '?') return true;
  // `${env:NAME}` and `${a-name}` are references.
  constexpr std::array<std::string_view, 10> sources{"env",  "ENV", "sys",   "self",   "ssm",
                                                     "file", "var", "vault", "secret", "param"};
  const bool is_source = has_colon ? !has_sign && std::find(sources.begin(), sources.end(), name) != sources.end() : true;
  if (is_source && is_name(remaining)) return true;
  if (has_sign) remaining.remove_prefix(1);
  return is_template_in(remaining, depth + 1) || is_external_reference(remaining) || is_placeholder(remaining) ||
         !is_non_word(remaining);
}

/// The position after the brace that closes the one at the second byte of `text`; npos if it is not closed.
std::size_t end_of_braces(std::string_view text) noexcept {
  std::size_t open = 0;
  for (std::size_t position = 1; position < text.size(); ++position) {
    if (text[position] == '{') ++open;
    if (text[position] == '}' && --open == 0) return position + 1;
  }
  return std::string_view::npos;
}

/// `$PREFIX-$SUFFIX`, `${A}${B:-}`, `$1`: shell variables and separators.
bool are_variables(std::string_view text, std::size_t depth) noexcept {
  while (!text.empty()) {
    if (text.starts_with("${{")) {
      const auto end = end_of_braces(text);
      if (end == std::string_view::npos || !is_name(text.substr(0, end))) return false;
      text.remove_prefix(end);
    } else if (text.starts_with("${")) {
      const auto end = end_of_braces(text);
      if (end == std::string_view::npos || !is_variable(text.substr(2, end - 3), depth)) return false;
      text.remove_prefix(end);
    } else if (text.front() == '$') {
      const auto size = static_cast<std::size_t>(
          std::find_if(text.begin() + 1, text.end(), [](char c) { return !is_in(byte_set::alnum, c) && c != '_'; }) -
          text.begin());
      if (!is_plain_name(text.substr(1, size - 1))) return false;
      text.remove_prefix(size);
    } else if (std::string_view("-_./:").find(text.front()) != std::string_view::npos) {
      text.remove_prefix(1);
    } else {
      return false;
    }
  }
  return true;
}

bool begins_with_scheme(std::string_view text) noexcept {
  const auto end = text.find("://");
  return end != std::string_view::npos && end != 0 &&
         are_all(text.substr(0, end), [](char c) { return is_letter(c) || ascii::is_digit(c) || c == '+' || c == '-'; });
}

bool is_template_in(std::string_view text, std::size_t depth) noexcept {
  if (depth > max_default_depth) return false;
  if (text.empty() || is_framed(text) || is_call(text)) return true;
  if (is_between(text, "{{", "}}") || is_between(text, "#{", "}") || is_between(text, "%(", ")s") ||
      is_between(text, "<%", "%>"))
    return is_name(text);
  // A command may have any number of words with digits. Its end may be missing, after a blank or at the end of the line.
  if (is_between(text, "$(", ")")) return are_words(text, text.find(' ') == std::string_view::npos ? 2 : text.size());
  if (text.starts_with("$(")) return are_all(text.substr(2), is_letter);
  if (text.front() == '$') return are_variables(text, depth);
  if (text.size() > 2 && text.front() == '%' && text.back() == '%') return is_plain_name(text.substr(1, text.size() - 2));
  if (text.size() == 2 && text.front() == '%') return is_letter(text.back());
  // Dots and asterisks are ellipses.
  return text == "…" || text.find_first_not_of('*') == std::string_view::npos ||
         text.find_first_not_of('.') == std::string_view::npos;
}

bool is_external_reference(std::string_view value) noexcept {
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

bool is_name(std::string_view text) noexcept { return are_words(text, 2); }

std::size_t property_length(std::string_view line) noexcept {
  // `a && b` and reference types of C++ and Rust are not anchors.
  constexpr std::array<std::string_view, 3> types{"&mut ", "&dyn ", "&str "};
  const bool is_type = std::any_of(types.begin(), types.end(), [line](auto front) { return line.starts_with(front); });
  const bool is_anchor =
      line.size() > 1 && line[0] == '&' && (is_letter(line[1]) || ascii::is_digit(line[1]) || line[1] == '_');
  if (!line.starts_with('!') && (!is_anchor || is_type)) return 0;
  const auto end = std::min(line.find_first_of(" \t"), line.size());
  const auto next = line.find_first_not_of(" \t", end);
  // `{password: !Winter22, user: x}`
  const bool ends_item = line[end - 1] == ',' && !is_plain_tag(line.substr(0, end));
  return next == std::string_view::npos || ends_item ? 0 : next;
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
           return is_in(byte_set::dotted, c) || std::string_view(":/${}").find(c) != std::string_view::npos;
         });
}

bool is_template(std::string_view text) noexcept { return is_template_in(text, 0); }

bool is_reference(std::string_view value) noexcept {
  while (value.ends_with(',') || value.ends_with(';')) value.remove_suffix(1);
  return is_template(value) || is_external_reference(value);
}

}  // namespace hondana::secrets
