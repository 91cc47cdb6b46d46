/// Where log-ins are kept: the desktop's keyring or a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authorization.hpp>

#include "auth/credentials/vault.hpp"

namespace hondana::credentials {

enum class place : std::uint8_t { keyring, file };

/// "keyring" or "file".
[[nodiscard]] std::optional<place> place_named(std::string_view name) noexcept;

/// `$XDG_DATA_HOME/hondana/credentials.json`, or below `~/.local/share`; empty when neither variable is set.
[[nodiscard]] std::string usual_file();

/// Why nothing can be kept without a file.
inline constexpr std::string_view no_place = "logins cannot be stored: neither XDG_DATA_HOME nor HOME is set";

struct store_settings {
  /// Empty: nothing is kept, and nothing can be.
  std::string file = usual_file();
  /// Where new ones go; nothing: where the same resource or issuer has something already, else to the keyring where it
  /// answers, else to the file.
  std::optional<place> wanted{};
};

/// The files of keys that log-ins to `resource`, as `oauth_session::resource` spells it, are renewed with. Only the file of
/// log-ins is looked at: of those in the keyring it does not say which key is theirs, and then it is all keys. Nothing where it
/// cannot be read.
[[nodiscard]] std::vector<std::string> key_files_for(const std::string& resource, const store_settings& settings = {});

/// Clients with a key have no secret of their own, and stay in the file. It says of what something is in the keyring, so that
/// the keyring is opened for nothing else. A lock beside the file keeps processes apart. Errors besides those of `token_store`:
/// access_denied for a file that others can read.
[[nodiscard]] std::shared_ptr<token_store> make_store(store_settings settings, std::unique_ptr<vault> keyring);
/// With the keyring of this desktop.
[[nodiscard]] std::shared_ptr<token_store> make_store(store_settings settings = {});

}  // namespace hondana::credentials
