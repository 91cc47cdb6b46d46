/// Identifiers of Drive, as they may stand in a URL.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::drive {

inline constexpr std::size_t longest_id = 200;

/// Of files, folders and drives: letters, digits, `-` and `_`, 1 to 200 of them. "root" is one.
[[nodiscard]] bool is_id(std::string_view text) noexcept;

/// Errors: invalid_argument, "WHAT's id is not valid: …".
[[nodiscard]] result<void> check_id(std::string_view text, std::string_view what);

/// What opens a file by an older link. Spec: Google, "Access link-shared files using resource keys".
struct resource_key {
  std::string id;
  std::string key;
  bool operator==(const resource_key&) const = default;
};

/// The value of `X-Goog-Drive-Resource-Keys`; those with an id or a key that is none are left out, and those after the first
/// 100. Empty: nothing to send.
[[nodiscard]] std::string spelled(const std::vector<resource_key>& keys);

}  // namespace hondana::drive
