/// Prefixes put before URIs and taken away again.
#include "providers/mcp/naming.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <hondana/uri.hpp>

namespace hondana::mcp {
namespace {

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }

/// Escapes ASCII that RFC 3986 has nowhere in a path or query, and per cents that begin no escape.
std::string escaped(std::string_view text) {
  constexpr std::string_view nowhere = " \"<>[]\\^`{|}";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  bool has_fragment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool is_lone = c == '%' && !(i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2]));
    const bool is_second_fragment = c == '#' && std::exchange(has_fragment, has_fragment || c == '#');
    if (byte < 0x20 || byte == 0x7f || is_lone || is_second_fragment || nowhere.find(c) != std::string_view::npos) {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

// Of the bytes that matching one URI may look at; what takes longer fits nothing.
constexpr std::uint64_t most_steps = 10'000'000;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A URI's path as a program reads it that unescapes before it looks for segments, and to which empty ones are none: nothing
/// when that is how it is written.
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

/// The ways to write a URI that a server is likely to take for the same resource, or for a part of it: a resource is left out
/// with all its parts, however it is asked for.
std::vector<std::string> spellings_of(std::string_view theirs) {
  std::vector<std::string> all{std::string(theirs)};
  const auto add = [&all](std::string one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  };
  if (auto canonical = canonical_uri(theirs)) {
    if (const auto host = split_uri(*canonical).authority) {
      auto lowered = *canonical;
      const auto at = static_cast<std::size_t>(host->data() - canonical->data());
      for (auto i = at; i < at + host->size(); ++i) lowered[i] = lower(lowered[i]);
      add(std::move(lowered));
    }
    add(std::move(*canonical));
  }
  for (std::size_t i = 0, whole = all.size(); i < whole; ++i) add(all[i].substr(0, all[i].find_first_of("?#")));
  for (std::size_t i = 0, whole = all.size(); i < whole; ++i) {
    if (all[i].ends_with('/')) add(all[i].substr(0, all[i].size() - 1));
  }
  return all;
}

}  // namespace

result<std::string> naming::ours(std::string_view theirs) const {
  if (theirs.empty()) return fail(errc::invalid_argument, "an empty URI");
  if (theirs.size() > max_uri_bytes)
    return fail(errc::invalid_argument, "longer than " + std::to_string(max_uri_bytes) + " bytes");
  auto plain = canonical_uri(prefix_ + std::string(theirs));
  if (!plain) plain = canonical_uri(prefix_ + escaped(theirs));
  if (!plain) return plain;
  // Dot segments at its front would lead out of the mount.
  if (!plain->starts_with(prefix_) || plain->size() == prefix_.size())
    return fail(errc::invalid_argument, "it leads out of the mount");
  return plain;
}

std::optional<std::string> naming::theirs(std::string_view ours) const {
  if (!ours.starts_with(prefix_) || ours.size() == prefix_.size()) return std::nullopt;
  return std::string(ours.substr(prefix_.size()));
}

std::size_t naming::turns(std::string_view theirs) const {
  std::size_t count = 0;
  for (auto at = theirs.find(prefix_); at != std::string_view::npos; at = theirs.find(prefix_, at + prefix_.size())) ++count;
  return count;
}

rules::rules(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
  for (const auto& one : include) include_.push_back({one, ignore::glob::for_path(one)});
  for (const auto& one : exclude) exclude_.push_back({one, ignore::glob::for_path(one)});
}

std::string rules::reason_against(std::string_view theirs) const {
  if (include_.empty() && exclude_.empty()) return {};
  const auto spellings = spellings_of(theirs);
  // Both lists look at what they can within the same bound; a URI that takes more is left out, whatever it would fit.
  std::uint64_t steps = 0;
  const auto fitting = [&](const pattern& one) {
    return std::any_of(spellings.begin(), spellings.end(),
                       [&](const std::string& uri) { return one.compiled.matches(uri, steps, most_steps); });
  };
  // What is read in two ways must fit in both, and be barred in none.
  const auto plain = plain_reading(theirs);
  const auto fits_plainly = [&](const pattern& one) { return one.compiled.matches(*plain, steps, most_steps); };
  const bool is_wanted = include_.empty() || (std::any_of(include_.begin(), include_.end(), fitting) &&
                                              (!plain || std::any_of(include_.begin(), include_.end(), fits_plainly)));
  const auto barred = std::find_if(exclude_.begin(), exclude_.end(),
                                   [&](const pattern& one) { return fitting(one) || (plain && fits_plainly(one)); });
  if (steps > most_steps) return "include and exclude take too long to compare with this URI";
  if (!is_wanted) return "it fits no pattern of include";
  if (barred != exclude_.end()) return "exclude has \"" + barred->text + '"';
  return {};
}

}  // namespace hondana::mcp
