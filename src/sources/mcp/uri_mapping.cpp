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
std::string escape(std::string_view text) {
  constexpr std::string_view forbidden = " \"<>[]\\^`{|}";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  bool has_fragment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool is_lone_percent =
        c == '%' && !(i + 2 < text.size() && ascii::is_hex_digit(text[i + 1]) && ascii::is_hex_digit(text[i + 2]));
    const bool is_second_fragment = c == '#' && std::exchange(has_fragment, has_fragment || c == '#');
    if (byte < 0x20 || byte == 0x7f || is_lone_percent || is_second_fragment || forbidden.find(c) != std::string_view::npos) {
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

// Limit of bytes examined to match one URI; a URI that needs more matches nothing.
constexpr std::uint64_t max_match_steps = 10'000'000;

}  // namespace

result<std::string> uri_mapping::to_local(std::string_view remote_uri) const {
  if (remote_uri.empty()) return fail(errc::invalid_argument, "an empty URI");
  if (remote_uri.size() > max_uri_bytes)
    return fail(errc::invalid_argument, "longer than " + std::to_string(max_uri_bytes) + " bytes");
  auto canonical = canonical_uri(prefix_ + std::string(remote_uri));
  if (!canonical) canonical = canonical_uri(prefix_ + escape(remote_uri));
  if (!canonical) return canonical;
  // Leading dot segments would leave the prefix.
  if (!canonical->starts_with(prefix_) || canonical->size() == prefix_.size())
    return fail(errc::invalid_argument, "it leads outside the mount's prefix");
  return canonical;
}

std::optional<std::string> uri_mapping::to_remote(std::string_view local_uri) const {
  if (!local_uri.starts_with(prefix_) || local_uri.size() == prefix_.size()) return std::nullopt;
  return std::string(local_uri.substr(prefix_.size()));
}

std::size_t uri_mapping::count_passes(std::string_view remote_uri) const {
  std::size_t count = 0;
  for (auto position = remote_uri.find(prefix_); position != std::string_view::npos;
       position = remote_uri.find(prefix_, position + prefix_.size()))
    ++count;
  return count;
}

uri_filter::uri_filter(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
  for (const auto& include_text : include) include_.push_back({include_text, ignore::glob::for_path(include_text)});
  for (const auto& exclude_text : exclude) exclude_.push_back({exclude_text, ignore::glob::for_path(exclude_text)});
}

/// A URI in the spellings that patterns are compared with. All comparisons share one limit of steps.
class uri_filter::spellings {
 public:
  explicit spellings(std::string_view uri) : forms_(uri::equivalent_forms(uri)), lenient_form_(uri::lenient_form(uri)) {}

  [[nodiscard]] bool has_lenient_form() const noexcept { return lenient_form_.has_value(); }
  [[nodiscard]] bool match(const ignore::glob& pattern) {
    return std::any_of(forms_.begin(), forms_.end(),
                       [&](const std::string& form) { return pattern.matches(form, steps_, max_match_steps); });
  }
  [[nodiscard]] bool match_leniently(const ignore::glob& pattern) {
    return lenient_form_ && pattern.matches(*lenient_form_, steps_, max_match_steps);
  }
  /// Whether the limit is exceeded. Then the results are meaningless, and the URI is left out.
  [[nodiscard]] bool is_too_expensive() const noexcept { return steps_ > max_match_steps; }

 private:
  std::vector<std::string> forms_;
  std::optional<std::string> lenient_form_;
  std::uint64_t steps_ = 0;
};

const uri_filter::pattern* uri_filter::find_exclusion(spellings& uri) const {
  const auto exclusion = std::find_if(exclude_.begin(), exclude_.end(), [&](const pattern& rule) {
    return uri.match(rule.compiled) || uri.match_leniently(rule.compiled);
  });
  return exclusion == exclude_.end() ? nullptr : &*exclusion;
}

std::string uri_filter::rejection_reason(std::string_view remote_uri) const {
  if (include_.empty() && exclude_.empty()) return {};
  spellings uri(remote_uri);
  // A URI with two readings must be included by both, and excluded by none.
  const bool is_included =
      include_.empty() ||
      (std::any_of(include_.begin(), include_.end(), [&](const pattern& rule) { return uri.match(rule.compiled); }) &&
       (!uri.has_lenient_form() || std::any_of(include_.begin(), include_.end(),
                                               [&](const pattern& rule) { return uri.match_leniently(rule.compiled); })));
  const auto* exclusion = find_exclusion(uri);
  if (uri.is_too_expensive()) return "matching include and exclude against this URI takes too long";
  if (!is_included) return "no include pattern matches it";
  if (exclusion != nullptr) return "it matches the exclude pattern \"" + exclusion->text + '"';
  return {};
}

bool uri_filter::excludes(std::string_view remote_uri) const {
  if (exclude_.empty()) return false;
  spellings uri(remote_uri);
  return find_exclusion(uri) != nullptr || uri.is_too_expensive();
}

bool uri_filter::may_include_below(std::string_view remote_prefix) const {
  if (include_.empty()) return true;
  const auto forms = uri::equivalent_forms(remote_prefix);
  return std::any_of(include_.begin(), include_.end(), [&](const pattern& rule) {
    const auto literal = ignore::literal_start(rule.text);
    return std::any_of(forms.begin(), forms.end(),
                       [literal](const std::string& form) { return literal.starts_with(form) || form.starts_with(literal); });
  });
}

}  // namespace hondana::mcp
