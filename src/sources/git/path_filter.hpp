/// Which paths a comparison is about.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::git {

/// Files and folders by their names, bytewise and without patterns; none, or an empty one, stands for everything. One that ends
/// in `/` means a folder only. Lifetime: refers to `paths`.
class path_filter {
 public:
  explicit path_filter(const std::vector<std::string>& paths) noexcept : paths_(paths) {}

  /// Whether it is about a file, link or submodule at `path`.
  [[nodiscard]] bool takes(std::string_view path) const noexcept {
    return is_any([&](std::string_view one) { return path == one || is_below(path, one); });
  }
  /// Whether it can be about anything below the folder `path`.
  [[nodiscard]] bool enters(std::string_view path) const noexcept {
    return is_any(
        [&](std::string_view one) { return path.empty() || path == one || is_below(path, one) || is_below(one, path); });
  }
  /// Whether it is about everything below the folder `path`.
  [[nodiscard]] bool covers(std::string_view path) const noexcept {
    return is_any([&](std::string_view one) {
      return path == (one.ends_with('/') ? one.substr(0, one.size() - 1) : one) || is_below(path, one);
    });
  }

 private:
  /// Whether `path` lies below the folder that `above` names, with or without a slash at its end.
  static bool is_below(std::string_view path, std::string_view above) noexcept {
    if (above.ends_with('/')) above.remove_suffix(1);
    return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
  }
  template <class Test>
  bool is_any(Test&& test) const noexcept {
    return paths_.empty() || std::any_of(paths_.begin(), paths_.end(),
                                         [&](const std::string& one) { return one.empty() || test(std::string_view(one)); });
  }

  const std::vector<std::string>& paths_;
};

}  // namespace hondana::git
