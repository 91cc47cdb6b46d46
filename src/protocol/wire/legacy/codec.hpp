/// The codecs of the legacy revisions 2024-11-05 to 2025-11-25, in which communication begins with `initialize`.
#pragma once

#include <span>
#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire::legacy {

/// The codec of a revision; null if it is not a legacy one.
[[nodiscard]] const codec* find(std::string_view revision) noexcept;
/// The codec of the newest legacy revision. It also answers an `initialize` with an unknown revision.
[[nodiscard]] const codec& newest() noexcept;
/// The codec of 2025-03-26, for errors to HTTP clients without a version header.
[[nodiscard]] const codec& headerless_default() noexcept;
/// All legacy revisions, newest first.
[[nodiscard]] std::span<const std::string_view> revisions() noexcept;

}  // namespace hondana::wire::legacy
