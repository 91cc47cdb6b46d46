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
class priorities {
 public:
  /// Errors: invalid_argument naming a pattern that cannot match, or a priority outside 0 to 1.
  [[nodiscard]] static result<priorities> make(const std::vector<priority_rule>& configured);

  /// Sets priority and audience of a path relative to the root.
  ///
  /// Built in: READMEs 0.9; other documents and build descriptions 0.7; folders and sources 0.5. Tests 0.4; other files 0.3;
  /// generated code, bundled packages and lock files 0.1. The last configured rule that matches takes precedence.
  void weigh(std::string_view path, bool is_folder, annotations& into) const;

 private:
  struct weighed {
    ignore::pattern_list pattern;
    std::optional<double> priority;
    std::vector<role> audience;
  };
  std::vector<weighed> configured_;
};

/// The built-in priority of a path.
[[nodiscard]] double usual_priority(std::string_view path, bool is_folder) noexcept;

}  // namespace hondana::files
