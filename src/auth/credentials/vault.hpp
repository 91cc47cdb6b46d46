/// Where the text of all credentials is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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

}  // namespace hondana::credentials
