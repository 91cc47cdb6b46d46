/// Ids, paths and parameters.
#include "sources/gdrive/address.hpp"

#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/slug.hpp"
#include "base/uri/query.hpp"
#include "sources/gdrive/drive/ids.hpp"

namespace hondana::gdrive {
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
    // Names are never empty in lists: only a folder's own slash at the end may be one too many.
    if (parts.path.find("//") != std::string_view::npos) return no_such_file("empty name in the path");
    made.what = address::place::path;
    made.uri = uri.substr(0, uri.find('?'));
    if (made.uri.ends_with('/')) made.uri.pop_back();
  }
  HONDANA_TRY(read_parameters(parts.query.value_or(std::string_view()), made));
  return made;
}

}  // namespace hondana::gdrive
