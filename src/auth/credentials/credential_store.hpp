/// Stores credentials in the desktop's keyring or in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

namespace hondana::credentials {

/// One text that others do not see. Threads: any, one at a time.
class vault {
 public:
  vault() = default;
  vault(const vault&) = delete;
  vault& operator=(const vault&) = delete;
  virtual ~vault() = default;

  /// Whether it can be used, found out within two seconds.
  [[nodiscard]] virtual bool answers() = 0;
  /// Empty: nothing has been kept. Errors: source_unavailable, access_denied, response_too_large; the text names the vault.
  [[nodiscard]] virtual result<std::string> load() = 0;
  [[nodiscard]] virtual result<void> save(std::string_view text) = 0;
};

/// A file that only its owner reads; see disk/private_file.hpp.
[[nodiscard]] std::unique_ptr<vault> make_file_vault(std::string path);

/// The desktop's keyring, by the Secret Service (libsecret, loaded when it is used first). It answers when there is a session
/// bus with such a service. The person may be asked to unlock it, for a minute at most. A build without libsecret's headers
/// has none that answers.
[[nodiscard]] std::unique_ptr<vault> make_keyring_vault();

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
