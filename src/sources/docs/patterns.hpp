/// Patterns as in `.gitignore` that choose documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/ignore/pattern_list.hpp"

namespace hondana::docs {

/// Names and patterns are compared as people read them: NFC and NFD make no difference, and names in Shift_JIS or EUC-JP are
/// converted; width and case count. Immutable. Threads: any.
class patterns {
 public:
  /// Errors: invalid_argument for a pattern that is empty, spans lines or can match nothing; `what` says whose it is.
  [[nodiscard]] static result<patterns> compile(const std::vector<std::string>& all, const std::string& what);

  /// Whether a file, or a folder that it lies in, is matched.
  [[nodiscard]] bool match(std::string_view path) const;
  [[nodiscard]] bool match_folder(std::string_view path) const;
  [[nodiscard]] bool is_empty() const noexcept { return list_.size() == 0; }

 private:
  [[nodiscard]] bool matches(std::string_view path, bool is_folder) const noexcept;
  [[nodiscard]] bool reaches(std::string_view path) const noexcept;

  ignore::pattern_list list_;
};

}  // namespace hondana::docs
