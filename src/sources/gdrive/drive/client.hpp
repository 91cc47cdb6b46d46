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

/// Quotes a text for a search query: `'…'` with quotes and backslashes escaped. Spec: Google, "Search query terms and
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
  /// Adds a term in Drive's query syntax, in parentheses. The term is trusted: it comes from the configuration.
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
  int max_attempts = 6;  ///< Per request, including the first; 1 to 10.
  /// Upper limit of the first back-off, which doubles with each failure. The actual wait is random, from 0 to the limit.
  std::chrono::milliseconds initial_delay{1'000};
  std::chrono::milliseconds max_delay{32'000};
  /// Longest `Retry-After` that is waited for. A longer one fails the call, which reports it.
  std::chrono::milliseconds max_retry_after{120'000};
  /// Until an answer begins, and for a whole answer that is not file content.
  std::chrono::milliseconds request_timeout{60'000};
  std::chrono::milliseconds content_timeout{1'800'000};  ///< For one file's content.
  /// A transfer of less than `stall_bytes` within `stall_timeout` counts as stalled.
  std::size_t stall_bytes = 1'024;
  std::chrono::milliseconds stall_timeout{20'000};
  std::function<void(std::string_view line)> log{};  ///< Receives a line per pause and retry, never a secret. Threads: any.
};

/// Options of each call.
struct call_options {
  std::stop_token stop{};
  /// Deadline of the whole call, including back-off and waiting for the rate limit. Without one, the settings apply.
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  request_priority priority = request_priority::reading;
  std::vector<resource_key> resource_keys{};  ///< Resource keys of the file and of the folders above it.
};

/// The parameters of files.list.
struct list_request {
  enum class search_corpus : std::uint8_t {
    user,        ///< Files that the user has opened, owns or has access to.
    drive,       ///< One shared drive: `drive_id`.
    all_drives,  ///< All drives. The result may be incomplete.
  };
  std::string q{};  ///< A search query of the Drive API (files.list, q). Empty: everything.
  search_corpus corpus = search_corpus::user;
  std::string drive_id{};
  std::string order_by{};  ///< For example "modifiedTime desc". Empty: any order.
  std::string page_token{};
  int page_size = 1'000;  ///< 1 to 1000. A page has fewer entries if the answer would be too large.
  std::string fields{};   ///< Fields of each file; empty: `file_fields()`.
};

/// The parameters of changes.list.
struct changes_request {
  std::string page_token{};
  /// The shared drive whose change log is read; other logs do not contain its changes. Empty: the user's log.
  std::string drive_id{};
  int page_size = 1'000;  ///< As in `list_request`.
  std::string fields{};   ///< Fields of each file; empty: `file_fields()`.
};

/// The parameters of changes.watch.
struct watch_request {
  changes_request changes{};                  ///< Gives the page token and the drive.
  std::string id{};                           ///< Chosen by the caller, unique: up to 64 letters, digits and `-_+/=`.
  std::string address{};                      ///< https.
  std::string token{};                        ///< Returned with each notification; up to 256 characters.
  std::optional<std::chrono::seconds> ttl{};  ///< Without a value, Drive chooses it.
};

struct byte_range {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last{};  ///< Inclusive. Without a value, the range reaches to the end.
};

/// Properties of a content, available before its first byte.
struct content_head {
  std::string content_type{};                  ///< Content-Type, unchanged.
  std::optional<std::uint64_t> total_bytes{};  ///< Size of the whole content in bytes, if known.
  std::uint64_t first = 0;                     ///< Offset of the first byte that follows.
  bool uses_export_link = false;               ///< Downloaded through an export link.
};

/// Receives a content. Threads: that of the call.
struct content_sink {
  /// Called once before the first byte; may be null. An error ends the call.
  std::function<result<void>(const content_head&)> on_begin{};
  std::function<result<void>(std::string_view chunk)> on_data{};
  std::size_t max_bytes = 1u << 30;  ///< Exceeding this fails with `error_kind::too_large`.
};

/// A client of one Drive account. Each call blocks. Threads: any. At most eight requests run at once, five of them with
/// priority `crawling`; more calls wait.
/// Every request counts against the budget. Temporary failures (429, 403 with a rate limit reason, 500, 502, 503, 504, no
/// connection) are retried with truncated exponential back-off. A content is retried only until its first byte was passed to
/// the sink. A rejected token is renewed once. Requests always send `supportsAllDrives` and never `acknowledgeAbuse`.
///
/// Errors of all calls: see `error_kind`. Each public text says what failed, why, and what to do.
class client {
 public:
  /// Errors: invalid_argument, naming the setting.
  [[nodiscard]] static result<std::shared_ptr<client>> create(client_settings settings,
                                                              std::shared_ptr<google::access_token_source> tokens);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// GET /drive/v3/about. Remembers the account's address for error texts that say whom to share a file with.
  [[nodiscard]] api_result<about_resource> get_about(const call_options& options) const;
  /// GET /drive/v3/drives. Requires the scope `drive.readonly`. `page_size`: 1 to 100.
  [[nodiscard]] api_result<drive_page> list_drives(const std::string& page_token, const call_options& options,
                                                   int page_size = 100) const;
  /// GET /drive/v3/drives/{id}.
  [[nodiscard]] api_result<shared_drive> get_drive(const std::string& id, const call_options& options) const;
  /// GET /drive/v3/files. An empty page with a `next_page_token` is not the last.
  [[nodiscard]] api_result<file_page> list_files(const list_request& request, const call_options& options) const;
  /// GET /drive/v3/files/{id}, with the export links.
  [[nodiscard]] api_result<file> get_file(const std::string& id, const call_options& options) const;

  /// GET /drive/v3/files/{id}?alt=media. If the server ignores the range, the bytes before it are skipped. Errors: bad_range,
  /// not_downloadable, abusive; malformed if the server sends a different range.
  [[nodiscard]] api_result<void> get_content(const std::string& id, const std::optional<byte_range>& range,
                                             const content_sink& sink, const call_options& options) const;
  /// GET /drive/v3/files/{id}/export. Errors: export_too_large, not_exportable.
  [[nodiscard]] api_result<void> export_content(const std::string& id, const std::string& mime_type, const content_sink& sink,
                                                const call_options& options) const;
  /// Downloads the export link of a file for a MIME type; it does not have the limit of 10 MB of `export_content`.
  /// The token is sent to docs.google.com, *.googleapis.com and the base only. At most 5 redirects are followed: within the
  /// base, and to *.google.com, *.googleapis.com and *.googleusercontent.com. Errors: not_exportable without such a link;
  /// malformed if it points elsewhere.
  [[nodiscard]] api_result<void> export_by_link(const file& file, const std::string& mime_type, const content_sink& sink,
                                                const call_options& options) const;

  /// GET /drive/v3/changes/startPageToken. Empty `drive_id`: the user's log.
  [[nodiscard]] api_result<std::string> get_start_page_token(const std::string& drive_id, const call_options& options) const;
  /// GET /drive/v3/changes. Errors: page_token_gone: list all files again, and continue with a new start token.
  [[nodiscard]] api_result<change_page> list_changes(const changes_request& request, const call_options& options) const;
  /// POST /drive/v3/changes/watch.
  [[nodiscard]] api_result<channel> watch_changes(const watch_request& request, const call_options& options) const;
  /// POST /drive/v3/channels/stop. An unknown channel is not an error.
  [[nodiscard]] api_result<void> stop_channel(const std::string& id, const std::string& resource_id,
                                              const call_options& options) const;

  struct statistics {
    std::uint64_t requests = 0;  ///< Requests sent, including retries.
    std::uint64_t retries = 0;
    std::uint64_t throttled = 0;  ///< Answers that requested a slower rate.
    std::uint64_t bytes = 0;      ///< Of contents.
    request_budget::statistics rate_limit{};
  };
  [[nodiscard]] statistics current_statistics() const;
  /// The account that files must be shared with; empty if unknown.
  [[nodiscard]] std::string account() const;
  /// The `host:port` of every server that the client may connect to, for `system_requirements::sockets`. "*:*" if that is not
  /// known in advance, as with Google's own hosts or a proxy.
  [[nodiscard]] std::vector<std::string> addresses() const;

 private:
  struct state;
  explicit client(std::unique_ptr<state> initial_state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::drive
