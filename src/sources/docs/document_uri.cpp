/// Parses and builds URIs and paths of documents.
#include "sources/docs/document_uri.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/uri/uri_syntax.hpp"
#include "text/charsets/charset_decoder.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
std::string claim_of(std::string_view set) { return "docs://" + std::string(set); }

std::string uri_of(std::string_view set, std::string_view path) { return claim_of(set) + '/' + percent_encode(path, true); }

std::string uri_of_outline(std::string_view set) { return claim_of(set) + '/'; }

std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

std::string_view parent_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view stem_of(std::string_view name) noexcept {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string readable(std::string_view path) {
  if (json::is_utf8(path)) return language::composed(path);
  if (auto decoded = charsets::decode(path); decoded && decoded->replaced == 0) return std::move(decoded->text);
  std::string shown;
  json::append_replacing(shown, path);
  return shown;
}

namespace {

constexpr std::size_t longest_section = 4096;

tl::unexpected<failure> no_such_document() { return fail(errc::resource_not_found, "Document not found in this set."); }

result<std::pair<std::size_t, std::size_t>> pages_of(std::string_view text) {
  const auto wrong = [] {
    return fail(errc::invalid_argument, "pages: expected a page or a range of pages, such as 3, 2-4 or 5-, counted from 1.");
  };
  const auto number = [](std::string_view part) -> std::optional<std::size_t> {
    std::size_t made = 0;
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), made);
    if (problem != std::errc() || end != part.data() + part.size() || made == 0) return std::nullopt;
    return made;
  };
  const auto dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  if (!first) return wrong();
  if (dash == std::string_view::npos) return std::pair(*first, *first);
  if (dash + 1 == text.size()) return std::pair(*first, std::numeric_limits<std::size_t>::max());
  const auto last = number(text.substr(dash + 1));
  if (!last || *last < *first) return wrong();
  return std::pair(*first, *last);
}

result<form> form_of(std::string_view text) {
  if (text == "outline") return form::outline;
  if (text == "json") return form::json;
  if (text == "original") return form::original;
  return fail(errc::invalid_argument, "format: expected outline, json or original. Leave it out for the text.");
}

result<void> read_parameters(std::string_view query, address& into) {
  // With a trailing "&", access rules for the URI without it would not match.
  if (query.ends_with('&')) return fail(errc::invalid_argument, "The URI ends in \"&\". Remove it, or add a parameter.");
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    HONDANA_TRY(auto said, percent_decode(written));
    if (name == "section" && !into.section && !into.is_set) {
      if (said.empty() || said.size() > longest_section) return fail(errc::invalid_argument, "section: expected a heading.");
      into.section = std::move(said);
    } else if (name == "pages" && !into.pages && !into.is_set) {
      HONDANA_TRY(const auto pages, pages_of(said));
      into.pages = pages;
    } else if (name == "format" && into.how == form::usual) {
      HONDANA_TRY(const auto how, form_of(said));
      into.how = how;
    } else {
      return fail(
          errc::invalid_argument,
          "The URI has an unknown parameter, or one twice. Documents have section, pages and format; sets have format.");
    }
  }
  if (int(into.section.has_value()) + int(into.pages.has_value()) + int(into.how != form::usual) > 1) {
    return fail(errc::invalid_argument, "section, pages and format cannot be combined. Use one of them.");
  }
  return {};
}

}  // namespace

result<address> address_of(std::string_view set, std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "docs" || parts.authority != set || parts.fragment) return no_such_document();
  address made;
  made.is_set = parts.path == "/";
  if (!parts.path.empty() && !made.is_set) {
    const auto written = parts.path.substr(1);
    // No name contains an escaped slash.
    if (written.find("%2F") != std::string_view::npos || written.ends_with('/')) return no_such_document();
    HONDANA_TRY(auto path, percent_decode(written));
    if (path.find('\0') != std::string::npos) return no_such_document();
    made.is_as_listed = written == percent_encode(path, true);
    made.path = std::move(path);
  }
  if (auto read = read_parameters(parts.query.value_or(std::string_view()), made); !read) {
    return tl::unexpected(std::move(read.error()));
  }
  return made;
}

}  // namespace hondana::docs
