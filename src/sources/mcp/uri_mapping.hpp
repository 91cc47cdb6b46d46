/// Maps URIs of the mounted server to ours and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/glob.hpp"

namespace hondana::mcp {

/// Theirs behind our prefix. Immutable. Threads: any.
class naming {
 public:
  /// `prefix`: canonical, with a slash at its end.
  explicit naming(std::string prefix) : prefix_(std::move(prefix)) {}

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  /// The canonical URI for theirs; bytes that no URI has are escaped. Errors: invalid_argument, what is wrong with it.
  [[nodiscard]] result<std::string> ours(std::string_view theirs) const;
  /// What stands behind the prefix of one of ours; nothing when it is none.
  [[nodiscard]] std::optional<std::string> theirs(std::string_view ours) const;
  /// How often the prefix stands in one of theirs: what has come through this mount before has it.
  [[nodiscard]] std::size_t turns(std::string_view theirs) const;

 private:
  std::string prefix_;
};

/// What of the other server is served. Immutable. Threads: any.
class rules {
 public:
  rules(const std::vector<std::string>& include, const std::vector<std::string>& exclude);

  /// Why a URI of theirs is left out, naming the rule; empty when it is served. What holds for a resource holds for its parts
  /// (with a query or fragment), and for other spellings of its URI: escaped slashes and dots, empty and dot segments too.
  [[nodiscard]] std::string reason_against(std::string_view theirs) const;

 private:
  struct pattern {
    std::string text;
    ignore::glob compiled;
  };
  std::vector<pattern> include_;
  std::vector<pattern> exclude_;
};

}  // namespace hondana::mcp
