/// Parses the URIs of a Google Drive source, and encodes file and drive names for them.
#include "sources/gdrive/address.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/sha256.hpp"
#include "base/uri/uri_syntax.hpp"
#include "sources/gdrive/drive/api_types.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::size_t digits_of_id = 8;
constexpr std::size_t longest_base = ascii::longest_slug - digits_of_id - 1;

std::string digits_of(std::string_view id) { return bytes::to_hex(bytes::sha256_of(id)).substr(0, digits_of_id); }

std::string without_nul(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '\0' ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  return out;
}

}  // namespace

std::string segment_of(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return {};
  return percent_encode(language::composed(without_nul(name)));
}

std::string segment_of(std::string_view name, std::string_view id) {
  auto made = percent_encode(language::composed(without_nul(name)));
  made += id_mark;
  return made += percent_encode(id);
}

std::string shown(std::string_view name) {
  std::string out;
  for (const char c : language::composed(name)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7F;
    if (!is_control) out += c;
    if (is_control && !out.ends_with(' ')) out += ' ';
  }
  return out;
}

std::string listed_spelling(std::string_view uri) {
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
    out += decoded ? percent_encode(language::composed(*decoded)) : std::string(segment);
    begin = end;
  }
  return out;
}

std::map<std::string, std::string, std::less<>> slugs_of(const std::vector<drive::shared_drive>& all) {
  std::map<std::string, std::string, std::less<>> bases;  // slug bases by drive id, ordered by id
  for (const auto& one : all) bases[one.id] = ascii::slug_of(one.name);
  std::set<std::string, std::less<>> taken{std::string(my_drive), std::string(shared_with_me)};
  std::map<std::string, std::string, std::less<>> made;
  for (const auto& [id, base] : bases) {
    auto slug = base.empty() ? "drive-" + digits_of(id) : base;
    if (taken.contains(slug)) {
      auto shorter = slug.substr(0, longest_base);
      while (shorter.ends_with('-')) shorter.pop_back();
      slug = shorter + '-' + digits_of(id);
    }
    // Another drive's name may already produce this slug: append a number.
    for (int more = 2; taken.contains(slug); ++more) slug = "drive-" + digits_of(id) + '-' + std::to_string(more);
    taken.insert(slug);
    made.emplace(id, std::move(slug));
  }
  return made;
}

namespace {

constexpr std::size_t longest_sheet_name = 4096;

tl::unexpected<failure> no_such_file(std::string what) {
  return fail(errc::resource_not_found, "File not found in this Drive.", std::move(what));
}

result<void> read_parameters(std::string_view query, address& into) {
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    HONDANA_TRY(auto said, percent_decode(written));
    if (name == "sheet" && !into.sheet) {
      if (said.empty() || said.size() > longest_sheet_name)
        return fail(errc::invalid_argument, "sheet: expected a sheet name.");
      into.sheet = std::move(said);
    } else if (name == "format" && !into.is_original) {
      if (said != "original")
        return fail(errc::invalid_argument,
                    "format: unknown value. Use format=original for the file itself (not for Docs, Sheets or Slides), or leave "
                    "it out for the text.");
      into.is_original = true;
    } else {
      const bool is_twice = name == "sheet" || name == "format";
      return fail(errc::invalid_argument, "The URI parameter \"" + std::string(name) + "\" is " +
                                              (is_twice ? "given twice" : "unknown") +
                                              ". Spreadsheets accept sheet, other files format.");
    }
  }
  if (into.sheet && into.is_original)
    return fail(errc::invalid_argument, "sheet and format cannot be combined. Use one of them.");
  const bool has_parts = into.what == address::place::id || into.what == address::place::path;
  if (!has_parts && (into.sheet || into.is_original))
    return fail(errc::invalid_argument, "A list of files takes no parameters. Leave them out.");
  return {};
}

}  // namespace

result<address> address_of(std::string_view scheme, std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != scheme || !parts.authority || parts.fragment) return no_such_file("wrong scheme, or a fragment");
  address made;
  if (parts.authority->empty()) {
    auto path = parts.path;
    if (path.starts_with('/')) path.remove_prefix(1);
    if (path == "starred") {
      made.what = address::place::starred;
    } else if (path == "recent") {
      made.what = address::place::recent;
    } else if (!path.empty()) {
      if (!drive::is_id(path)) return no_such_file("not a Drive id");
      made.what = address::place::id;
      made.id = path;
    }
  } else {
    if (!ascii::is_slug(*parts.authority)) return no_such_file("not the slug of a drive");
    // Listed URIs contain no empty segments. Only a trailing slash, as of a folder, is accepted.
    if (parts.path.find("//") != std::string_view::npos) return no_such_file("empty name in the path");
    made.what = address::place::path;
    made.uri = uri.substr(0, uri.find('?'));
    if (made.uri.ends_with('/')) made.uri.pop_back();
  }
  HONDANA_TRY(read_parameters(parts.query.value_or(std::string_view()), made));
  return made;
}

}  // namespace hondana::gdrive
