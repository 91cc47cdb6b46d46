/// Masks secrets in configuration values, and in texts that cannot be parsed.
#include "sources/config_files/masked_values.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json/utf8.hpp"
#include "text/located/format_reader.hpp"
#include "text/located/masking.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::config_files {
namespace {

std::size_t weight_of(const located::node& of) {
  std::size_t bytes = sizeof(located::node) + of.text.capacity();
  for (const auto& one : of.items) bytes += weight_of(one);
  for (const auto& one : of.members) bytes += sizeof(located::member) + one.key.capacity() + weight_of(one.value);
  return bytes;
}

/// Writes asterisks over a span. Returns whether it contained anything else.
bool blot(std::string& text, const secrets::span& at) {
  bool is_new = false;
  for (auto i = at.begin; i < std::min(at.end, text.size()); ++i) {
    if (text[i] == '*' || text[i] == '\n' || text[i] == '\r') continue;
    text[i] = '*';
    is_new = true;
  }
  return is_new;
}

/// A text with escapes resolved and with each double quote as a line end, and the original offset of each byte. So secrets are
/// found in strings of texts that cannot be parsed, such as a multi-line private key in one JSON string.
struct unescaped {
  std::string bytes;
  std::vector<std::uint32_t> places;

  explicit unescaped(std::string_view text) {
    bytes.reserve(text.size());
    places.reserve(text.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_escape = text[i] == '\\' && i + 1 < text.size();
      places.push_back(static_cast<std::uint32_t>(i));
      bytes += is_escape ? meant_by(text[i + 1]) : text[i] == '"' ? '\n' : text[i];
      if (is_escape) ++i;
    }
    places.push_back(static_cast<std::uint32_t>(text.size()));
  }

 private:
  static char meant_by(char letter) noexcept {
    switch (letter) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      default:
        return letter;
    }
  }
};

/// The spans of secrets that are recognizable only after escapes are resolved.
std::vector<secrets::span> escaped_secrets(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return {};
  const unescaped plain(text);
  std::vector<secrets::span> found;
  secrets::find(plain.bytes, secrets::policy::settings, found);
  std::vector<secrets::span> all;
  all.reserve(found.size());
  for (const auto& one : found) all.push_back({plain.places[one.begin], plain.places[one.end]});
  return all;
}

bool is_scalar(const located::node& of) noexcept { return of.is != located::kind::list && of.is != located::kind::table; }

std::string_view written(const located::node& of) noexcept {
  if (of.is == located::kind::boolean) return of.truth ? "true" : "false";
  return of.is == located::kind::null ? "null" : std::string_view(of.text);
}

}  // namespace

shared_values values_of(located::document raw, located::document shown) {
  auto made = std::make_shared<values>();
  made->raw = std::move(raw);
  made->shown = std::move(shown);
  made->bytes = weight_of(made->raw.root) + weight_of(made->shown.root);
  return made;
}

shared_values values_of(located::document raw, std::string_view text, bool masks) {
  auto made = std::make_shared<values>();
  made->shown = raw;
  made->raw = std::move(raw);
  if (masks) located::mask_secrets(made->shown, text, made->in_text);
  made->bytes = weight_of(made->raw.root) + weight_of(made->shown.root);
  return made;
}

std::size_t mask_text(std::string& text, const values* known) {
  const auto escaped = escaped_secrets(text);
  auto count = secrets::redactor(secrets::policy::settings, text).mask(text);
  for (const auto& one : escaped) count += blot(text, one) ? 1 : 0;
  for (std::size_t i = 0; known != nullptr && i < known->in_text.size(); ++i) count += blot(text, known->in_text[i]) ? 1 : 0;
  return count;
}

bool says_the_same(const located::node& a, const located::node& b, bool as_texts) {
  if (as_texts && is_scalar(a) && is_scalar(b)) return written(a) == written(b);
  if (a.is != b.is || a.truth != b.truth || a.text != b.text || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!says_the_same(a.items[i], b.items[i], as_texts)) return false;
  }
  if (a.members.empty()) return true;
  std::unordered_map<std::string_view, const located::node*> others;
  for (const auto& one : b.members) others.emplace(one.key, &one.value);
  return std::all_of(a.members.begin(), a.members.end(), [&](const located::member& one) {
    const auto other = others.find(one.key);
    return other != others.end() && says_the_same(one.value, *other->second, as_texts);
  });
}

namespace {

using located::format;
using located::is_blank;
using located::stretch;

constexpr std::size_t longest_key = 200;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
constexpr std::string_view brackets = "{}[],";

bool is_any_of(char c, std::string_view of) noexcept { return of.find(c) != std::string_view::npos; }

bool is_letter_of_key(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte >= 0x80 ||
         is_any_of(c, "_-./$@+*~<");
}

/// Whether a text ends with an unescaped backslash.
bool ends_with_backslash(std::string_view text) noexcept {
  const auto last = text.find_last_not_of('\\');
  return (text.size() - (last == std::string_view::npos ? 0 : last + 1)) % 2 == 1;
}

/// Counts a mark in a text, except after a backslash.
std::size_t count_of(std::string_view mark, std::string_view in) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < in.size();) {
    if (in[i] == '\\') {
      i += 2;
    } else if (in.substr(i).starts_with(mark)) {
      ++count;
      i += mark.size();
    } else {
      ++i;
    }
  }
  return count;
}

