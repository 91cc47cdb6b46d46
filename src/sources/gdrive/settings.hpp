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

/// Which account Drive is read with, and where: `credentials`, `log_in_file`, `client`, `subject`, `scopes`, `token_url`,
/// `auth_url`, `api`, `proxy`, `ca`, `requests_per_minute`.
struct account_settings {
  google::token_settings tokens{};
  drive::client_settings drive{};
  std::string client_file{};  ///< The OAuth client's JSON file, for `hondana login --source NAME`; empty: none is configured.
  std::string login_file{};   ///< Where a log-in is stored.
  std::string auth_url{};     ///< The log-in page; empty: Google's.
};

/// The `[[source]]` table.
struct settings {
  provider_options options{};  ///< Without what `configure` sets, such as `api` and `log`.
  account_settings account{};
  bool renders = true;
};

/// Reads the account's keys without calling `finish`; errors are recorded in `section`. `name`: the name of the source.
[[nodiscard]] account_settings read_account(config::table_reader& reader, config::section& section, const std::string& name);
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
[[nodiscard]] result<settings> read_settings(config::section& section);

/// The default path of the cache; empty if neither XDG_STATE_HOME nor HOME is set.
[[nodiscard]] std::string default_store_path(std::string_view name);

}  // namespace hondana::gdrive
