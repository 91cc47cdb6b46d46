/// Maps URIs of the mounted server to ours, and back.
#include "sources/mcp/uri_mapping.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/uri/equivalent_uris.hpp"

namespace hondana::mcp {
namespace {

/// Escapes ASCII characters that RFC 3986 allows nowhere in a path or query, and percent signs that begin no escape.
std::string escaped(std::string_view text) {
  constexpr std::string_view nowhere = " \"<>[]\\^`{|}";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  bool has_fragment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool is_lone =
        c == '%' && !(i + 2 < text.size() && ascii::is_hex_digit(text[i + 1]) && ascii::is_hex_digit(text[i + 2]));
    const bool is_second_fragment = c == '#' && std::exchange(has_fragment, has_fragment || c == '#');
    if (byte < 0x20 || byte == 0x7f || is_lone || is_second_fragment || nowhere.find(c) != std::string_view::npos) {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

// Limit of bytes examined to match one URI; a URI that needs more matches nothing.
constexpr std::uint64_t most_steps = 10'000'000;

}  // namespace

result<std::string> naming::ours(std::string_view theirs) const {
  if (theirs.empty()) return fail(errc::invalid_argument, "an empty URI");
  if (theirs.size() > max_uri_bytes)
    return fail(errc::invalid_argument, "longer than " + std::to_string(max_uri_bytes) + " bytes");
  auto plain = canonical_uri(prefix_ + std::string(theirs));
  if (!plain) plain = canonical_uri(prefix_ + escaped(theirs));
  if (!plain) return plain;
  // Leading dot segments would leave the prefix.
  if (!plain->starts_with(prefix_) || plain->size() == prefix_.size())
    return fail(errc::invalid_argument, "it leads outside the mount's prefix");
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
  const auto spellings = uri::spellings_of(theirs);
  // Both pattern lists share one limit. A URI that exceeds it is left out.
  std::uint64_t steps = 0;
  const auto fitting = [&](const pattern& one) {
    return std::any_of(spellings.begin(), spellings.end(),
                       [&](const std::string& way) { return one.compiled.matches(way, steps, most_steps); });
  };
  // A URI with two readings must be included by both, and excluded by none.
  const auto plain = uri::plain_reading(theirs);
  const auto fits_plainly = [&](const pattern& one) { return one.compiled.matches(*plain, steps, most_steps); };
  const bool is_wanted = include_.empty() || (std::any_of(include_.begin(), include_.end(), fitting) &&
                                              (!plain || std::any_of(include_.begin(), include_.end(), fits_plainly)));
  const auto barred = std::find_if(exclude_.begin(), exclude_.end(),
                                   [&](const pattern& one) { return fitting(one) || (plain && fits_plainly(one)); });
  if (steps > most_steps) return "matching include and exclude against this URI takes too long";
  if (!is_wanted) return "no include pattern matches it";
  if (barred != exclude_.end()) return "it matches the exclude pattern \"" + barred->text + '"';
  return {};
}

}  // namespace hondana::mcp
