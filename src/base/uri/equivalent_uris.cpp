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
constexpr std::size_t max_nested_uris = 4;

void add_unique(std::vector<std::string>& forms, std::string form) {
  if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(std::move(form));
}

/// Whether `prefix` ends with the prefix of a mounted server.
bool ends_with_mount(std::string_view prefix, std::span<const std::string> mounts) {
  const auto name = prefix.size() < 2 ? std::string_view::npos : prefix.rfind('/', prefix.size() - 2);
  if (name != std::string_view::npos && ascii::ends_with_ignore_case(prefix.substr(0, name + 1), "mcp://")) return true;
  return std::any_of(mounts.begin(), mounts.end(),
                     [prefix](const std::string& mount) { return ascii::ends_with_ignore_case(prefix, mount); });
}

/// Whether a URI begins at `position`, which follows a slash.
/// It needs a scheme, then a path that starts with a slash. Directly after the prefix of a mounted server, any path is
/// accepted. Elsewhere `Category:Shelves` is only a name.
bool begins_uri(std::string_view uri, std::size_t position, std::span<const std::string> mounts) {
  const auto remaining = uri.substr(position);
  const auto end = remaining.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.");
  if (end == std::string_view::npos || remaining[end] != ':' || !ascii::is_letter(remaining[0])) return false;
  const auto path = remaining.substr(end + 1);
  if (path.starts_with('/') || path.starts_with("%2F") || path.starts_with("%5C")) return true;
  return ends_with_mount(uri.substr(0, position), mounts);
}

/// The positions at which the URIs in the path of `uri` begin, at most `max_nested_uris` + 1.
std::vector<std::size_t> nested_uri_positions(std::string_view uri, std::span<const std::string> mounts) {
  std::vector<std::size_t> positions;
  const auto base = uri.substr(0, uri.find_first_of("?#"));
  const auto scheme = base.find(':');
  if (scheme == std::string_view::npos || base.find(':', scheme + 1) == std::string_view::npos) return positions;
  for (auto slash = base.find('/', scheme); slash != std::string_view::npos && positions.size() <= max_nested_uris;
       slash = base.find('/', slash + 1)) {
    if (begins_uri(base, slash + 1, mounts)) positions.push_back(slash + 1);
  }
  return positions;
}

}  // namespace

std::optional<std::string> lenient_form(std::string_view uri) {
  const auto base = uri.substr(0, uri.find_first_of("?#"));
  auto path_start = base.find(':');
  if (path_start == std::string_view::npos) return std::nullopt;
  ++path_start;
  if (base.substr(path_start).starts_with("//")) path_start = std::min(base.find('/', path_start + 2), base.size());
  std::string path;
  for (std::size_t index = path_start; index < base.size(); ++index) {
    const auto escape = base.substr(index, 3);
    const bool is_slash = escape == "%2F" || escape == "%2f" || escape == "%5C" || escape == "%5c";
    const bool is_dot = escape == "%2E" || escape == "%2e";
    path += is_slash || base[index] == '\\' ? '/' : is_dot ? '.' : base[index];
    if (is_slash || is_dot) index += 2;
  }
  std::vector<std::string_view> segments;
  const std::string_view unescaped(path);
  for (std::size_t position = 0; position <= unescaped.size();) {
    const auto end = std::min(unescaped.find('/', position), unescaped.size());
    const auto segment = unescaped.substr(position, end - position);
    if (segment == ".." && !segments.empty()) segments.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") segments.push_back(segment);
    position = end + 1;
  }
  std::string out(base.substr(0, path_start));
  if (unescaped.starts_with('/')) out += '/';
  for (const auto segment : segments) out += std::string(segment) + '/';
  if (!segments.empty() && !unescaped.ends_with('/')) out.pop_back();
  return out == base ? std::nullopt : std::optional(std::move(out));
}

std::vector<std::string> equivalent_forms(std::string_view uri) {
  std::vector<std::string> forms{std::string(uri)};
  if (auto canonical = canonical_uri(uri)) {
    if (const auto host = split_uri(*canonical).authority) {
      auto lowered = *canonical;
      const auto host_start = static_cast<std::size_t>(host->data() - canonical->data());
      for (auto i = host_start; i < host_start + host->size(); ++i) lowered[i] = ascii::to_lower(lowered[i]);
      add_unique(forms, std::move(lowered));
    }
    add_unique(forms, std::move(*canonical));
  }
  for (std::size_t i = 0, form_count = forms.size(); i < form_count; ++i)
    add_unique(forms, forms[i].substr(0, forms[i].find_first_of("?#")));
  for (std::size_t i = 0, with_slash_count = forms.size(); i < with_slash_count; ++i) {
    if (forms[i].ends_with('/')) add_unique(forms, forms[i].substr(0, forms[i].size() - 1));
  }
  return forms;
}

std::optional<std::vector<std::string>> nested_equivalent_forms(std::string_view uri, std::span<const std::string> mounts,
                                                                std::size_t& bytes_spent) {
  const auto positions = nested_uri_positions(uri, mounts);
  if (positions.size() > max_nested_uris) return std::nullopt;
  if (positions.empty()) return std::vector<std::string>();
  std::vector<std::string> forms{std::string(uri)};
  std::size_t remaining = max_nested_form_bytes;
  const auto consume = [&](std::size_t bytes) {
    bytes_spent += std::min(bytes, remaining);
    remaining -= std::min(bytes, remaining);
    return remaining != 0;
  };
  // The innermost first, because the text before a position does not change.
  for (auto position = positions.rbegin(); position != positions.rend(); ++position) {
    const auto prefix = uri.substr(0, *position);
    for (std::size_t i = 0, form_count = forms.size(); i < form_count; ++i) {
      const auto inner = forms[i].substr(*position);
      if (!consume(inner.size())) return std::nullopt;
      auto inner_forms = equivalent_forms(inner);
      if (const auto lenient = lenient_form(inner)) {
        if (!consume(lenient->size())) return std::nullopt;
        std::ranges::move(equivalent_forms(*lenient), std::back_inserter(inner_forms));
      }
      for (const auto& form : inner_forms) {
        const auto previous_size = forms.size();
        add_unique(forms, std::string(prefix) + form);
        if (forms.size() != previous_size && !consume(forms.back().size())) return std::nullopt;
      }
      if (forms.size() > max_nested_forms) return std::nullopt;
    }
  }
  // Callers compare these two anyway.
  std::erase_if(forms,
                [uri, base = uri.substr(0, uri.find_first_of("?#"))](const auto& form) { return form == uri || form == base; });
  return forms;
}

}  // namespace hondana::uri
