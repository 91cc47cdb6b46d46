/// Maps URIs of the mounted server to ours, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/glob.hpp"

namespace hondana::mcp {

/// Our URIs are a prefix and the URI of the mounted server. Immutable. Threads: any.
class uri_mapping {
 public:
  /// `prefix`: canonical, with a final slash.
  explicit uri_mapping(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// The canonical local URI for a remote one. Bytes that a URI cannot contain are escaped. Errors: invalid_argument, saying
  /// what is wrong.
  [[nodiscard]] result<std::string> to_local(std::string_view remote_uri) const;
  /// The remote URI: the part after the prefix; empty if the URI does not begin with it.
  [[nodiscard]] std::optional<std::string> to_remote(std::string_view local_uri) const;
  /// How often the prefix occurs in a remote URI: once for each time that it passed this mount.
  [[nodiscard]] std::size_t count_passes(std::string_view remote_uri) const;

 private:
  std::string prefix_;
};

/// Which resources of the other server are served. Immutable. Threads: any.
class uri_filter {
 public:
  uri_filter(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  /// Why a remote URI is left out, naming the rule; empty if it is served. Rules for a resource also apply to its parts
  /// (with a query or fragment), and to other spellings of its URI. Other spellings have escaped slashes or dots, or empty or
  /// dot segments.
  [[nodiscard]] std::string rejection_reason(std::string_view remote_uri) const;

 private:
  struct pattern {
    std::string text;
    ignore::glob compiled;
  };
  std::vector<pattern> include_;
  std::vector<pattern> exclude_;
};

}  // namespace hondana::mcp
