/// Google's credentials of service accounts and users, where they are found, and the scopes asked for.
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
  drive_metadata_readonly,  ///< Names, folders, times, owners, changes. Neither contents nor the list of shared drives.
  drive_readonly,           ///< These and contents.
};
using scopes = std::set<scope>;

/// "https://www.googleapis.com/auth/drive.readonly".
[[nodiscard]] std::string_view url_of(scope one) noexcept;

/// Takes URLs and their last parts ("drive.readonly"); nothing: `drive_readonly`. Errors: invalid_argument for any other, which
/// is never asked for, and says so.
[[nodiscard]] result<scopes> read_scopes(const std::vector<std::string>& names);

/// URLs with one space between, as token endpoints take them.
[[nodiscard]] std::string spelled(const scopes& of);

struct coverage {
  bool is_enough = false;  ///< All that was asked for is granted, by itself or by a wider scope.
  bool is_more = false;    ///< Something of Google's APIs is granted that was not asked for.
};
/// `granted`: as a token endpoint spells it.
[[nodiscard]] coverage coverage_of(std::string_view granted, const scopes& asked);

/// Whether contents may be read.
[[nodiscard]] bool may_read_contents(const scopes& of) noexcept;

/// Google's own token endpoint.
inline constexpr std::string_view usual_token_url = "https://oauth2.googleapis.com/token";

/// `"type": "service_account"`. Spec: Google, "Using OAuth 2.0 for Server to Server Applications".
struct service_account {
  std::string email;      ///< `client_email`: whom files are shared with.
  std::string key_id;     ///< `private_key_id`.
  std::string client_id;  ///< A number, for domain-wide delegation; may be empty.
  std::string token_url;
  jose::signing_key key;
};

/// `"type": "authorized_user"`: a refresh token and the client that it was given to.
struct authorized_user {
  std::string client_id;
  std::string client_secret;  ///< May be empty.
  std::string refresh_token;
  std::string token_url;
  std::string account;  ///< An e-mail address, if the file has one; may be empty.
};

using credentials = std::variant<service_account, authorized_user>;

inline constexpr std::size_t most_credential_bytes = 64u << 10;

/// `token_url`: asked instead of what the text says; empty: that, which must be one of Google's, by https:.
/// Errors: invalid_argument, which names the member and never its value. A key of another kind (an OAuth client's, which is no
/// log-in; an external account) is one, and the text says what to do instead.
[[nodiscard]] result<credentials> parse_credentials(std::string_view json, const std::string& token_url = {});

/// A token endpoint as it may be used: by https:, or by http: on this machine. Errors: invalid_argument.
[[nodiscard]] result<void> check_token_url(const std::string& url, bool is_configured);

/// The text of an `authorized_user` file.
[[nodiscard]] std::string spelled(const authorized_user& one);

/// An OAuth client as the Google Cloud console gives it out: `{"installed":{…}}`.
struct oauth_client {
  std::string id;
  std::string secret;  ///< Of an installed application, and so no real one; may be empty.
  std::string auth_url;
  std::string token_url;
};
/// Errors: invalid_argument, which names the member. A client of type "web" is one, since it cannot come back to this machine.
[[nodiscard]] result<oauth_client> parse_oauth_client(std::string_view json);

/// Reads a variable of the environment; empty: it is not set.
using environment = std::function<std::string(const char* name)>;
/// That of this process.
[[nodiscard]] environment own_environment();

/// The variable that holds the JSON text itself.
inline constexpr const char* inline_variable = "HONDANA_GDRIVE_CREDENTIALS";
/// The variable that names a file, as Google's own libraries take it.
inline constexpr const char* file_variable = "GOOGLE_APPLICATION_CREDENTIALS";

/// Where credentials are looked for, in this order; the first that has any is it.
struct credential_places {
  std::string file{};         ///< As configured (`credentials`); nothing else is looked at then.
  std::string log_in_file{};  ///< Where `hondana login` keeps one, if it is there; empty: nowhere.
  /// Null: not looked at. `inline_variable` comes before the log-in, `file_variable` after it, since it may be meant for
  /// others.
  environment variables{};
  std::string token_url{};  ///< As for `parse_credentials`.
  std::string advice{};     ///< Said when there is nothing: "log in with `hondana login --source team`".
};

struct found_credentials {
  credentials who;
  std::string from;  ///< For people: "the file that `credentials` names". No path.
  std::string path;  ///< Empty: from the environment.
};

/// Files are read only when nobody else can read or change them (0600; 0640 for a service's group) and they are ours or
/// root's. Errors: unauthorized when there is nothing, with the advice; access_denied for a file that others can read;
/// invalid_argument. Public texts name no path that was not configured.
[[nodiscard]] result<found_credentials> find_credentials(const credential_places& in);

/// What `find_credentials` would read now; changes when one of the files does. Never fails: a file that is not there has a
/// stamp, too.
[[nodiscard]] std::string stamp_of(const credential_places& in);

/// Where a source's log-in is kept unless its settings say: `$XDG_DATA_HOME/hondana/google-NAME.json`, or below
/// `~/.local/share`; empty when neither variable is set.
[[nodiscard]] std::string usual_log_in_file(std::string_view source, const environment& of);

}  // namespace hondana::google
