/// A read-only client of the Google Drive API v3, and its search queries.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "auth/google/access_tokens.hpp"
#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/drive/drive_error.hpp"
#include "sources/gdrive/drive/request_budget.hpp"

namespace hondana::drive {

/// Puts a text in single quotes for a search query, and escapes quotes and backslashes. Spec: Google, "Search query terms and
/// operators".
[[nodiscard]] std::string quote(std::string_view text);

/// A search query whose terms are joined by "and". Without terms it matches everything.
class query {
 public:
  query& in_folder(std::string_view id);              ///< `'ID' in parents`
  query& name_equals(std::string_view name);          ///< `name = '…'`
  query& name_starts_with(std::string_view prefix);   ///< `name contains '…'`, which matches words by prefix and ignores case.
  query& full_text_contains(std::string_view words);  ///< `fullText contains '…'`
  query& type_is(std::string_view mime_type);
  query& type_is_not(std::string_view mime_type);
  query& trashed(bool is_trashed);
  query& starred(bool is_starred);
  query& shared_with_me();
  /// `time`: RFC 3339.
  query& modified_after(std::string_view time);
  /// Adds a term in Drive's query syntax, in parentheses. Must come from a trusted origin, such as the configuration. Empty:
  /// adds nothing.
  query& custom_term(std::string_view term);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  query& add(std::string_view term);
  std::string text_;
};

inline constexpr std::string_view default_base_url = "https://www.googleapis.com";

/// Server, rate limit, retries and timeouts of a client.
struct client_settings {
  /// Scheme, host and port, without a path. http: is allowed for loopback only.
  std::string base_url{default_base_url};
  std::string proxy{};    ///< As `endpoint::settings::proxy`.
  std::string ca_file{};  ///< As `endpoint::settings::ca_file`.
  rate_quota quota{};
  int max_attempts = 6;  ///< Attempts for one request, including the first; 1 to 10.
  // The wait before a retry is random, from 0 to a limit that begins with `initial_delay` and doubles up to `max_delay`.
  std::chrono::milliseconds initial_delay{1'000};
  std::chrono::milliseconds max_delay{32'000};
  /// If an answer has a longer `Retry-After`, the call fails at once.
  std::chrono::milliseconds max_retry_after{120'000};
  /// Timeout until an answer begins, and of a whole answer that is not file content.
  std::chrono::milliseconds request_timeout{60'000};
  std::chrono::milliseconds content_timeout{1'800'000};  ///< Timeout of a call without `call_options::deadline`.
  // A transfer of less than `stall_bytes` within `stall_timeout` fails as stalled.
  std::size_t stall_bytes = 1'024;
  std::chrono::milliseconds stall_timeout{20'000};
  /// Receives a line for each pause and retry, without secrets. May be empty. Threads: any.
  std::function<void(std::string_view line)> log{};
};

/// Options of each call.
struct call_options {
  std::stop_token stop{};  ///< Cancels the call.
  /// Deadline of the whole call, including retries and waiting for the rate limit. nullopt: `client_settings::content_timeout`
  /// from now.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  request_priority priority = request_priority::reading;
  std::vector<resource_key> resource_keys{};  ///< Resource keys of the file and of the folders above it.
};

/// The parameters of files.list.
struct list_request {
  enum class search_corpus : std::uint8_t {
    user,        ///< Files that the user has opened, owns or has access to.
    drive,       ///< The files of one shared drive.
    all_drives,  ///< The files of all drives. The result may be incomplete (`file_page::is_incomplete`).
  };
  std::string q{};  ///< A search query, from `query` or in the syntax of the Drive API. Empty: all files.
  search_corpus corpus = search_corpus::user;
  std::string drive_id{};    ///< Id of the shared drive, if and only if `corpus` is `drive`.
  std::string order_by{};    ///< For example "modifiedTime desc". Empty: any order.
  std::string page_token{};  ///< `file_page::next_page_token`. Empty: the first page.
  int page_size = 1'000;     ///< 1 to 1000. The client requests fewer entries if the answer would be too large.
  std::string fields{};      ///< The fields of each file. Empty: `file_fields()`.
};

/// The parameters of changes.list.
struct changes_request {
  std::string page_token{};  ///< From `client::get_start_page_token` or a `change_page`. Required.
  /// The shared drive whose change log is read. Other logs do not contain its changes. Empty: the user's change log.
  std::string drive_id{};
  int page_size = 1'000;  ///< As in `list_request`.
  std::string fields{};   ///< As in `list_request`.
};

/// The parameters of changes.watch.
struct watch_request {
  changes_request changes{};                  ///< The page token and the drive of the changes to report.
  std::string id{};                           ///< A new unique id of the channel: 1 to 64 letters, digits and `-_+/=`.
  std::string address{};                      ///< The https: URL that receives notifications.
  std::string token{};                        ///< A text that Drive sends with each notification; at most 256 bytes.
  std::optional<std::chrono::seconds> ttl{};  ///< Lifetime of the channel. nullopt: Drive chooses it.
};

struct byte_range {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last{};  ///< Inclusive. nullopt: to the end.
};

/// Properties of a content, available before its first byte.
struct content_head {
  std::string content_type{};                  ///< The header Content-Type.
  std::optional<std::uint64_t> total_bytes{};  ///< Size of the whole content. Only known if a range was requested.
  std::uint64_t first = 0;                     ///< Offset in the content of the first byte that `on_data` gets.
  bool uses_export_link = false;               ///< The content comes from an export link.
};

/// Receives a content. The functions are called on the thread of the call. An error that they return ends the call with
/// `error_kind::sink`.
struct content_sink {
  /// Called once before `on_data`. May be empty.
  std::function<result<void>(const content_head&)> on_begin{};
  std::function<result<void>(std::string_view chunk)> on_data{};
  std::size_t max_bytes = 1u << 30;  ///< Limit of the content: `error_kind::too_large`. Not applied to ranges.
};

/// A client of one Drive account. Each call blocks. Threads: any. At most eight requests run at once, and five of these with
/// the priority `crawling`; further calls wait. All requests, including retries, wait for the rate limit. Temporary failures
/// (`rate_limited` and `unavailable`) are retried with exponential back-off, but not after `content_sink` was called. A
/// rejected token is renewed once.
///
/// Errors of all calls: see `error_kind`. Each public text says what failed, why, and what to do.
class client {
 public:
  /// Checks the settings; sends nothing. Errors: invalid_argument, naming the setting.
  [[nodiscard]] static result<std::shared_ptr<client>> create(client_settings settings,
                                                              std::shared_ptr<google::access_token_source> tokens);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// GET /drive/v3/about. From then on, `account` is known.
  [[nodiscard]] api_result<about_resource> get_about(const call_options& options) const;
  /// GET /drive/v3/drives. Requires the scope `drive.readonly`. `page_token`: empty: the first page. `page_size`: 1 to 100.
  [[nodiscard]] api_result<drive_page> list_drives(const std::string& page_token, const call_options& options,
                                                   int page_size = 100) const;
  /// GET /drive/v3/drives/{id}.
  [[nodiscard]] api_result<shared_drive> get_drive(const std::string& id, const call_options& options) const;
  /// GET /drive/v3/files. Any page may be empty; the last one has no `next_page_token`.
  [[nodiscard]] api_result<file_page> list_files(const list_request& request, const call_options& options) const;
  /// GET /drive/v3/files/{id}, with the export links. "root": the root folder of the user's own drive.
  [[nodiscard]] api_result<file> get_file(const std::string& id, const call_options& options) const;

  /// GET /drive/v3/files/{id}?alt=media. `range`: nullopt: the whole content. If the server ignores the range, the client skips
  /// the other bytes. Errors: bad_range, not_downloadable, abusive; malformed if the server sends another range.
  [[nodiscard]] api_result<void> get_content(const std::string& id, const std::optional<byte_range>& range,
                                             const content_sink& sink, const call_options& options) const;
  /// GET /drive/v3/files/{id}/export. Errors: export_too_large, not_exportable.
  [[nodiscard]] api_result<void> export_content(const std::string& id, const std::string& mime_type, const content_sink& sink,
                                                const call_options& options) const;
  /// Downloads the export link of a file for a MIME type, without the limit of 10 MB of `export_content`. `file`: from
  /// `get_file`. Follows at most 5 redirects, to servers that `check_link` (request_sender.hpp) allows. Errors: not_exportable:
  /// there is no such link; malformed: it leads elsewhere; unauthorized: it leads to Google's log-in page.
  [[nodiscard]] api_result<void> export_by_link(const file& file, const std::string& mime_type, const content_sink& sink,
                                                const call_options& options) const;

  /// GET /drive/v3/changes/startPageToken. `drive_id`: as `changes_request::drive_id`.
  [[nodiscard]] api_result<std::string> get_start_page_token(const std::string& drive_id, const call_options& options) const;
  /// GET /drive/v3/changes. Errors: page_token_gone: list all files again, and continue with a new start page token.
  [[nodiscard]] api_result<change_page> list_changes(const changes_request& request, const call_options& options) const;
  /// POST /drive/v3/changes/watch: opens a notification channel.
  [[nodiscard]] api_result<channel> watch_changes(const watch_request& request, const call_options& options) const;
  /// POST /drive/v3/channels/stop: closes a notification channel. An unknown channel is not an error. `id`, `resource_id`: of
  /// the `channel`.
  [[nodiscard]] api_result<void> stop_channel(const std::string& id, const std::string& resource_id,
                                              const call_options& options) const;

  struct statistics {
    std::uint64_t requests = 0;   ///< Requests sent, including retries.
    std::uint64_t retries = 0;    ///< Requests sent again after a wait.
    std::uint64_t throttled = 0;  ///< Answers of the kind `rate_limited`.
    std::uint64_t bytes = 0;      ///< Bytes of contents passed to sinks.
    request_budget::statistics rate_limit{};
  };
  [[nodiscard]] statistics current_statistics() const;
  /// The address of the account with which files must be shared. Empty: unknown.
  [[nodiscard]] std::string account() const;
  /// The `host:port` of every server that the client may connect to, for `system_requirements::sockets`. "*:*": they are not
  /// known in advance, as with Google's own servers or a proxy.
  [[nodiscard]] std::vector<std::string> addresses() const;

 private:
  struct state;
  explicit client(std::unique_ptr<state> initial_state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::drive
