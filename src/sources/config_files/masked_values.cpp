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

std::size_t memory_size(const located::node& node) {
  std::size_t bytes = sizeof(located::node) + node.text.capacity();
  for (const auto& item : node.items) bytes += memory_size(item);
  for (const auto& member : node.members) bytes += sizeof(located::member) + member.key.capacity() + memory_size(member.value);
  return bytes;
}

/// Writes asterisks over a span. Returns whether it contained anything else.
bool overwrite(std::string& text, const secrets::span& span) {
  bool is_new = false;
  for (auto i = span.begin; i < std::min(span.end, text.size()); ++i) {
    if (text[i] == '*' || text[i] == '\n' || text[i] == '\r') continue;
    text[i] = '*';
    is_new = true;
  }
  return is_new;
}

/// A text with escapes resolved and with each double quote as a line end, and the original offset of each byte. So secrets are
/// found in strings of texts that cannot be parsed, such as a multi-line private key in one JSON string.
struct unescaped_text {
  std::string bytes;
  std::vector<std::uint32_t> offsets;

  explicit unescaped_text(std::string_view text) {
    bytes.reserve(text.size());
    offsets.reserve(text.size() + 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_escape = text[i] == '\\' && i + 1 < text.size();
      offsets.push_back(static_cast<std::uint32_t>(i));
      bytes += is_escape ? unescape(text[i + 1]) : text[i] == '"' ? '\n' : text[i];
      if (is_escape) ++i;
    }
    offsets.push_back(static_cast<std::uint32_t>(text.size()));
  }

 private:
  static char unescape(char character) noexcept {
    switch (character) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      default:
        return character;
    }
  }
};

/// The spans of secrets that are recognizable only after escapes are resolved.
std::vector<secrets::span> find_escaped_secrets(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return {};
  const unescaped_text unescaped(text);
  std::vector<secrets::span> spans;
  secrets::find(unescaped.bytes, secrets::masking_policy::settings, spans);
  std::vector<secrets::span> original_spans;
  original_spans.reserve(spans.size());
  for (const auto& span : spans) original_spans.push_back({unescaped.offsets[span.begin], unescaped.offsets[span.end]});
  return original_spans;
}

bool is_scalar(const located::node& node) noexcept {
  return node.kind != located::node_kind::list && node.kind != located::node_kind::table;
}

std::string_view scalar_text(const located::node& node) noexcept {
  if (node.kind == located::node_kind::boolean) return node.boolean ? "true" : "false";
  return node.kind == located::node_kind::null ? "null" : std::string_view(node.text);
}

}  // namespace

shared_values make_values(located::document raw, located::document masked) {
  auto created = std::make_shared<values>();
  created->raw = std::move(raw);
  created->masked = std::move(masked);
  created->bytes = memory_size(created->raw.root) + memory_size(created->masked.root);
  return created;
}

shared_values make_values(located::document raw, std::string_view text, bool masks) {
  auto created = std::make_shared<values>();
  created->masked = raw;
  created->raw = std::move(raw);
  if (masks) located::mask_secrets(created->masked, text, created->secret_spans);
  created->bytes = memory_size(created->raw.root) + memory_size(created->masked.root);
  return created;
}

std::size_t mask_text(std::string& text, const values* values) {
  const auto escaped = find_escaped_secrets(text);
  auto count = secrets::redactor(secrets::masking_policy::settings, text).mask(text);
  for (const auto& span : escaped) count += overwrite(text, span) ? 1 : 0;
  for (std::size_t i = 0; values != nullptr && i < values->secret_spans.size(); ++i)
    count += overwrite(text, values->secret_spans[i]) ? 1 : 0;
  return count;
}

bool is_equivalent(const located::node& a, const located::node& b, bool compares_text) {
  if (compares_text && is_scalar(a) && is_scalar(b)) return scalar_text(a) == scalar_text(b);
  if (a.kind != b.kind || a.boolean != b.boolean || a.text != b.text || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!is_equivalent(a.items[i], b.items[i], compares_text)) return false;
  }
  if (a.members.empty()) return true;
  std::unordered_map<std::string_view, const located::node*> right_members;
  for (const auto& right_member : b.members) right_members.emplace(right_member.key, &right_member.value);
  return std::all_of(a.members.begin(), a.members.end(), [&](const located::member& member) {
    const auto other = right_members.find(member.key);
    return other != right_members.end() && is_equivalent(member.value, *other->second, compares_text);
  });
}

namespace {

using located::config_format;
using located::is_blank;
using located::text_span;

constexpr std::size_t max_key_bytes = 200;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
constexpr std::string_view brackets = "{}[],";

bool is_any_of(char c, std::string_view characters) noexcept { return characters.find(c) != std::string_view::npos; }

bool is_key_character(char c) noexcept {
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
std::size_t count_unescaped(std::string_view mark, std::string_view text) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {
      i += 2;
    } else if (text.substr(i).starts_with(mark)) {
      ++count;
      i += mark.size();
    } else {
      ++i;
    }
  }
  return count;
}

class value_masker {
 public:
  value_masker(std::string& text, config_format format) : text_(text), format_(base_format(format)), dialect_(format) {}

