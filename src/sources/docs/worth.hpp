/// How much documents matter and to whom, as people write it.
#pragma once

#include <optional>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::docs {

/// "high", "middle" (or "medium", "normal") and "low", also 高, 中 and 低, in whatever width and case.
[[nodiscard]] std::optional<double> priority_named(std::string_view word);
/// "user" or "assistant".
[[nodiscard]] std::optional<role> role_named(std::string_view word);
/// Whether a text has the form of a BCP 47 tag.
[[nodiscard]] bool is_language_tag(std::string_view text) noexcept;

}  // namespace hondana::docs
