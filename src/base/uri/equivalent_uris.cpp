/// Alternative spellings of a URI that programs are likely to treat as the same resource.
#include "base/uri/equivalent_uris.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"

namespace hondana::uri {
namespace {

// The maximum number of nested URIs. A mount of a mount of a mount has three.
constexpr std::size_t most_inside = 4;

void add_new(std::vector<std::string>& all, std::string one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
}

/// Whether `before` ends with the prefix of a mounted server.
bool ends_with_mount(std::string_view before, std::span<const std::string> mounts) {
  const auto name = before.size() < 2 ? std::string_view::npos : before.rfind('/', before.size() - 2);
  if (name != std::string_view::npos && ascii::ends_with(before.substr(0, name + 1), "mcp://")) return true;
  return std::any_of(mounts.begin(), mounts.end(), [before](const std::string& one) { return ascii::ends_with(before, one); });
}

/// Whether a URI begins at `at`, which follows a slash.
/// It needs a scheme, then a path that starts with a slash. Directly after the prefix of a mounted server, any path is
/// accepted. Elsewhere `Category:Shelves` is only a name.
bool begins_uri(std::string_view whole, std::size_t at, std::span<const std::string> mounts) {
  const auto rest = whole.substr(at);
  const auto end = rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.");
  if (end == std::string_view::npos || rest[end] != ':' || !ascii::is_letter(rest[0])) return false;
  const auto path = rest.substr(end + 1);
  if (path.starts_with('/') || path.starts_with("%2F") || path.starts_with("%5C")) return true;
  return ends_with_mount(whole.substr(0, at), mounts);
}

/// The positions at which the URIs in the path of `uri` begin, at most `most_inside` + 1.
std::vector<std::size_t> places_inside(std::string_view uri, std::span<const std::string> mounts) {
  std::vector<std::size_t> all;
  const auto whole = uri.substr(0, uri.find_first_of("?#"));
  const auto scheme = whole.find(':');
  if (scheme == std::string_view::npos || whole.find(':', scheme + 1) == std::string_view::npos) return all;
  for (auto slash = whole.find('/', scheme); slash != std::string_view::npos && all.size() <= most_inside;
       slash = whole.find('/', slash + 1)) {
    if (begins_uri(whole, slash + 1, mounts)) all.push_back(slash + 1);
  }
  return all;
}

}  // namespace

std::optional<std::string> plain_reading(std::string_view uri) {
  const auto whole = uri.substr(0, uri.find_first_of("?#"));
  auto from = whole.find(':');
  if (from == std::string_view::npos) return std::nullopt;
  ++from;
  if (whole.substr(from).starts_with("//")) from = std::min(whole.find('/', from + 2), whole.size());
  std::string path;
  for (std::size_t at = from; at < whole.size(); ++at) {
    const auto three = whole.substr(at, 3);
    const bool is_slash = three == "%2F" || three == "%2f" || three == "%5C" || three == "%5c";
    const bool is_dot = three == "%2E" || three == "%2e";
    path += is_slash || whole[at] == '\\' ? '/' : is_dot ? '.' : whole[at];
    if (is_slash || is_dot) at += 2;
  }
  std::vector<std::string_view> kept;
  const std::string_view all(path);
  for (std::size_t at = 0; at <= all.size();) {
    const auto end = std::min(all.find('/', at), all.size());
    const auto one = all.substr(at, end - at);
    if (one == ".." && !kept.empty()) kept.pop_back();
    if (!one.empty() && one != "." && one != "..") kept.push_back(one);
    at = end + 1;
  }
  std::string out(whole.substr(0, from));
  if (all.starts_with('/')) out += '/';
  for (const auto one : kept) out += std::string(one) + '/';
  if (!kept.empty() && !all.ends_with('/')) out.pop_back();
  return out == whole ? std::nullopt : std::optional(std::move(out));
}

std::vector<std::string> spellings_of(std::string_view uri) {
  std::vector<std::string> all{std::string(uri)};
  if (auto canonical = canonical_uri(uri)) {
    if (const auto host = split_uri(*canonical).authority) {
      auto lowered = *canonical;
      const auto at = static_cast<std::size_t>(host->data() - canonical->data());
      for (auto i = at; i < at + host->size(); ++i) lowered[i] = ascii::lower(lowered[i]);
      add_new(all, std::move(lowered));
    }
    add_new(all, std::move(*canonical));
  }
  for (std::size_t i = 0, whole = all.size(); i < whole; ++i) add_new(all, all[i].substr(0, all[i].find_first_of("?#")));
  for (std::size_t i = 0, whole = all.size(); i < whole; ++i) {
    if (all[i].ends_with('/')) add_new(all, all[i].substr(0, all[i].size() - 1));
  }
  return all;
}

std::optional<std::vector<std::string>> spellings_inside(std::string_view uri, std::span<const std::string> mounts,
                                                         std::size_t& spent) {
  const auto places = places_inside(uri, mounts);
  if (places.size() > most_inside) return std::nullopt;
  if (places.empty()) return std::vector<std::string>();
  std::vector<std::string> all{std::string(uri)};
  std::size_t left = most_bytes_of_spellings;
  const auto take = [&](std::size_t bytes) {
    spent += std::min(bytes, left);
    left -= std::min(bytes, left);
    return left != 0;
  };
  // The innermost first, because the text before a position does not change.
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const auto before = uri.substr(0, *place);
    for (std::size_t i = 0, known = all.size(); i < known; ++i) {
      const auto inner = all[i].substr(*place);
      if (!take(inner.size())) return std::nullopt;
      auto ways = spellings_of(inner);
      if (const auto plain = plain_reading(inner)) {
        if (!take(plain->size())) return std::nullopt;
        std::ranges::move(spellings_of(*plain), std::back_inserter(ways));
      }
      for (const auto& way : ways) {
        const auto had = all.size();
        add_new(all, std::string(before) + way);
        if (all.size() != had && !take(all.back().size())) return std::nullopt;
      }
      if (all.size() > most_spellings) return std::nullopt;
    }
  }
  // Callers compare these two anyway.
  std::erase_if(all,
                [uri, whole = uri.substr(0, uri.find_first_of("?#"))](const auto& one) { return one == uri || one == whole; });
  return all;
}

}  // namespace hondana::uri