  std::size_t mask() {
    std::size_t begin = std::string_view(text_).starts_with("\xEF\xBB\xBF") ? 3 : 0;
    while (begin < text_.size()) {
      const auto end = std::min(text_.find_first_of("\r\n", begin), text_.size());
      mask_line({begin, end});
      begin = end + 1;
    }
    return count_;
  }

 private:
  [[nodiscard]] std::string_view slice(text_span span) const noexcept { return span.slice(text_); }
  [[nodiscard]] char first_character(text_span span) const noexcept { return text_[span.begin]; }

  void overwrite(text_span span) {
    bool is_new = false;
    for (auto i = span.begin; i < span.end; ++i) {
      is_new = is_new || text_[i] != '*';
      text_[i] = '*';
    }
    count_ += is_new ? 1 : 0;
  }

  void mask_line(text_span line) {
    const auto body = located::trim(text_, line);
    if (body.empty()) {
      is_continued_ = false;
      return;
    }
    const auto indent = body.begin - line.begin;
    if (is_continued_ || !closing_quote_.empty() || (continuation_indent_ != no_limit && indent >= continuation_indent_))
      return mask_value(body);
    if (is_in_brackets_) {
      const bool is_end = is_any_of(first_character(body), "]}");
      mask_value(body);
      is_in_brackets_ = !is_end || !closing_quote_.empty();
      return;
    }
    if (is_comment(body)) return;
    continuation_indent_ = no_limit;
    if (is_section(body) || is_marker(body)) return;
    mask_entry(line.begin, body);
  }

  static config_format base_format(config_format format) noexcept {
    switch (format) {
      case config_format::gitconfig:
      case config_format::editorconfig:
      case config_format::desktop:
      case config_format::configparser:
        return config_format::ini;
      case config_format::compose_env:
        return config_format::dotenv;
      default:
        return format;
    }
  }

  /// Masks a line that continues a value, or consists of one.
  void mask_value(text_span value) {
    track_continuation(value);
    overwrite(value);
  }

  /// Determines whether the value continues on the next line.
  void track_continuation(text_span value) {
    const auto text = slice(value);
    is_continued_ = format_ != config_format::json && ends_with_backslash(text);
    if (format_ == config_format::json) return;
    if (!closing_quote_.empty()) {
      if (count_unescaped(closing_quote_, text) % 2 == 1) closing_quote_ = {};
      return;
    }
    if (format_ == config_format::toml) {
      for (const std::string_view quote : {"\"\"\"", "'''"}) {
        if (count_unescaped(quote, text) % 2 == 1) closing_quote_ = quote;
      }
      if (!closing_quote_.empty() || count_unescaped("\"\"\"", text) > 0 || count_unescaped("'''", text) > 0) return;
    }
    for (const std::string_view quote : {"\"", "'", "`"}) {
      if (text.starts_with(quote) && count_unescaped(quote, text) % 2 == 1) closing_quote_ = quote;
    }
  }

  [[nodiscard]] bool is_comment(text_span line) const noexcept {
    switch (format_) {
      case config_format::json:
        return slice(line).starts_with("//");
      case config_format::ini:
      case config_format::systemd:
        return first_character(line) == '#' || (first_character(line) == ';' && dialect_ != config_format::desktop);
      case config_format::properties:
        return is_any_of(first_character(line), "#!");
      default:
        return first_character(line) == '#';
    }
  }

