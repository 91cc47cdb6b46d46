/// Google credentials of service accounts and users: where they are found, and the scopes requested with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

#include "auth/jose/keys.hpp"

namespace hondana::google {

/// Spec: Google, "Choose Google Drive API scopes".
enum class scope : std::uint8_t {
  drive_metadata_readonly,  ///< Names, folders, times, owners and changes; neither contents nor the list of shared drives.
  drive_readonly,           ///< These and contents.
};
using scopes = std::set<scope>;

/// "https://www.googleapis.com/auth/drive.readonly".
[[nodiscard]] std::string_view url_of(scope drive_scope) noexcept;

/// Parses URLs of scopes or their last parts ("drive.readonly"). An empty list means `drive_readonly`. Errors: invalid_argument
/// for other scopes, which hondana never requests.
[[nodiscard]] result<scopes> read_scopes(const std::vector<std::string>& names);

/// The URLs, separated by single spaces, as token endpoints expect them.
[[nodiscard]] std::string scope_string(const scopes& requested);

/// How the granted scopes compare with the requested ones.
struct coverage {
  bool is_sufficient = false;  ///< All requested scopes are granted, by themselves or by a wider scope.
  bool is_excessive = false;   ///< Scopes of Google APIs beyond the requested ones are granted.
};
/// `granted`: the `scope` of the token endpoint's answer.
[[nodiscard]] coverage coverage_of(std::string_view granted, const scopes& requested);

/// Whether contents may be read.
[[nodiscard]] bool may_read_contents(const scopes& requested) noexcept;

/// Google's token endpoint.
inline constexpr std::string_view default_token_url = "https://oauth2.googleapis.com/token";

/// `"type": "service_account"`. Spec: Google, "Using OAuth 2.0 for Server to Server Applications".
struct service_account {
  std::string email;      ///< `client_email`: files are shared with it.
  std::string key_id;     ///< `private_key_id`.
  std::string client_id;  ///< A number, for domain-wide delegation; may be empty.
  std::string token_url;
  jose::signing_key key;
};

/// `"type": "authorized_user"`: a refresh token and the client that it was issued to.
struct authorized_user {
  std::string client_id;
  std::string client_secret;  ///< May be empty.
  std::string refresh_token;
  std::string token_url;
  std::string account;  ///< An e-mail address from the file; may be empty.
};

using credentials = std::variant<service_account, authorized_user>;

inline constexpr std::size_t max_credential_bytes = 64u << 10;

/// Parses a credentials file. `token_url`: replaces that of the file; empty: the file's, which must be an https: URL of Google.
/// Errors: invalid_argument, naming the member but not its value. Other types, such as an OAuth client or an external account,
/// are errors, too; the text says what to do instead.
[[nodiscard]] result<credentials> parse_credentials(std::string_view json, const std::string& token_url = {});

/// Checks a token endpoint. `is_configured`: any https: URL is allowed, or http: on this machine; otherwise it must be one of
/// Google's. Errors: invalid_argument.
[[nodiscard]] result<void> check_token_url(const std::string& url, bool is_configured);

/// The text of an `authorized_user` file.
[[nodiscard]] std::string encode(const authorized_user& user);

/// An OAuth client as exported by the Google Cloud console: `{"installed":{…}}`.
struct oauth_client {
  std::string id;
  std::string secret;  ///< Of an installed application and therefore not really secret; may be empty.
  std::string auth_url;
  std::string token_url;
};
/// Parses an OAuth client. Errors: invalid_argument, naming the member. Clients of type "web" are rejected, because they cannot
/// redirect to this machine.
[[nodiscard]] result<oauth_client> parse_oauth_client(std::string_view json);

/// Returns an environment variable; empty if it is not set.
using environment = std::function<std::string(const char* name)>;
/// The environment of this process.
[[nodiscard]] environment own_environment();

/// The variable with the JSON text of credentials.
inline constexpr const char* inline_variable = "HONDANA_GDRIVE_CREDENTIALS";
/// The variable with the path of a credentials file, as in Google's libraries.
inline constexpr const char* file_variable = "GOOGLE_APPLICATION_CREDENTIALS";

/// Where credentials are searched, in this order. The first that exist are used.
struct credential_locations {
  std::string file{};        ///< The configured file (`credentials`); if set, nothing else is searched.
  std::string login_file{};  ///< The file that `hondana login` writes, if it exists; empty: none.
  /// Environment variables; null: not searched. `inline_variable` comes before the login. `file_variable` comes after it,
  /// because it may be meant for other programs.
  environment variables{};
  std::string token_url{};  ///< See `parse_credentials`.
  std::string advice{};     ///< Advice if no credentials are found: "log in with `hondana login --source team`".
};

/// Credentials and their origin.
struct found_credentials {
  credentials identity;
  std::string origin;  ///< For messages: "the file that `credentials` names". Not a path.
  std::string path;    ///< Empty: from the environment.
};

/// Finds credentials. Files must belong to this user or root, and others must not be able to read or write them (0600; 0640 for
/// a service's group). Errors: unauthorized if none exist, with the advice; access_denied for a file that others can read;
/// invalid_argument. Public texts contain only configured paths.
[[nodiscard]] result<found_credentials> find_credentials(const credential_locations& locations);

/// A stamp of what `find_credentials` would read now; changes when one of the files changes. Never fails: a missing file has a
/// stamp, too.
[[nodiscard]] std::string stamp_of(const credential_locations& locations);

/// The default file for a source's login: `$XDG_DATA_HOME/hondana/google-NAME.json`, or the same below `~/.local/share`. Empty
/// if neither XDG_DATA_HOME nor HOME is set.
[[nodiscard]] std::string default_login_file(std::string_view source, const environment& variables);

}  // namespace hondana::google
