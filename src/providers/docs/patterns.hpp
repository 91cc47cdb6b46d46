/// Patterns as in `.gitignore` that choose documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "ignore/pattern_list.hpp"

namespace hondana::docs {

/// Immutable. Threads: any.
class patterns {
 public:
  /// Errors: invalid_argument for a pattern that is empty, spans lines or can match nothing; `what` says whose it is.
  [[nodiscard]] static result<patterns> compile(const std::vector<std::string>& all, const std::string& what);

  /// Whether a file, or a folder that it lies in, is matched.
  [[nodiscard]] bool match(std::string_view path) const noexcept;
  [[nodiscard]] bool match_folder(std::string_view path) const noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return list_.size() == 0; }

 private:
  ignore::pattern_list list_;
};

}  // namespace hondana::docs
