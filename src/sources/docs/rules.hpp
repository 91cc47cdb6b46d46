/// The rules file of a set: what documents are worth, for whom and in which language, by their paths.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "sources/docs/patterns.hpp"

namespace hondana::docs {

/// What the rules say of one document; of each member the last rule that matches and has it.
struct ruled {
  std::optional<double> priority{};
  std::size_t priority_line = 0;  ///< Of its rule.
  std::vector<role> audience{};
  std::string lang{};
  std::string title{};
  std::string charset{};
  bool is_excluded = false;
  std::size_t excluded_line = 0;
};

/// Immutable. Threads: any.
class rules {
 public:
  static constexpr std::size_t most_bytes = 1u << 20;
  static constexpr std::size_t most_rules = 1000;

  /// Reads a TOML text of tables `[[rule]]` with `match` (patterns as in `.gitignore`) and any of `priority`, `audience`,
  /// `lang`, `title`, `charset` and `exclude`. Errors: invalid_argument, "FILE:LINE: what is wrong".
  [[nodiscard]] static result<rules> parse(std::string_view text, const std::string& file);

  [[nodiscard]] ruled of(std::string_view path) const;

 private:
  struct one {
    patterns match{};
    std::size_t line = 0;
    std::optional<double> priority{};
    std::vector<role> audience{};
    std::optional<std::string> lang{}, title{}, charset{};
    std::optional<bool> exclude{};
  };
  friend class rule_reader;
  std::vector<one> all_;
};

}  // namespace hondana::docs
