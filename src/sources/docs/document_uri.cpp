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
std::string uri_prefix(std::string_view set) { return "docs://" + std::string(set); }

std::string uri_of(std::string_view set, std::string_view path) { return uri_prefix(set) + '/' + percent_encode(path, true); }

std::string outline_uri(std::string_view set) { return uri_prefix(set) + '/'; }

std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

std::string_view parent_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view stem_of(std::string_view name) noexcept {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

std::string display_path(std::string_view path) {
  if (json::is_utf8(path)) return language::to_nfc(path);
  if (auto decoded = charsets::decode(path); decoded && decoded->replacements == 0) return std::move(decoded->text);
  std::string repaired;
  json::append_replacing(repaired, path);
  return repaired;
}

namespace {

constexpr std::size_t max_section_bytes = 4096;

tl::unexpected<failure> document_not_found() { return fail(errc::resource_not_found, "Document not found in this set."); }

result<std::pair<std::size_t, std::size_t>> parse_pages(std::string_view text) {
  const auto wrong = [] {
    return fail(errc::invalid_argument, "pages: expected a page or a range of pages, such as 3, 2-4 or 5-, counted from 1.");
  };
  const auto number = [](std::string_view part) -> std::optional<std::size_t> {
    std::size_t page = 0;
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), page);
    if (problem != std::errc() || end != part.data() + part.size() || page == 0) return std::nullopt;
    return page;
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

result<output_format> parse_format(std::string_view text) {
  if (text == "outline") return output_format::outline;
  if (text == "json") return output_format::json;
  if (text == "original") return output_format::original;
  return fail(errc::invalid_argument, "format: expected outline, json or original. Leave it out for the text.");
}

result<void> read_parameters(std::string_view query, address& address) {
  // With a trailing "&", access rules for the URI without it would not match.
  if (query.ends_with('&')) return fail(errc::invalid_argument, "The URI ends in \"&\". Remove it, or add a parameter.");
  while (!query.empty()) {
    const auto [name, written] = uri::pop_parameter(query);
    HONDANA_TRY(auto decoded, percent_decode(written));
    if (name == "section" && !address.section && !address.is_set) {
      if (decoded.empty() || decoded.size() > max_section_bytes)
        return fail(errc::invalid_argument, "section: expected a heading.");
      address.section = std::move(decoded);
    } else if (name == "pages" && !address.pages && !address.is_set) {
      HONDANA_TRY(const auto pages, parse_pages(decoded));
      address.pages = pages;
    } else if (name == "format" && address.format == output_format::default_format) {
      HONDANA_TRY(const auto format, parse_format(decoded));
      address.format = format;
    } else {
      return fail(
          errc::invalid_argument,
          "The URI has an unknown parameter, or one twice. Documents have section, pages and format; sets have format.");
    }
  }
  if (int(address.section.has_value()) + int(address.pages.has_value()) + int(address.format != output_format::default_format) >
      1) {
    return fail(errc::invalid_argument, "section, pages and format cannot be combined. Use one of them.");
  }
  return {};
}

}  // namespace

result<address> parse_address(std::string_view set, std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "docs" || parts.authority != set || parts.fragment) return document_not_found();
  address parsed;
  parsed.is_set = parts.path == "/";
  if (!parts.path.empty() && !parsed.is_set) {
    const auto written = parts.path.substr(1);
    // No name contains an escaped slash.
    if (written.find("%2F") != std::string_view::npos || written.ends_with('/')) return document_not_found();
    HONDANA_TRY(auto path, percent_decode(written));
    if (path.find('\0') != std::string::npos) return document_not_found();
    parsed.is_listed_form = written == percent_encode(path, true);
    parsed.path = std::move(path);
  }
  if (auto read = read_parameters(parts.query.value_or(std::string_view()), parsed); !read) {
    return tl::unexpected(std::move(read.error()));
  }
  return parsed;
}

}  // namespace hondana::docs
