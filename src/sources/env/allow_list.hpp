/// Which variables may be seen: patterns over their names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::env {

/// Patterns in which `*` stands for any bytes and `?` for one; every other byte stands for itself, in its case. Immutable.
class allow_list {
 public:
  static constexpr std::size_t most_patterns = 1000;
  static constexpr std::size_t longest_pattern = 256;

  /// Errors: invalid_argument for no pattern at all, an empty one, a longer one, more of them, or one with
  /// what only regular expressions have (`[ ] ^ $ ( )`); the text says what to write.
  [[nodiscard]] static result<allow_list> of(std::vector<std::string> patterns);

  /// Time: the length of the name times that of the longest pattern at most, for each pattern.
  [[nodiscard]] bool allows(std::string_view name) const noexcept;

 private:
  explicit allow_list(std::vector<std::string> patterns) noexcept : patterns_(std::move(patterns)) {}

  std::vector<std::string> patterns_;
};

}  // namespace hondana::env