class outliner {
 public:
  outliner(std::string& text, format how) : text_(text), how_(how) {}

  std::size_t mask() {
    std::size_t begin = std::string_view(text_).starts_with("\xEF\xBB\xBF") ? 3 : 0;
    while (begin < text_.size()) {
      const auto end = std::min(text_.find_first_of("\r\n", begin), text_.size());
      take({begin, end});
      begin = end + 1;
    }
    return count_;
  }

 private:
  [[nodiscard]] std::string_view at(stretch of) const noexcept { return of.of(text_); }
  [[nodiscard]] char first(stretch of) const noexcept { return text_[of.begin]; }

  void blot(stretch what) {
    bool is_new = false;
    for (auto i = what.begin; i < what.end; ++i) {
      is_new = is_new || text_[i] != '*';
      text_[i] = '*';
    }
    count_ += is_new ? 1 : 0;
  }

  void take(stretch whole) {
    const auto body = located::trimmed(text_, whole);
    if (body.empty()) {
      is_joined_ = false;
      return;
    }
    const auto indent = body.begin - whole.begin;
    if (is_joined_ || !closing_.empty() || (limit_ != no_limit && indent >= limit_)) return hide(body);
    if (is_in_brackets_) {
      const bool is_end = is_any_of(first(body), "]}");
      hide(body);
      is_in_brackets_ = !is_end || !closing_.empty();
      return;
    }
    if (is_comment(body)) return;
    limit_ = no_limit;
    if (is_section(body) || is_marker(body)) return;
    take_entry(whole.begin, body);
  }

  /// Masks a line that continues a value, or consists of one.
  void hide(stretch what) {
    look_for_its_end(what);
    blot(what);
  }

  /// Determines whether the value continues on the next line.
  void look_for_its_end(stretch value) {
    const auto said = at(value);
    is_joined_ = how_ != format::json && ends_with_backslash(said);
    if (how_ == format::json) return;
    if (!closing_.empty()) {
      if (count_of(closing_, said) % 2 == 1) closing_ = {};
      return;
    }
    if (how_ == format::toml) {
      for (const std::string_view three : {"\"\"\"", "'''"}) {
        if (count_of(three, said) % 2 == 1) closing_ = three;
      }
      if (!closing_.empty() || count_of("\"\"\"", said) > 0 || count_of("'''", said) > 0) return;
    }
    for (const std::string_view quote : {"\"", "'", "`"}) {
      if (said.starts_with(quote) && count_of(quote, said) % 2 == 1) closing_ = quote;
    }
  }

  [[nodiscard]] bool is_comment(stretch line) const noexcept {
    switch (how_) {
      case format::json:
        return at(line).starts_with("//");
      case format::ini:
      case format::systemd:
        return is_any_of(first(line), "#;");
      case format::properties:
        return is_any_of(first(line), "#!");
      default:
        return first(line) == '#';
    }
  }

  [[nodiscard]] bool is_section(stretch line) const noexcept {
    const auto said = at(line);
    if (!said.starts_with('[') || !said.ends_with(']')) return false;
    if (how_ == format::ini || how_ == format::systemd) return true;
    return how_ == format::toml &&
           std::all_of(said.begin(), said.end(), [](char c) { return is_letter_of_key(c) || is_any_of(c, "[]"); });
  }

  /// Whether a line consists of document markers or brackets only.
  [[nodiscard]] bool is_marker(stretch line) const noexcept {
    const auto said = at(line);
    if (how_ == format::yaml && (said == "---" || said == "...")) return true;
    return std::all_of(said.begin(), said.end(), [](char c) { return is_blank(c) || is_any_of(c, brackets); });
  }

  /// Handles a key with its value, in a list or not, or a value alone.
  void take_entry(std::size_t begin_of_line, stretch body) {
    auto column = body.begin;
    bool is_item = false;
    while (how_ == format::yaml && !body.empty() && first(body) == '-' &&
           (body.begin + 1 == body.end || is_blank(text_[body.begin + 1]))) {
      column = body.begin;
      is_item = true;
      body = located::trimmed(text_, {body.begin + 1, body.end});
    }
    if (body.empty()) return;
    if (how_ == format::yaml && at(body).starts_with("--- ") && !is_property_or_comment(at(body).substr(4))) limit_ = 0;
    while (has_flow() && !body.empty() && is_any_of(first(body), "{[") && !at(body).starts_with("{{")) {
      body = located::trimmed(text_, {body.begin + 1, body.end});
    }
    const auto behind = behind_key(body);
    if (behind == std::string::npos) {
      const bool is_template = at(body).starts_with("{{");
      hide(body);
      if (how_ != format::yaml || is_template || limit_ == 0) return;
      if (is_item) limit_ = column - begin_of_line + 1;
      if (!is_item && body.begin > begin_of_line) limit_ = body.begin - begin_of_line;
      return;
    }
    take_value({located::trimmed(text_, {behind, body.end})}, body.begin - begin_of_line);
  }

