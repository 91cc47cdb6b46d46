/// Reads the `[[source]]` table of a Google Drive, and makes the source from it.
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

/// Who asks Drive, and where: `credentials`, `log_in_file`, `client`, `subject`, `scopes`, `token_url`, `auth_url`, `api`,
/// `proxy`, `ca`, `requests_per_minute`.
struct account {
  google::token_settings tokens{};
  drive::settings drive{};
  std::string client_file{};  ///< The OAuth client's JSON, for `hondana login --source NAME`; empty: none is named.
  std::string log_in_file{};  ///< Where a log-in is kept.
  std::string auth_url{};     ///< The page that people log in at; empty: Google's.
};

struct settings {
  options how{};  ///< Without `from` and `log`.
  account who{};
  bool renders = true;
};

/// `name`: of the source. Reads its keys and calls no `finish`; what is wrong `from` says then.
[[nodiscard]] account read_account(config::table_reader& reader, config::section& from, const std::string& name);
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
[[nodiscard]] result<settings> read_settings(config::section& from);

/// Where what is known of Drive is kept unless the settings say; empty where neither XDG_STATE_HOME nor HOME is set.
[[nodiscard]] std::string usual_store(std::string_view name);

}  // namespace hondana::gdrive
