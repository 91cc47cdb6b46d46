/// Stores tokens and client registrations in the desktop's keyring or in a file.
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

/// A place that stores one secret text. Threads: any, one at a time.
class vault {
 public:
  vault() = default;
  vault(const vault&) = delete;
  vault& operator=(const vault&) = delete;
  virtual ~vault() = default;

  /// Whether the vault can be used. Takes at most 2 s.
  [[nodiscard]] virtual bool is_available() = 0;
  /// Reads the text; empty if none is stored. Errors: source_unavailable; a file also access_denied and response_too_large. The
  /// error text names the place.
  [[nodiscard]] virtual result<std::string> load() = 0;
  /// Replaces the text. For a file, the caller must hold the lock of `disk::acquire_lock`. Errors: source_unavailable.
  [[nodiscard]] virtual result<void> save(std::string_view text) = 0;
};

/// Makes a vault of a file that only its owner can read; see os/disk/private_file.hpp.
[[nodiscard]] std::unique_ptr<vault> make_file_vault(std::string path);

/// Makes a vault of the desktop's keyring, which it accesses by the Secret Service (libsecret, loaded on first use). It is
/// available if a session bus with such a service exists. The user may be asked to unlock it; each call waits at most 60 s.
/// Without libsecret's headers at build time it is never available.
[[nodiscard]] std::unique_ptr<vault> make_keyring_vault();

enum class store_location : std::uint8_t { keyring, file };

/// Parses "keyring" or "file"; empty for other names.
[[nodiscard]] std::optional<store_location> parse_store_location(std::string_view name) noexcept;

/// Returns `$XDG_DATA_HOME/hondana/credentials.json`, or the same below `~/.local/share`. Empty if neither XDG_DATA_HOME nor
/// HOME is set.
[[nodiscard]] std::string default_file();

/// The error text if `store_settings::file` is empty.
inline constexpr std::string_view no_file_configured = "logins cannot be stored: neither XDG_DATA_HOME nor HOME is set";

struct store_settings {
  /// Empty: the store has no entries, and storing one fails.
  std::string file = default_file();
  /// Where new entries go. Empty: to the place that has entries of the same resource or issuer; otherwise to the keyring if it
  /// is available; otherwise to the file. Registrations with a key file always go to the file.
  std::optional<store_location> preferred_location{};
};

/// Returns the paths of the key files that are needed to renew the stored tokens of `resource`, which is spelled as by
/// `oauth_session::resource`. If its tokens are in the keyring, returns all key files, because the keyring is not opened. Empty
/// if the store's file cannot be read.
[[nodiscard]] std::vector<std::string> key_files_for(const std::string& resource, const store_settings& settings = {});

/// Makes a store of a file and a keyring. The file lists the resources and issuers with entries in the keyring, which is opened
/// only for them. A lock file protects against other processes. In addition to the errors of `token_store`, its calls return
/// access_denied if others can read the file, and response_too_large.
[[nodiscard]] std::shared_ptr<token_store> make_store(store_settings settings, std::unique_ptr<vault> keyring);
/// Makes a store of a file and the keyring of this desktop.
[[nodiscard]] std::shared_ptr<token_store> make_store(store_settings settings = {});

}  // namespace hondana::credentials
