/// The legacy revisions 2024-11-05 to 2025-11-25, which begin with a handshake, with a table of their differences.
#pragma once

#include <span>
#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire::legacy {

/// The codec of a revision; null when it is not a legacy one.
[[nodiscard]] const codec* find(std::string_view revision) noexcept;
/// The newest legacy revision, which answers an `initialize` with an unknown revision.
[[nodiscard]] const codec& newest() noexcept;
/// The revision of HTTP clients without a version header (2025-03-26).
[[nodiscard]] const codec& headerless_default() noexcept;
/// All legacy revisions, newest first.
[[nodiscard]] std::span<const std::string_view> revisions() noexcept;

}  // namespace hondana::wire::legacy
