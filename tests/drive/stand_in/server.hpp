/// A stand-in of Google Drive API v3 and of Google's authorization server, on a free port of 127.0.0.1.
///
///     drive_test::stand_in google;
///     const auto id = google.add({.name = "設計", .type = drive_test::mime::document, .bytes = "# 設計\n"});
///     // A client takes google.url() where it has https://www.googleapis.com, and google.service_account() as its key file.
///     google.fail({.path = "/drive/v3/files", .status = 403, .reason = "userRateLimitExceeded", .retry_after = "1"});
///     google.edit(id, [](drive_test::file& one) { one.bytes = "# 改訂\n"; });   // changes.list has it
///     google.requests();                                                        // what was asked
///
/// It listens at: /drive/v3/{about,files,files/ID,files/ID/export,changes,changes/startPageToken,changes/watch,drives},
/// /token (JWT bearer, authorization code, refresh token), /o/oauth2/v2/auth (says yes at once), /revoke, /tokeninfo; export
/// links lead to itself. It is as strict as Google: a file that was shared with nobody is not found, what lies in a shared
/// drive wants supportsAllDrives, `fields` leaves out what it does not name (nextPageToken, too), and My Drive of the service
/// account is empty: what it sees was shared with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drive/stand_in/things.hpp"

namespace drive_test {

/// Threads: any.
class stand_in {
 public:
  explicit stand_in(setup how = {});
  ~stand_in();
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// `http://127.0.0.1:PORT`: of the API, of the token endpoint and of the page for browsers alike.
  [[nodiscard]] std::string url(std::string_view path = {}) const;

  // What a client needs to be let in.

  /// The JSON key file of the service account; its `token_uri` is ours. The key is made once a process.
  [[nodiscard]] std::string service_account() const;
  /// An access token of anybody, as if it came from the token endpoint. Scopes are separated by spaces.
  std::string access_token(const std::string& whom,
                           const std::string& scope = "https://www.googleapis.com/auth/drive.readonly");
  /// A refresh token of `setup::client_id`, likewise.
  std::string refresh_token(const std::string& whom,
                            const std::string& scope = "https://www.googleapis.com/auth/drive.readonly");
  /// What was given to anybody, or to `whom`, is no longer good: access tokens, and refresh tokens where `refresh`.
  void revoke(const std::string& whom = {}, bool refresh = true);
  /// Only access tokens, as if their time were over.
  void end_access() { revoke({}, false); }

  // What it holds.

  /// The id. One that is there already is replaced, which is a change.
  std::string add(file one);
  std::string add(shared_drive one);
  /// A folder with all that leads to it, by names separated by '/'; the id of the last.
  std::string folder(std::string_view path, const std::string& drive = {});
  /// Changes one, which is a change of a new version and, unless `change` sets it, modified now.
  void edit(const std::string& id, const std::function<void(file&)>& change);
  void trash(const std::string& id, bool is_trashed = true);
  /// For good, with all that lies in it.
  void remove(const std::string& id);
  void remove_drive(const std::string& id);
  /// Gives somebody a role on a file and on all that lies in it, or takes all roles away.
  void share(const std::string& id, const permission& with);
  void unshare(const std::string& id, const std::string& whom);
  /// The same of a shared drive.
  void join(const std::string& drive, const permission& who);
  void leave(const std::string& drive, const std::string& whom);
  [[nodiscard]] file held(const std::string& id) const;
  [[nodiscard]] std::vector<std::string> ids() const;
  /// The bytes that alt=media gives, or an export of the type. Empty when there is no such export.
  [[nodiscard]] std::string content(const std::string& id, std::string_view exported_as = {}) const;
  /// `version` of the resource.
  [[nodiscard]] std::int64_t version(const std::string& id) const;
  /// Adds all that a seed has; see README.md. Throws std::runtime_error for what is none.
  void seed(std::string_view json);

  // How it behaves.

  void fail(const fault& how);
  /// No faults any more; answers that stall go on.
  void heal();
  /// From now on requests with page tokens that were given before are answered with this: 403 pageTokenExpired, 400 invalid or
  /// 410 gone.
  void expire_page_tokens(int status = 400, bool those_of_changes = true, bool those_of_lists = true);
  void configure(const std::function<void(setup&)>& change);

  // What it has seen.

  [[nodiscard]] std::vector<logged> requests() const;
  /// Of those whose path begins so.
  [[nodiscard]] std::vector<logged> requests(std::string_view path) const;
  /// Waits until there are so many; false when they do not come within minutes.
  [[nodiscard]] bool wait_for_requests(std::string_view path, std::size_t count) const;
  void forget();
  /// Channels that are open.
  [[nodiscard]] std::size_t channels() const;
  /// Notices that were taken by who listens (2xx).
  [[nodiscard]] std::size_t notices() const;

 private:
  struct inner;
  std::unique_ptr<inner> inner_;
};

}  // namespace drive_test
