/// Filters of lists, prepared for many entries, and alternative spellings of URI prefixes.
#include "server/catalog/list_filter.hpp"

#include <string.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/digest.hpp"
#include "base/json/utf8.hpp"
#include "base/uri/uri_syntax.hpp"
#include "text/language/language.hpp"

namespace hondana::catalog {
namespace {

/// Characters that some sources list plain and others escaped. In a query, escaping changes the meaning of `&`, `=` and `+`.
constexpr uri::octet_set free_in_path = uri::sub_delimiters.including(":@");
constexpr uri::octet_set free_in_query = uri::sub_delimiters.including(":@/?").excluding("&=+");
/// Characters with a special meaning if they are not escaped.
constexpr uri::octet_set reserved_in_path("/");
constexpr uri::octet_set reserved_in_query("&=+");

enum class delimiters : std::uint8_t { unescaped, escaped };

/// The start of the path; npos if there is no scheme before it.
std::size_t path_start(std::string_view uri) {
  const auto colon = uri.find_first_of(":/?#");
  if (colon == 0 || colon == std::string_view::npos || uri[colon] != ':') return std::string_view::npos;
  if (uri.substr(colon + 1, 2) != "//") return colon + 1;
  return std::min(uri.find_first_of("/?#", colon + 3), uri.size());
}

std::string rewrite_delimiters(std::string_view uri, delimiters mode) {
  const auto path = path_start(uri);
  const auto colon = uri.find(':');
  auto out = ascii::to_lower(uri.substr(0, colon));
  out += uri.substr(colon, path - colon);
  bool is_in_query = false;
  const auto add = [&](char c, bool is_escape) {
    const auto& is_free = is_in_query ? free_in_query : free_in_path;
    const bool stays = !is_escape && (is_in_query ? reserved_in_query : reserved_in_path).contains(c);
    if (stays || uri::unreserved.contains(c) || (is_free.contains(c) && mode == delimiters::unescaped)) {
      out += c;
    } else {
      uri::append_escape(out, static_cast<unsigned char>(c));
    }
  };
  for (std::size_t position = path; position < uri.size();) {
    const char c = uri[position];
    if (c == '#') return out += uri.substr(position);
    if (const auto octet = c == '%' ? uri::escape_at(uri, position) : std::nullopt) {
      add(static_cast<char>(*octet), true);
      position += 3;
      continue;
    }
    ++position;
    if (c == '%') {
      // The prefix may end within an escape.
      out += c;
    } else if (c == '?' && !is_in_query) {
      is_in_query = true;
      out += c;
    } else {
      add(c, false);
    }
  }
  return out;
}

/// The text without an incomplete character at its end.
std::string_view complete_characters(std::string_view text) {
  constexpr std::size_t max_character_bytes = 4;
  for (std::size_t cut = 0; cut < std::min(max_character_bytes, text.size()); ++cut) {
    const auto front = text.substr(0, text.size() - cut);
    if (json::is_utf8(front)) return front;
  }
  return {};
}

/// The URI with the letters of each path segment composed (NFC).
std::string composed_path(std::string_view uri) {
  auto position = path_start(uri);
  std::string out(uri.substr(0, position));
  const auto end = std::min(uri.find_first_of("?#", position), uri.size());
  while (position < end) {
    if (uri[position] == '/') {
      out += uri[position++];
      continue;
    }
    const auto next = std::min(uri.find('/', position), end);
    const auto segment = uri.substr(position, next - position);
    position = next;
    const auto decoded = percent_decode(segment);
    const auto front = decoded ? complete_characters(*decoded) : std::string_view();
    const auto composed = language::to_nfc(front);
    if (composed == front) {
      out += segment;
    } else {
      out += percent_encode(composed) + percent_encode(std::string_view(*decoded).substr(front.size()));
    }
  }
  out += uri.substr(end);
  return out;
}

}  // namespace

std::vector<std::string> prefix_forms(std::string_view prefix) {
  std::vector<std::string> out{std::string(prefix)};
  if (path_start(prefix) == std::string_view::npos) return out;
  const auto add = [&out](std::string form) {
    if (std::find(out.begin(), out.end(), form) == out.end()) out.push_back(std::move(form));
  };
  const auto composed = composed_path(prefix);
  for (const auto mode : {delimiters::unescaped, delimiters::escaped}) {
    add(rewrite_delimiters(prefix, mode));
    add(rewrite_delimiters(composed, mode));
  }
  return out;
}

std::vector<std::string> all_prefix_forms(const std::vector<std::string>& prefixes) {
  std::vector<std::string> out;
  for (const auto& prefix : prefixes) {
    for (auto& form : prefix_forms(prefix)) out.push_back(std::move(form));
  }
  return out;
}

namespace {

bool contains(std::string_view text, std::string_view part) {
  // memmem is linear in the worst case; std::string_view::find is not.
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

/// The text in NFC, which is at most three times as long.
std::string composed(std::string text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  return language::to_nfc(text);
}

/// A prefix of all matching URIs, up to the first character that may be escaped or not.
std::string_view unambiguous_start(std::string_view pattern) {
  const auto start = ignore::literal_start(pattern);
  const auto scheme = start.find(':');
  if (scheme == std::string_view::npos) return start;
  constexpr auto is_same = uri::unreserved.including("/");
  auto end = scheme + 1;
  while (end < start.size() && is_same.contains(start[end])) ++end;
  return start.substr(0, end);
}

/// The spellings that lists can contain; their schemes are lower-case.
std::vector<std::string> listed_prefixes(const std::string& prefix) {
  if (prefix.empty()) return {};
  auto forms = prefix_forms(prefix);
  const auto scheme = prefix.substr(0, prefix.find(':'));
  if (forms.size() > 1 && scheme != ascii::to_lower(scheme)) forms.erase(forms.begin());
  return forms;
}

std::string common_prefix(const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string_view out = texts.front();
  for (const auto& text : texts) {
    const auto length = std::min(out.size(), text.size());
    out = out.substr(
        0, static_cast<std::size_t>(std::mismatch(out.begin(), out.begin() + length, text.begin()).first - out.begin()));
  }
  return std::string(out);
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  std::vector<std::string> words;
  for (auto begin = text.find_first_not_of(spaces); begin != std::string_view::npos;) {
    const auto end = std::min(text.find_first_of(spaces, begin), text.size());
    words.push_back(ascii::to_lower(text.substr(begin, end - begin)));
    begin = text.find_first_not_of(spaces, end);
  }
  return words;
}

/// A `pattern` that ends in a slash matches every subtype.
bool matches_media_type(std::string_view media_type, std::string_view pattern) {
  auto essence = media_type.substr(0, media_type.find(';'));
  while (essence.ends_with(' ') || essence.ends_with('\t')) essence.remove_suffix(1);
  if (pattern.ends_with('/') ? essence.size() <= pattern.size() : essence.size() != pattern.size()) return false;
  return std::equal(pattern.begin(), pattern.end(), essence.begin(), [](char a, char b) { return a == ascii::to_lower(b); });
}

/// Each part has its length in front, so that different filters give different texts.
std::string serialize(const model::resource_filter& criteria) {
  std::string out;
  const auto add = [&out](std::string_view field) {
    out += std::to_string(field.size());
    out += ':';
    out += field;
  };
  for (const auto* text : {&criteria.uri_prefix, &criteria.uri_pattern, &criteria.name_pattern, &criteria.mime_type,
                           &criteria.kind, &criteria.text}) {
    add(*text);
  }
  add(!criteria.audience ? "" : *criteria.audience == chat_role::user ? "user" : "assistant");
  add(criteria.min_priority ? std::to_string(std::bit_cast<std::uint64_t>(*criteria.min_priority)) : "");
  add(criteria.modified_since ? std::to_string(criteria.modified_since->time_since_epoch().count()) : "");
  return out;
}

}  // namespace

list_filter::list_filter(model::resource_filter criteria)
    : criteria_(std::move(criteria)), prefixes_(listed_prefixes(criteria_.uri_prefix)), prefix_(common_prefix(prefixes_)) {
  accepts_all_ = criteria_ == model::resource_filter{};
  if (accepts_all_) return;
  digest_ = bytes::to_hex(bytes::digest_of(serialize(criteria_)));
  words_ = words_of(composed(criteria_.text));
  if (!criteria_.name_pattern.empty()) name_pattern_ = ignore::glob::for_text(composed(criteria_.name_pattern));
  if (criteria_.uri_pattern.empty()) return;
  const auto pattern = composed(criteria_.uri_pattern);
  uri_pattern_ = ignore::glob::for_path(pattern);
  has_escapes_ = pattern.find('%') != std::string::npos;
  const auto start = has_escapes_ ? ignore::literal_start(pattern) : unambiguous_start(pattern);
  const auto contradicts = [&start](const std::string& prefix) {
    return !start.starts_with(prefix) && !prefix.starts_with(start);
  };
  is_unsatisfiable_ = !prefixes_.empty() && std::erase_if(prefixes_, contradicts) != 0 && prefixes_.empty();
  prefix_ = common_prefix(prefixes_);
  if (start.size() > prefix_.size()) prefix_ = start;
}

bool list_filter::matches(const resource& entry, std::uint64_t& steps) const {
  ++steps;
  if (accepts_all_) return true;
  if (is_unsatisfiable_ || !entry.uri.starts_with(prefix_)) return false;
  const auto has_prefix = [&entry](const std::string& prefix) { return entry.uri.starts_with(prefix); };
  if (prefixes_.size() > 1 && std::none_of(prefixes_.begin(), prefixes_.end(), has_prefix)) return false;
  if (!criteria_.kind.empty() && entry.kind != criteria_.kind) return false;
  if (!criteria_.mime_type.empty() && !matches_media_type(entry.mime_type, criteria_.mime_type)) return false;
  const auto& hints = entry.annotations;
  if (criteria_.audience &&
      std::find(hints.audience.begin(), hints.audience.end(), *criteria_.audience) == hints.audience.end()) {
    return false;
  }
  if (criteria_.min_priority && !(hints.priority && *hints.priority >= *criteria_.min_priority)) return false;
  if (criteria_.modified_since && !(hints.last_modified && *hints.last_modified >= *criteria_.modified_since)) return false;
  if (name_pattern_ && !name_pattern_->matches(composed(entry.name), steps)) return false;
  if (uri_pattern_ && !matches_uri(entry.uri, steps)) return false;
  return words_.empty() || contains_words(entry, steps);
}

bool list_filter::matches_uri(const std::string& uri, std::uint64_t& steps) const {
  if (uri_pattern_->matches(uri, steps)) return true;
  return !has_escapes_ && uri.find('%') != std::string::npos &&
         uri_pattern_->matches(composed(uri::decode_except_slashes(uri)), steps);
}

bool list_filter::contains_words(const resource& entry, std::uint64_t& steps) const {
  // Newlines between the parts prevent matches across two parts.
  auto parts = entry.name + '\n' + entry.title + '\n' + entry.description + '\n' + entry.uri;
  if (entry.uri.find('%') != std::string::npos) parts += '\n' + uri::decode_except_slashes(entry.uri);
  const auto text = ascii::to_lower(composed(std::move(parts)));
  return std::all_of(words_.begin(), words_.end(), [&](const std::string& word) {
    steps += text.size();
    return contains(text, word);
  });
}

}  // namespace hondana::catalog