  [[nodiscard]] bool is_section(text_span line) const noexcept {
    const auto text = slice(line);
    if (!text.starts_with('[') || !text.ends_with(']')) return false;
    // In git configuration, a variable may follow its section.
    if (dialect_ == config_format::gitconfig && text.find('=') != std::string_view::npos) return false;
    if (format_ == config_format::ini || format_ == config_format::systemd) return true;
    return format_ == config_format::toml &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_key_character(c) || is_any_of(c, "[]"); });
  }

  /// Whether a line consists of document markers or brackets only.
  [[nodiscard]] bool is_marker(text_span line) const noexcept {
    const auto text = slice(line);
    if (format_ == config_format::yaml && (text == "---" || text == "...")) return true;
    return std::all_of(text.begin(), text.end(), [](char c) { return is_blank(c) || is_any_of(c, brackets); });
  }

  /// Handles a key with its value, in a list or not, or a value alone.
  void mask_entry(std::size_t line_begin, text_span body) {
    auto column = body.begin;
    bool is_item = false;
    while (format_ == config_format::yaml && !body.empty() && first_character(body) == '-' &&
           (body.begin + 1 == body.end || is_blank(text_[body.begin + 1]))) {
      column = body.begin;
      is_item = true;
      body = located::trim(text_, {body.begin + 1, body.end});
    }
    if (body.empty()) return;
    if (format_ == config_format::yaml && slice(body).starts_with("--- ") && !is_property_or_comment(slice(body).substr(4)))
      continuation_indent_ = 0;
    while (has_flow_syntax() && !body.empty() && is_any_of(first_character(body), "{[") && !slice(body).starts_with("{{")) {
      body = located::trim(text_, {body.begin + 1, body.end});
    }
    const auto value_begin = find_value(body);
    if (value_begin == std::string::npos) {
      const bool is_template = slice(body).starts_with("{{");
      mask_value(body);
      if (format_ != config_format::yaml || is_template || continuation_indent_ == 0) return;
      if (is_item) continuation_indent_ = column - line_begin + 1;
      if (!is_item && body.begin > line_begin) continuation_indent_ = body.begin - line_begin;
      return;
    }
    mask_entry_value({located::trim(text_, {value_begin, body.end})}, body.begin - line_begin);
  }

  [[nodiscard]] bool has_flow_syntax() const noexcept {
    return format_ == config_format::json || format_ == config_format::yaml;
  }

  void mask_entry_value(text_span value, std::size_t column) {
    if (format_ == config_format::ini) continuation_indent_ = column + 1;
    if (value.empty()) return;
    if (has_flow_syntax() && is_marker(value)) return;
    const auto text = slice(value);
    if (format_ == config_format::yaml && !is_property_or_comment(text)) continuation_indent_ = column + 1;
    if (format_ == config_format::toml) {
      const auto opened = std::count_if(text.begin(), text.end(), [](char c) { return is_any_of(c, "[{"); });
      const auto closed = std::count_if(text.begin(), text.end(), [](char c) { return is_any_of(c, "]}"); });
      is_in_brackets_ = is_any_of(text.front(), "[{") && opened > closed;
    }
    if (format_ == config_format::json && text.ends_with(',')) --value.end;
    mask_value(value);
  }

  /// Whether a text consists of tags, anchors and a comment, without a value.
  static bool is_property_or_comment(std::string_view text) noexcept {
    while (!text.empty()) {
      if (text.front() == '#') return true;
      if (!is_any_of(text.front(), "&!")) return false;
      const auto blank = std::find_if(text.begin(), text.end(), is_blank);
      text.remove_prefix(static_cast<std::size_t>(blank - text.begin()));
      while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    }
    return true;
  }

  /// The offset of the value after the key at the beginning of a line.
  [[nodiscard]] std::size_t find_value(text_span body) const noexcept {
    if (body.empty()) return std::string::npos;
    auto position = body.begin;
    const bool is_quoted = (has_flow_syntax() || format_ == config_format::toml) && is_any_of(text_[position], "\"'");
    if (is_quoted) {
      const char quote = text_[position++];
      while (position < body.end && text_[position] != quote) position += text_[position] == '\\' ? 2 : 1;
      if (position++ >= body.end) return std::string::npos;
    } else if (format_ == config_format::json) {
      return std::string::npos;
    } else {
      if (format_ == config_format::dotenv && this->slice(body).starts_with("export ")) position += 7;
      const auto begin = position;
      while (position < body.end &&
             (is_key_character(text_[position]) || (format_ == config_format::ini && is_any_of(text_[position], "[]"))))
        ++position;
      if (position == begin || position - begin > max_key_bytes) return std::string::npos;
    }
    while (position < body.end && is_blank(text_[position])) ++position;
    if (position >= body.end || !is_separator(text_[position])) return std::string::npos;
    ++position;
    const bool is_separated = position == body.end || is_blank(text_[position]);
    return format_ != config_format::yaml || is_quoted || is_separated ? position : std::string::npos;
  }

  [[nodiscard]] bool is_separator(char c) const noexcept {
    if (has_flow_syntax()) return c == ':';
    return c == '=' || (c == ':' && (format_ == config_format::ini || format_ == config_format::properties));
  }

  std::string& text_;
  const config_format format_;
  const config_format dialect_;  // the format itself; `format_` is the one whose lines it has
  std::size_t count_ = 0;
  bool is_continued_ = false;                   // the line before ends with a backslash
  std::string_view closing_quote_;              // the quote that closes the current value
  std::size_t continuation_indent_ = no_limit;  // lines with at least this indentation continue a value
  bool is_in_brackets_ = false;                 // in TOML
};

/// Masks UTF-16: examines one byte per character.
std::size_t mask_wide(std::string& text, config_format format) {
  const std::size_t low = text[0] == '\xFF' ? 0 : 1;
  std::string narrow;
  for (std::size_t i = 2; i < text.size(); i += 2) {
    const auto high = static_cast<unsigned char>(text[i + 1 - low]);
    const auto byte = static_cast<unsigned char>(text[i + low]);
    narrow += high == 0 && byte < 0x80 ? static_cast<char>(byte) : '\x80';
  }
  const auto original = narrow;
  const auto count = value_masker(narrow, format).mask();
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    if (narrow[i] == original[i]) continue;
    text[2 + 2 * i + low] = '*';
    text[2 + 2 * i + 1 - low] = '\0';
  }
  return count;
}

}  // namespace

std::optional<std::size_t> mask_values(std::string& text, config_format format) {
  const bool is_wide = text.size() % 2 == 0 && (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"));
  if (is_wide) return mask_wide(text, format);
  if (!json::is_utf8(text)) return std::nullopt;
  return value_masker(text, format).mask();
}

}  // namespace hondana::config_files
