/// Maps URIs of the mounted server (remote URIs) to URIs of this server (local URIs), and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/glob.hpp"

namespace hondana::mcp {

/// A local URI consists of the mount's prefix and the remote URI. Immutable. Threads: any.
class uri_mapping {
 public:
  /// `prefix`: canonical, with a final slash.
  explicit uri_mapping(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// Returns the canonical local URI. Escapes bytes that a URI cannot contain. Errors: invalid_argument for a URI that is
  /// empty, too long or malformed, or leads outside the prefix.
  [[nodiscard]] result<std::string> to_local(std::string_view remote_uri) const;
  /// Returns the part after the prefix; nullopt if there is none. The mounted server may spell the URI in another way: see
  /// `list_snapshot::remote_uri_of`.
  [[nodiscard]] std::optional<std::string> to_remote(std::string_view local_uri) const;
  /// Counts the prefix in a remote URI: it occurs once for each time that the URI passed this mount.
  [[nodiscard]] std::size_t count_passes(std::string_view remote_uri) const;

 private:
  std::string prefix_;
};

/// Decides which resources of the mounted server are served. Immutable. Threads: any.
class uri_filter {
 public:
  /// The patterns must be valid; see `mount_options`.
  uri_filter(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  /// Returns why a remote URI is left out, with the pattern; empty if it is served. Patterns for a resource also apply to its
  /// parts (with a query or fragment), and to other spellings of its URI. Other spellings have escaped slashes or dots, or
  /// empty or dot segments.
  [[nodiscard]] std::string rejection_reason(std::string_view remote_uri) const;
  /// Whether an exclude pattern matches a remote URI, regardless of the include patterns.
  [[nodiscard]] bool excludes(std::string_view remote_uri) const;
  /// False if no remote URI that begins with `remote_prefix` can match an include pattern.
  [[nodiscard]] bool may_include_below(std::string_view remote_prefix) const;

 private:
  class spellings;
  struct pattern {
    std::string text;
    ignore::glob compiled;
  };
  /// The first exclude pattern that matches; null if there is none.
  [[nodiscard]] const pattern* find_exclusion(spellings& uri) const;

  std::vector<pattern> include_;
  std::vector<pattern> exclude_;
};

}  // namespace hondana::mcp
