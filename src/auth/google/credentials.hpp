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

/// What a token allows to read. Spec: Google, "Choose Google Drive API scopes".
enum class scope : std::uint8_t {
  drive_metadata_readonly,  ///< Names, folders, times, owners and changes; neither contents nor the list of shared drives.
  drive_readonly,           ///< All of Drive, including contents.
};
using scopes = std::set<scope>;

/// Returns the URL that names a scope: "https://www.googleapis.com/auth/drive.readonly".
[[nodiscard]] std::string_view url_of(scope drive_scope) noexcept;

/// Parses URLs of scopes or their last parts ("drive.readonly"). An empty list means `drive_readonly`. Errors: invalid_argument
/// for other scopes, which hondana never requests.
[[nodiscard]] result<scopes> read_scopes(const std::vector<std::string>& names);

/// Returns the URLs of the scopes, separated by single spaces, as token endpoints expect them.
[[nodiscard]] std::string scope_string(const scopes& requested);

/// The result of `coverage_of`.
struct coverage {
  bool is_sufficient = false;  ///< All requested scopes are granted, by themselves or by a wider scope.
  bool is_excessive = false;   ///< Google scopes other than those of `scope` and of the user's profile are granted.
};
/// Compares granted with requested scopes. `granted`: the `scope` of the token endpoint's answer.
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

/// Parses a credentials file. `token_url` replaces the file's token endpoint; if it is empty, that must be an https: URL of
/// Google, or absent (`default_token_url`). Errors: invalid_argument, naming the member but not its value; also for other types
/// of credentials, such as an external account, and for the file of an OAuth client.
[[nodiscard]] result<credentials> parse_credentials(std::string_view json, const std::string& token_url = {});

/// Checks the URL of a token endpoint. `is_configured`: the operator chose it, so any https: URL is allowed, and http: on this
/// machine. False: it must be one of Google's. Errors: invalid_argument.
[[nodiscard]] result<void> check_token_url(const std::string& url, bool is_configured);

/// Returns the text of an `authorized_user` file.
[[nodiscard]] std::string encode(const authorized_user& user);

/// An OAuth client as exported by the Google Cloud console: `{"installed":{…}}`.
struct oauth_client {
  std::string id;
  std::string secret;     ///< Of an installed application and therefore not really secret; may be empty.
  std::string auth_url;   ///< The login page; may be empty.
  std::string token_url;  ///< May be empty.
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

/// Where credentials are searched: `file`, `inline_variable`, `login_file`, `file_variable`. The first that exist are used.
struct credential_locations {
  std::string file{};        ///< The configured file (`credentials`); if set, nothing else is searched.
  std::string login_file{};  ///< The file that `hondana login` writes, if it exists; empty: none.
  environment variables{};   ///< Null: `inline_variable` and `file_variable` are not searched.
  std::string token_url{};   ///< See `parse_credentials`.
  std::string advice{};      ///< Advice if no credentials are found: "log in with `hondana login --source team`".
};

/// Credentials and their origin.
struct found_credentials {
  credentials identity;
  std::string origin;  ///< For messages: "the file that `credentials` names". Not a path.
  std::string path;    ///< Empty: from the environment.
};

/// Finds and parses credentials. Files must belong to this user or root, and others must not be able to read or write them
/// (0600; 0640 for a service's group). Errors: unauthorized if none exist, with the advice; those of `disk::read_private` and
/// `parse_credentials`. Public error texts contain no path.
[[nodiscard]] result<found_credentials> find_credentials(const credential_locations& locations);

/// Returns a text that differs when one of the files of `find_credentials` has changed, appeared or disappeared. Does not read
/// the files.
[[nodiscard]] std::string stamp_of(const credential_locations& locations);

/// Returns the default file for the login of a source: `$XDG_DATA_HOME/hondana/google-SOURCE.json`, or the same below
/// `~/.local/share`. Empty if neither XDG_DATA_HOME nor HOME is an absolute path.
[[nodiscard]] std::string default_login_file(std::string_view source, const environment& variables);

}  // namespace hondana::google
