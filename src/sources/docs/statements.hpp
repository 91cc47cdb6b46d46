/// What a document says of itself in its front matter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/resource.hpp>

namespace hondana::docs {

/// Empty where it says nothing.
struct statements {
  std::string title{};
  std::string description{};
  std::optional<double> priority{};
  std::vector<role> audience{};
  std::string lang{};
  /// What was not taken and why, for whoever keeps the documents; at most 10.
  std::vector<std::string> warnings{};

  bool operator==(const statements&) const = default;
};

/// Reads the YAML between a first line `---` and the next such line: `title`, `description`, `priority` (0 to 1, or high,
/// middle, low), `audience` ("user", "assistant" or both) and `lang`. Whatever else there is is its author's business, and what
/// is of a wrong type is left out with a warning. Never fails. `text`: UTF-8; 64 KiB of it are looked at.
[[nodiscard]] statements statements_of(std::string_view text);

}  // namespace hondana::docs
