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
constexpr uri::octet_set free_in_path = uri::sub_delimiters.with(":@");
constexpr uri::octet_set free_in_query = uri::sub_delimiters.with(":@/?").without("&=+");
/// Characters with a special meaning if they are not escaped.
constexpr uri::octet_set signs_in_path("/");
constexpr uri::octet_set signs_in_query("&=+");

enum class delimiters : std::uint8_t { plain, escaped };

/// The start of the path; npos if there is no scheme before it.
std::size_t begin_of_path(std::string_view uri) {
  const auto colon = uri.find_first_of(":/?#");
  if (colon == 0 || colon == std::string_view::npos || uri[colon] != ':') return std::string_view::npos;
  if (uri.substr(colon + 1, 2) != "//") return colon + 1;
  return std::min(uri.find_first_of("/?#", colon + 3), uri.size());
}

std::string respelled(std::string_view uri, delimiters how) {
  const auto path = begin_of_path(uri);
  const auto colon = uri.find(':');
  auto out = ascii::in_lower_case(uri.substr(0, colon));
  out += uri.substr(colon, path - colon);
  bool is_in_query = false;
  const auto add = [&](char c, bool is_escape) {
    const auto& is_free = is_in_query ? free_in_query : free_in_path;
    const bool stays = !is_escape && (is_in_query ? signs_in_query : signs_in_path).has(c);
    if (stays || uri::unreserved.has(c) || (is_free.has(c) && how == delimiters::plain)) {
      out += c;
    } else {
      uri::append_escape(out, static_cast<unsigned char>(c));
    }
  };
  for (std::size_t at = path; at < uri.size();) {
    const char c = uri[at];
    if (c == '#') return out += uri.substr(at);
    if (const auto octet = c == '%' ? uri::escape_at(uri, at) : std::nullopt) {
      add(static_cast<char>(*octet), true);
      at += 3;
      continue;
    }
    ++at;
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
std::string_view whole_characters(std::string_view text) {
  constexpr std::size_t longest = 4;
  for (std::size_t cut = 0; cut < std::min(longest, text.size()); ++cut) {
    const auto front = text.substr(0, text.size() - cut);
    if (json::is_utf8(front)) return front;
  }
  return {};
}

/// The URI with the letters of each path segment composed (NFC).
std::string composed_path(std::string_view uri) {
  auto at = begin_of_path(uri);
  std::string out(uri.substr(0, at));
  const auto end = std::min(uri.find_first_of("?#", at), uri.size());
  while (at < end) {
    if (uri[at] == '/') {
      out += uri[at++];
      continue;
    }
    const auto next = std::min(uri.find('/', at), end);
    const auto segment = uri.substr(at, next - at);
    at = next;
    const auto decoded = percent_decode(segment);
    const auto front = decoded ? whole_characters(*decoded) : std::string_view();
    const auto composed = language::composed(front);
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

std::vector<std::string> spellings_of_prefix(std::string_view asked) {
  std::vector<std::string> out{std::string(asked)};
  if (begin_of_path(asked) == std::string_view::npos) return out;
  const auto add = [&out](std::string one) {
    if (std::find(out.begin(), out.end(), one) == out.end()) out.push_back(std::move(one));
  };
  const auto composed = composed_path(asked);
  for (const auto how : {delimiters::plain, delimiters::escaped}) {
    add(respelled(asked, how));
    add(respelled(composed, how));
  }
  return out;
}

std::vector<std::string> in_all_spellings(const std::vector<std::string>& prefixes) {
  std::vector<std::string> out;
  for (const auto& one : prefixes) {
    for (auto& spelled : spellings_of_prefix(one)) out.push_back(std::move(spelled));
  }
  return out;
}

namespace {

bool holds(std::string_view text, std::string_view part) {
  // memmem is linear in the worst case; std::string_view::find is not.
  return ::memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

/// The text in NFC, which is at most three times as long.
std::string composed(std::string text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return text;
  return language::composed(text);
}

/// A prefix of all matching URIs, up to the first character that may be escaped or not.
std::string_view certain_start(std::string_view pattern) {
  const auto start = ignore::literal_start(pattern);
  const auto scheme = start.find(':');
  if (scheme == std::string_view::npos) return start;
  constexpr auto is_same = uri::unreserved.with("/");
  auto end = scheme + 1;
  while (end < start.size() && is_same.has(start[end])) ++end;
  return start.substr(0, end);
}

/// The spellings that lists can contain; their schemes are lower-case.
std::vector<std::string> beginnings_of(const std::string& prefix) {
  if (prefix.empty()) return {};
  auto all = spellings_of_prefix(prefix);
  const auto scheme = prefix.substr(0, prefix.find(':'));
  if (all.size() > 1 && scheme != ascii::in_lower_case(scheme)) all.erase(all.begin());
  return all;
}

std::string common_start(const std::vector<std::string>& all) {
  if (all.empty()) return {};
  std::string_view out = all.front();
  for (const auto& one : all) {
    const auto least = std::min(out.size(), one.size());
    out = out.substr(
        0, static_cast<std::size_t>(std::mismatch(out.begin(), out.begin() + least, one.begin()).first - out.begin()));
  }
  return std::string(out);
}

std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  std::vector<std::string> words;
  for (auto from = text.find_first_not_of(spaces); from != std::string_view::npos;) {
    const auto to = std::min(text.find_first_of(spaces, from), text.size());
    words.push_back(ascii::in_lower_case(text.substr(from, to - from)));
    from = text.find_first_not_of(spaces, to);
  }
  return words;
}

/// A `wanted` that ends in a slash matches every subtype.
bool is_of_type(std::string_view stated, std::string_view wanted) {
  auto essence = stated.substr(0, stated.find(';'));
  while (essence.ends_with(' ') || essence.ends_with('\t')) essence.remove_suffix(1);
  if (wanted.ends_with('/') ? essence.size() <= wanted.size() : essence.size() != wanted.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), essence.begin(), [](char a, char b) { return a == ascii::lower(b); });
}

/// Each part has its length in front, so that different filters give different texts.
std::string spelled(const model::resource_filter& what) {
  std::string all;
  const auto add = [&all](std::string_view part) {
    all += std::to_string(part.size());
    all += ':';
    all += part;
  };
  for (const auto* part : {&what.uri_prefix, &what.uri_pattern, &what.name_pattern, &what.mime_type, &what.kind, &what.text}) {
    add(*part);
  }
  add(!what.audience ? "" : *what.audience == role::user ? "user" : "assistant");
  add(what.min_priority ? std::to_string(std::bit_cast<std::uint64_t>(*what.min_priority)) : "");
  add(what.modified_since ? std::to_string(what.modified_since->time_since_epoch().count()) : "");
  return all;
}

}  // namespace

filter::filter(model::resource_filter what)
    : what_(std::move(what)), beginnings_(beginnings_of(what_.uri_prefix)), prefix_(common_start(beginnings_)) {
  is_open_ = what_ == model::resource_filter{};
  if (is_open_) return;
  digest_ = bytes::to_hex(bytes::digest_of(spelled(what_)));
  words_ = words_of(composed(what_.text));
  if (!what_.name_pattern.empty()) name_pattern_ = ignore::glob::for_text(composed(what_.name_pattern));
  if (what_.uri_pattern.empty()) return;
  const auto pattern = composed(what_.uri_pattern);
  uri_pattern_ = ignore::glob::for_path(pattern);
  is_spelled_ = pattern.find('%') != std::string::npos;
  const auto start = is_spelled_ ? ignore::literal_start(pattern) : certain_start(pattern);
  const auto contradicts = [&start](const std::string& one) { return !start.starts_with(one) && !one.starts_with(start); };
  is_hopeless_ = !beginnings_.empty() && std::erase_if(beginnings_, contradicts) != 0 && beginnings_.empty();
  prefix_ = common_start(beginnings_);
  if (start.size() > prefix_.size()) prefix_ = start;
}

bool filter::passes(const resource& entry, std::uint64_t& steps) const {
  ++steps;
  if (is_open_) return true;
  if (is_hopeless_ || !entry.uri.starts_with(prefix_)) return false;
  const auto begins = [&entry](const std::string& one) { return entry.uri.starts_with(one); };
  if (beginnings_.size() > 1 && std::none_of(beginnings_.begin(), beginnings_.end(), begins)) return false;
  if (!what_.kind.empty() && entry.kind != what_.kind) return false;
  if (!what_.mime_type.empty() && !is_of_type(entry.mimeType, what_.mime_type)) return false;
  const auto& hints = entry.annotations;
  if (what_.audience && std::find(hints.audience.begin(), hints.audience.end(), *what_.audience) == hints.audience.end()) {
    return false;
  }
  if (what_.min_priority && !(hints.priority && *hints.priority >= *what_.min_priority)) return false;
  if (what_.modified_since && !(hints.lastModified && *hints.lastModified >= *what_.modified_since)) return false;
  if (name_pattern_ && !name_pattern_->matches(composed(entry.name), steps)) return false;
  if (uri_pattern_ && !fits_uri(entry.uri, steps)) return false;
  return words_.empty() || holds_words(entry, steps);
}

bool filter::fits_uri(const std::string& uri, std::uint64_t& steps) const {
  if (uri_pattern_->matches(uri, steps)) return true;
  return !is_spelled_ && uri.find('%') != std::string::npos &&
         uri_pattern_->matches(composed(uri::decoded_but_slashes(uri)), steps);
}

bool filter::holds_words(const resource& entry, std::uint64_t& steps) const {
  // Newlines between the parts prevent matches across two parts.
  auto parts = entry.name + '\n' + entry.title + '\n' + entry.description + '\n' + entry.uri;
  if (entry.uri.find('%') != std::string::npos) parts += '\n' + uri::decoded_but_slashes(entry.uri);
  const auto all = ascii::in_lower_case(composed(std::move(parts)));
  return std::all_of(words_.begin(), words_.end(), [&](const std::string& word) {
    steps += all.size();
    return holds(all, word);
  });
}

}  // namespace hondana::catalog
