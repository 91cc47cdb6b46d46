/// The keys and values of the configuration that have new names. Old names are errors.
#pragma once

#include <span>
#include <string_view>

namespace hondana::config {

/// Returns the new name of a key or of an enumerated value that was renamed. Empty: it was not renamed, or `known` does not
/// contain the new name. `place`: the full name of the table ("http.tls"), or of the key for a value
/// ("http.tls.client_certificates"). `known`: the keys of the table, or the values of the key.
[[nodiscard]] std::string_view find_new_name(std::string_view place, std::string_view old_name,
                                             std::span<const std::string_view> known) noexcept;

}  // namespace hondana::config
