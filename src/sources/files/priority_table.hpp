/// Priority and audience of files.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "base/ignore/gitignore.hpp"
#include "sources/files/options.hpp"

namespace hondana::files {

/// The configured rules of one root, which take precedence over the built-in ones. Immutable. Threads: any.
class priority_table {
 public:
  /// Errors: invalid_argument naming a pattern that cannot match, or a priority outside 0 to 1.
  [[nodiscard]] static result<priority_table> make(const std::vector<priority_rule>& rules);

  /// Sets `target.priority` and `target.audience` for a path relative to the root, by the last configured rule that matches it
  /// or a folder above it. Without a priority from a rule, sets `default_priority`. Without a rule, keeps the audience.
  void annotate(std::string_view path, bool is_folder, annotations& target) const;

 private:
  struct compiled_rule {
    ignore::pattern_list pattern;
    std::optional<double> priority;
    std::vector<chat_role> audience;
  };
  std::vector<compiled_rule> rules_;
};

/// The built-in priority of a path. READMEs 0.9, in test folders 0.7. Other documents and build descriptions 0.7; folders and
/// sources 0.5; files in test folders 0.4; other files 0.3. Generated code, bundled packages and lock files 0.1.
[[nodiscard]] double default_priority(std::string_view path, bool is_folder) noexcept;

}  // namespace hondana::files
