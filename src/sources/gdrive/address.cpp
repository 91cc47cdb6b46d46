/// Parses the URIs of a Google Drive source, and encodes file and drive names for them.
#include "sources/gdrive/address.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/sha256.hpp"
#include "base/uri/query_parameters.hpp"
#include "sources/gdrive/drive/api_types.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::size_t id_digit_count = 8;
constexpr std::size_t max_base_bytes = ascii::max_slug_bytes - id_digit_count - 1;

std::string id_digits(std::string_view id) { return bytes::to_hex(bytes::sha256_of(id)).substr(0, id_digit_count); }

std::string replace_nul(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '\0' ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  return out;
}

}  // namespace

std::string path_segment(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return {};
  return percent_encode(language::to_nfc(replace_nul(name)));
}

std::string path_segment(std::string_view name, std::string_view id) {
  auto segment = percent_encode(language::to_nfc(replace_nul(name)));
  segment += id_separator;
  return segment += percent_encode(id);
}

std::string display_text(std::string_view name) {
  std::string out;
  for (const char c : language::to_nfc(name)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7F;
    if (!is_control) out += c;
    if (is_control && !out.ends_with(' ')) out += ' ';
  }
  return out;
}

std::string to_listed_uri(std::string_view uri) {
  std::string out;
  const auto authority = uri.find("://");
  auto begin = uri.find('/', authority == std::string_view::npos ? 0 : authority + 3);
  if (begin == std::string_view::npos) return std::string(uri);
  out += uri.substr(0, begin);
  while (begin != std::string_view::npos) {
    const auto end = uri.find('/', begin + 1);
    const auto segment = uri.substr(begin + 1, end == std::string_view::npos ? std::string_view::npos : end - begin - 1);
    if (segment.empty() && end == std::string_view::npos) break;
    const auto decoded = percent_decode(segment);
    out += '/';
    out += decoded ? percent_encode(language::to_nfc(*decoded)) : std::string(segment);
    begin = end;
  }
  return out;
}

std::map<std::string, std::string, std::less<>> make_slugs(const std::vector<drive::shared_drive>& drives) {
  std::map<std::string, std::string, std::less<>> bases;  // slug bases by drive id, ordered by id
  for (const auto& drive : drives) bases[drive.id] = ascii::slugify(drive.name);
  std::set<std::string, std::less<>> used_slugs{std::string(my_drive), std::string(shared_with_me)};
  std::map<std::string, std::string, std::less<>> slugs;
  for (const auto& [id, base] : bases) {
    auto slug = base.empty() ? "drive-" + id_digits(id) : base;
    if (used_slugs.contains(slug)) {
      auto shorter = slug.substr(0, max_base_bytes);
      while (shorter.ends_with('-')) shorter.pop_back();
      slug = shorter + '-' + id_digits(id);
    }
    // Another drive's name may already produce this slug: append a number.
    for (int number = 2; used_slugs.contains(slug); ++number) slug = "drive-" + id_digits(id) + '-' + std::to_string(number);
    used_slugs.insert(slug);
    slugs.emplace(id, std::move(slug));
  }
  return slugs;
}

namespace {

constexpr std::size_t max_sheet_name_bytes = 4096;

tl::unexpected<failure> invalid_address(std::string reason) {
  return fail(errc::resource_not_found, "File not found in this Drive.", std::move(reason));
}

constexpr std::array<std::string_view, 1> format_choices{"original"};
constexpr auto file_parameters = std::to_array<uri::query_parameter>({
    {.name = "sheet", .max_bytes = max_sheet_name_bytes},
    {.name = "format", .type = uri::parameter_type::choice, .choices = format_choices},
});

result<void> read_parameters(address& target, std::string_view scheme, std::optional<std::string_view> query) {
  using enum address::resource_kind;
  const bool is_list = target.kind == drive_list || target.kind == starred || target.kind == recent;
  HONDANA_TRY(const auto values, uri::parse_query(query, std::span(file_parameters).first(is_list ? 0 : 2),
                                                  std::string(scheme) + (is_list             ? ":///"
                                                                         : target.kind == id ? ":///ID"
                                                                                             : "://DRIVE/PATH")));
  HONDANA_TRY(values.allow_one_of({"sheet", "format"}));
  if (values.has("sheet")) target.sheet = values.text("sheet");
  target.is_original = values.has("format");
  return {};
}

}  // namespace

result<address> parse_address(std::string_view scheme, std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != scheme || !parts.authority || parts.fragment) return invalid_address("wrong scheme, or a fragment");
  address parsed;
  if (parts.authority->empty()) {
    auto path = parts.path;
    if (path.starts_with('/')) path.remove_prefix(1);
    if (path == "starred") {
      parsed.kind = address::resource_kind::starred;
    } else if (path == "recent") {
      parsed.kind = address::resource_kind::recent;
    } else if (!path.empty()) {
      if (!drive::is_id(path)) return invalid_address("not a Drive id");
      parsed.kind = address::resource_kind::id;
      parsed.id = path;
    }
  } else {
    if (!ascii::is_slug(*parts.authority)) return invalid_address("not the slug of a drive");
    // Listed URIs contain no empty segments. Only a trailing slash, as of a folder, is accepted.
    if (parts.path.find("//") != std::string_view::npos) return invalid_address("empty name in the path");
    parsed.kind = address::resource_kind::path;
    parsed.uri = uri.substr(0, uri.find('?'));
    if (parsed.uri.ends_with('/')) parsed.uri.pop_back();
  }
  HONDANA_TRY(read_parameters(parsed, scheme, parts.query));
  return parsed;
}

}  // namespace hondana::gdrive
