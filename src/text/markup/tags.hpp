/// Tags of HTML, where they stand in a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::markup {

struct tag {
  std::string name{};  ///< In lower case.
  bool is_end = false;
  bool is_self_closed = false;
  std::size_t end = 0;  ///< Behind its `>`.
  /// Names in lower case, values decoded; at most 64, beyond which they are passed over.
  std::vector<std::pair<std::string, std::string>> attributes{};

  /// Nothing: there is none of that name.
  [[nodiscard]] const std::string* find(std::string_view attribute) const noexcept;
};

/// Reads the tag at `at`, where a `<` stands. False: there is none, or it does not end within 64 KiB.
[[nodiscard]] bool read_tag(std::string_view text, std::size_t at, tag& into);

/// Prose without its tags and comments, entities as they stand.
[[nodiscard]] std::string without_tags(std::string_view text);

}  // namespace hondana::markup
