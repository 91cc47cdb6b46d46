/// Spelling the beginning of a URI in the few ways that lists have.
#include "server/catalog/prefixes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/characters.hpp"
#include "base/json/utf8.hpp"
#include "base/uri/escapes.hpp"
#include "base/uri/octet_set.hpp"
#include "text/language/language.hpp"

namespace hondana::catalog {
namespace {

/// What some sources list plain and others escaped. In a query, `&`, `=` and `+` mean something else when they are escaped.
constexpr uri::octet_set free_in_path = uri::sub_delimiters.with(":@");
constexpr uri::octet_set free_in_query = uri::sub_delimiters.with(":@/?").without("&=+");
/// What has a meaning of its own where it is not escaped.
constexpr uri::octet_set signs_in_path("/");
constexpr uri::octet_set signs_in_query("&=+");

enum class delimiters : std::uint8_t { plain, escaped };

/// Where the path begins; npos: there is no scheme before it.
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
      // It may end within an escape.
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

/// Without a character of which only the first bytes are there.
std::string_view whole_characters(std::string_view text) {
  constexpr std::size_t longest = 4;
  for (std::size_t cut = 0; cut < std::min(longest, text.size()); ++cut) {
    const auto front = text.substr(0, text.size() - cut);
    if (json::is_utf8(front)) return front;
  }
  return {};
}

/// With the letters of each segment of the path composed.
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

}  // namespace hondana::catalog
