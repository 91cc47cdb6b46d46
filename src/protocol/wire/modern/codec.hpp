/// The codec of the stateless revision 2026-07-28.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "protocol/wire/codec.hpp"

namespace hondana::wire::modern {

/// The codec of 2026-07-28.
[[nodiscard]] const codec& current() noexcept;
/// All stateless revisions, newest first.
[[nodiscard]] std::span<const std::string_view> revisions() noexcept;

/// Reads the revision that a request declares in its `_meta`; nullopt if it declares none. It may be an unknown one.
[[nodiscard]] json::decoded<std::optional<std::string_view>> declared_revision(const json::object& params);

}  // namespace hondana::wire::modern
