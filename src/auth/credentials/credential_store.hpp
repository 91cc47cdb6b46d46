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

/// Stores one secret text. Threads: any, one at a time.
class vault {
 public:
  vault() = default;
  vault(const vault&) = delete;
  vault& operator=(const vault&) = delete;
  virtual ~vault() = default;

  /// Whether the vault can be used. Takes at most 2 s.
  [[nodiscard]] virtual bool is_available() = 0;
  /// Reads the text; empty if none is stored. Errors: source_unavailable, access_denied, response_too_large; the text names the
  /// vault.
  [[nodiscard]] virtual result<std::string> load() = 0;
  [[nodiscard]] virtual result<void> save(std::string_view text) = 0;
};

/// A file that only its owner can read; see os/disk/private_file.hpp.
[[nodiscard]] std::unique_ptr<vault> make_file_vault(std::string path);

/// The desktop's keyring, through the Secret Service (libsecret, loaded on first use). It is available if a session bus with
/// such a service exists. The user may be asked to unlock it, for at most 60 s. Without libsecret's headers at build time it is
/// never available.
[[nodiscard]] std::unique_ptr<vault> make_keyring_vault();

enum class store_location : std::uint8_t { keyring, file };

/// Parses "keyring" or "file".
[[nodiscard]] std::optional<store_location> parse_store_location(std::string_view name) noexcept;

/// `$XDG_DATA_HOME/hondana/credentials.json`, or the same below `~/.local/share`. Empty if neither XDG_DATA_HOME nor HOME is
/// set.
[[nodiscard]] std::string default_file();

/// The error if no file is configured.
inline constexpr std::string_view no_file_configured = "logins cannot be stored: neither XDG_DATA_HOME nor HOME is set";

struct store_settings {
  /// Empty: nothing is stored, and storing fails.
  std::string file = default_file();
  /// Where new entries go. Empty: to the place that has entries of the same resource or issuer; otherwise to the keyring if it
  /// is available; otherwise to the file.
  std::optional<store_location> preferred_location{};
};

/// The key files that logins to `resource` need for renewal. `resource` is spelled as by `oauth_session::resource`. Does not
/// open the keyring: if the login is there, returns all key files of the file. Empty if the file cannot be read.
[[nodiscard]] std::vector<std::string> key_files_for(const std::string& resource, const store_settings& settings = {});

/// Makes a store of file and keyring. The file lists the resources and issuers with entries in the keyring, which is opened
/// only for them. Clients with a key have no secret and stay in the file. A lock file protects against other processes. Errors
/// besides those of `token_store`: access_denied if others can read the file.
[[nodiscard]] std::shared_ptr<token_store> make_store(store_settings settings, std::unique_ptr<vault> keyring);
/// Makes a store with the keyring of this desktop.
[[nodiscard]] std::shared_ptr<token_store> make_store(store_settings settings = {});

}  // namespace hondana::credentials
