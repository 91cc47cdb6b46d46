/// Reads the `[[source]]` table of a Google Drive source, and creates the source.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "auth/google/access_tokens.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "sources/gdrive/gdrive_provider.hpp"

namespace hondana::gdrive {

/// The account and the servers: the keys `credentials_file`, `login_file`, `client_file`, `subject`, `scopes`, `token_url`,
/// `auth_url`, `api_url`, `proxy`, `ca_file` and `requests_per_minute`.
struct account_settings {
  google::token_settings tokens{};
  drive::client_settings drive{};
  std::string client_file{};  ///< JSON file of the OAuth client, for `hondana login --source NAME`. Empty: none is configured.
  std::string login_file{};   ///< The file that stores a log-in.
  std::string auth_url{};     ///< The log-in page. Empty: Google's.
};

/// The `[[source]]` table.
struct settings {
  provider_options options{};  ///< Without members that depend on other objects, such as `api`, `renderer` and `log`.
  account_settings account{};
  bool renders = true;  ///< Convert PDF and Office files to text.
};

/// Reads the keys of `account_settings`. Adds errors to `reader`; the caller must call `reader.finish`. `name`: the name of the
/// source.
[[nodiscard]] account_settings read_account(config::table_reader& reader, const std::string& name);
/// Reads the whole table. Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
[[nodiscard]] result<settings> read_settings(config::section& section);

/// The default of `provider_options::store_path`. Empty: neither XDG_STATE_HOME nor HOME is set. `name`: the name of the
/// source.
[[nodiscard]] std::string default_store_path(std::string_view name);

}  // namespace hondana::gdrive
