/// Resolving references and following pointers.
#include "protocol/schema/references.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include <hondana/uri.hpp>

namespace hondana::schema {
namespace {

/// RFC 3986 section 5.2.4.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool is_rooted = path.starts_with('/');
  bool ends_open = false;
  for (auto rest = is_rooted ? path.substr(1) : path;;) {
    const auto end = rest.find('/');
    const auto segment = rest.substr(0, end);
    ends_open = segment == "." || segment == "..";
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (segment != ".") {
      kept.push_back(segment);
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  std::string out;
  for (std::size_t index = 0; index < kept.size(); ++index) out.append(index == 0 && !is_rooted ? "" : "/").append(kept[index]);
  if (ends_open) out += '/';
  return out;
}

std::string merged(const uri_parts& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const auto slash = base.path.rfind('/');
  return std::string(slash == std::string_view::npos ? std::string_view() : base.path.substr(0, slash + 1)) + std::string(path);
}

std::string joined(const uri_parts& from) {
  std::string out;
  if (!from.scheme.empty()) out.append(from.scheme).append(":");
  if (from.authority) out.append("//").append(*from.authority);
  out.append(from.path);
  if (from.query) out.append("?").append(*from.query);
  if (from.fragment) out.append("#").append(*from.fragment);
  return out;
}

}  // namespace

std::string resolved(std::string_view base, std::string_view reference) {
  const auto from = split_uri(reference);
  if (!from.scheme.empty() || base.empty()) return std::string(reference);
  const auto against = split_uri(base);
  auto out = from;
  out.scheme = against.scheme;
  std::string path;
  if (from.authority) {
    path = without_dots(from.path);
  } else {
    out.authority = against.authority;
    if (from.path.empty()) {
      path = std::string(against.path);
      if (!from.query) out.query = against.query;
    } else {
      path = without_dots(from.path.starts_with('/') ? std::string(from.path) : merged(against, from.path));
    }
  }
  out.path = path;
  return joined(out);
}

const value* pointed(const value& root, std::string_view fragment) {
  const auto decoded = percent_decode(fragment);
  if (!decoded) return nullptr;
  const auto* place = &root;
  for (std::string_view rest(*decoded); place != nullptr && !rest.empty();) {
    if (rest.front() != '/') return nullptr;
    const auto end = std::min(rest.find('/', 1), rest.size());
    std::string name;
    for (std::size_t index = 1; index < end; ++index) {
      const bool is_escape = rest[index] == '~' && index + 1 < end && (rest[index + 1] == '0' || rest[index + 1] == '1');
      name.push_back(is_escape ? (rest[++index] == '0' ? '~' : '/') : rest[index]);
    }
    if (const auto* elements = place->as_array()) {
      std::size_t index = 0;
      const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), index);
      const bool is_index = error == std::errc{} && stop == name.data() + name.size();
      place = is_index && index < elements->size() ? &(*elements)[index] : nullptr;
    } else {
      place = place->find(name);
    }
    rest.remove_prefix(end);
  }
  return place;
}

}  // namespace hondana::schema
