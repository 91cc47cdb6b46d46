/// Encoding and splitting names.
#include "sources/docs/naming.hpp"

#include <algorithm>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "text/charsets/charsets.hpp"
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

}  // namespace hondana::docs
