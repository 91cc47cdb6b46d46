/// Parses and builds URIs and paths of documents.
#include "sources/docs/document_uri.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/uri/query_parameters.hpp"
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

/// In the order of `output_format`. Sets have no original.
constexpr std::array<std::string_view, 3> format_choices{"outline", "json", "original"};
constexpr auto document_parameters = std::to_array<uri::query_parameter>({
    {.name = "section", .max_bytes = max_section_bytes},
    {.name = "pages", .type = uri::parameter_type::range, .min = 1},
    {.name = "format", .type = uri::parameter_type::choice, .choices = format_choices},
});
constexpr auto set_parameters = std::to_array<uri::query_parameter>({
    {.name = "format", .type = uri::parameter_type::choice, .choices = std::span(format_choices).first(2)},
});

tl::unexpected<failure> document_not_found() { return fail(errc::resource_not_found, "Document not found in this set."); }

result<void> read_parameters(std::string_view query, address& address) {
  HONDANA_TRY(const auto values, address.is_set ? uri::parse_query(query, set_parameters, "docs://SET/")
                                                : uri::parse_query(query, document_parameters, "docs://SET/PATH"));
  // Access rules that name a URI with its parameter would not match another spelling of it.
  if (query.find('&') != std::string_view::npos)
    return fail(errc::invalid_argument, "section, pages and format cannot be combined. Use one of them, without \"&\".");
  if (values.has("section")) address.section = values.text("section");
  if (const auto pages = values.range("pages"))
    address.pages.emplace(pages->first, pages->last.value_or(std::numeric_limits<std::size_t>::max()));
  if (values.has("format")) {
    const auto* const position = std::find(format_choices.begin(), format_choices.end(), values.text("format"));
    address.format = static_cast<output_format>(position - format_choices.begin() + 1);
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