  [[nodiscard]] bool has_flow() const noexcept { return how_ == format::json || how_ == format::yaml; }

  void take_value(stretch value, std::size_t column) {
    if (how_ == format::ini) limit_ = column + 1;
    if (value.empty()) return;
    if (has_flow() && is_marker(value)) return;
    const auto said = at(value);
    if (how_ == format::yaml && !is_property_or_comment(said)) limit_ = column + 1;
    if (how_ == format::toml) {
      const auto opened = std::count_if(said.begin(), said.end(), [](char c) { return is_any_of(c, "[{"); });
      const auto closed = std::count_if(said.begin(), said.end(), [](char c) { return is_any_of(c, "]}"); });
      is_in_brackets_ = is_any_of(said.front(), "[{") && opened > closed;
    }
    if (how_ == format::json && said.ends_with(',')) --value.end;
    hide(value);
  }

  /// Whether a text consists of tags, anchors and a comment, without a value.
  static bool is_property_or_comment(std::string_view said) noexcept {
    while (!said.empty()) {
      if (said.front() == '#') return true;
      if (!is_any_of(said.front(), "&!")) return false;
      const auto blank = std::find_if(said.begin(), said.end(), is_blank);
      said.remove_prefix(static_cast<std::size_t>(blank - said.begin()));
      while (!said.empty() && is_blank(said.front())) said.remove_prefix(1);
    }
    return true;
  }

  /// The offset of the value after the key at the beginning of a line.
  [[nodiscard]] std::size_t behind_key(stretch body) const noexcept {
    if (body.empty()) return std::string::npos;
    auto at = body.begin;
    const bool is_quoted = (has_flow() || how_ == format::toml) && is_any_of(text_[at], "\"'");
    if (is_quoted) {
      const char quote = text_[at++];
      while (at < body.end && text_[at] != quote) at += text_[at] == '\\' ? 2 : 1;
      if (at++ >= body.end) return std::string::npos;
    } else if (how_ == format::json) {
      return std::string::npos;
    } else {
      if (how_ == format::dotenv && this->at(body).starts_with("export ")) at += 7;
      const auto begin = at;
      while (at < body.end && (is_letter_of_key(text_[at]) || (how_ == format::ini && is_any_of(text_[at], "[]")))) ++at;
      if (at == begin || at - begin > longest_key) return std::string::npos;
    }
    while (at < body.end && is_blank(text_[at])) ++at;
    if (at >= body.end || !separates(text_[at])) return std::string::npos;
    ++at;
    const bool is_apart = at == body.end || is_blank(text_[at]);
    return how_ != format::yaml || is_quoted || is_apart ? at : std::string::npos;
  }

  [[nodiscard]] bool separates(char c) const noexcept {
    if (has_flow()) return c == ':';
    return c == '=' || (c == ':' && (how_ == format::ini || how_ == format::properties));
  }

  std::string& text_;
  const format how_;
  std::size_t count_ = 0;
  bool is_joined_ = false;        // the line before ends with a backslash
  std::string_view closing_;      // the quote that closes the current value
  std::size_t limit_ = no_limit;  // lines with at least this indentation continue a value
  bool is_in_brackets_ = false;   // in TOML
};

/// Masks UTF-16: examines one byte per character.
std::size_t mask_wide(std::string& text, format how) {
  const std::size_t low = text[0] == '\xFF' ? 0 : 1;
  std::string narrow;
  for (std::size_t i = 2; i < text.size(); i += 2) {
    const auto high = static_cast<unsigned char>(text[i + 1 - low]);
    const auto byte = static_cast<unsigned char>(text[i + low]);
    narrow += high == 0 && byte < 0x80 ? static_cast<char>(byte) : '\x80';
  }
  const auto before = narrow;
  const auto count = outliner(narrow, how).mask();
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    if (narrow[i] == before[i]) continue;
    text[2 + 2 * i + low] = '*';
    text[2 + 2 * i + 1 - low] = '\0';
  }
  return count;
}

}  // namespace

std::optional<std::size_t> mask_values(std::string& text, format how) {
  const bool is_wide = text.size() % 2 == 0 && (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"));
  if (is_wide) return mask_wide(text, how);
  if (!json::is_utf8(text)) return std::nullopt;
  return outliner(text, how).mask();
}

}  // namespace hondana::config_files
