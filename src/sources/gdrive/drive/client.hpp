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
[[nodiscard]] std::string quoted(std::string_view text);

/// A search query whose terms are joined by "and". Without terms it matches everything.
class query {
 public:
  query& in_folder(std::string_view id);       ///< `'ID' in parents`
  query& name_is(std::string_view name);       ///< `name = '…'`
  query& name_begins(std::string_view begin);  ///< `name contains '…'`, which matches words by prefix and ignores case.
  query& text_has(std::string_view words);     ///< `fullText contains '…'`
  query& is_type(std::string_view mime_type);
  query& is_not_type(std::string_view mime_type);
  query& trashed(bool is_so);
  query& starred(bool is_so);
  query& shared_with_me();
  /// `time`: RFC 3339.
  query& modified_after(std::string_view time);
  /// Adds a term in Drive's query syntax, in parentheses. The term is trusted: it comes from the configuration.
  query& also(std::string_view term);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  query& add(std::string_view term);
  std::string text_;
};

inline constexpr std::string_view usual_base = "https://www.googleapis.com";

/// Server, rate limit, retries and timeouts of a client.
struct settings {
  /// Scheme, host and port, without a path. http: is allowed for loopback only.
  std::string base{usual_base};
  std::string proxy{};        ///< As `endpoint::settings::proxy`.
  std::string authorities{};  ///< As `endpoint::settings::authorities`.
  rate allowed{};
  int attempts = 6;  ///< Per request, including the first; 1 to 10.
  /// Upper limit of the first back-off, which doubles with each failure. The actual wait is random, from 0 to the limit.
  std::chrono::milliseconds first_pause{1'000};
  std::chrono::milliseconds longest_pause{32'000};
  /// Longest `Retry-After` that is waited for. A longer one fails the call, which reports it.
  std::chrono::milliseconds longest_retry_after{120'000};
  /// Until an answer begins, and for a whole answer that is not file content.
  std::chrono::milliseconds time{60'000};
  std::chrono::milliseconds content_time{1'800'000};  ///< For one file's content.
  /// A transfer of less than `slow_bytes` within `slow_time` counts as stalled.
  std::size_t slow_bytes = 1'024;
  std::chrono::milliseconds slow_time{20'000};
  std::function<void(std::string_view line)> log{};  ///< Receives a line per pause and retry, never a secret. Threads: any.
};

/// Options of each call.
struct errand {
  std::stop_token stop{};
  /// Deadline of the whole call, including back-off and waiting for the rate limit. Without one, the settings apply.
  std::optional<std::chrono::steady_clock::time_point> until{};
  lane of = lane::reading;
  std::vector<resource_key> keys{};  ///< Resource keys of the file and of the folders above it.
};

/// The parameters of files.list.
struct list_request {
  enum class corpus : std::uint8_t {
    user,        ///< Files that the user has opened, owns or has access to.
    drive,       ///< One shared drive: `drive_id`.
    all_drives,  ///< All drives. The result may be incomplete.
  };
  std::string q{};  ///< A search query of the Drive API (files.list, q). Empty: everything.
  corpus in = corpus::user;
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
  changes_request from{};                      ///< Gives the page token and the drive.
  std::string id{};                            ///< Chosen by the caller, unique: up to 64 letters, digits and `-_+/=`.
  std::string address{};                       ///< https.
  std::string token{};                         ///< Returned with each notification; up to 256 characters.
  std::optional<std::chrono::seconds> life{};  ///< Without a value, Drive chooses it.
};

struct byte_range {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last{};  ///< Inclusive. Without a value, the range reaches to the end.
};

/// Properties of a content, available before its first byte.
struct content_head {
  std::string type{};                    ///< Content-Type, unchanged.
  std::optional<std::uint64_t> whole{};  ///< Size of the whole content in bytes, if known.
  std::uint64_t first = 0;               ///< Offset of the first byte that follows.
  bool is_by_link = false;               ///< Downloaded through an export link.
};

/// Receives a content. Threads: that of the call.
struct content_sink {
  /// Called once before the first byte; may be null. An error ends the call.
  std::function<result<void>(const content_head&)> begins{};
  std::function<result<void>(std::string_view piece)> takes{};
  std::size_t most_bytes = 1u << 30;  ///< Exceeding this fails with trouble::too_large.
};

/// A client of one Drive account. Each call blocks. Threads: any. At most eight requests run at once, five of them with
/// priority `crawling`; more calls wait.
/// Every request counts against the budget. Temporary failures (429, 403 with a rate limit reason, 500, 502, 503, 504, no
/// connection) are retried with truncated exponential back-off. A content is retried only until its first byte was passed to
/// the sink. A rejected token is renewed once. Requests always send `supportsAllDrives` and never `acknowledgeAbuse`.
///
/// Errors of all calls: see `trouble`. Each public text says what failed, why, and what to do.
class client {
 public:
  /// Errors: invalid_argument, naming the setting.
  [[nodiscard]] static result<std::shared_ptr<client>> of(settings from, std::shared_ptr<google::tokens> with);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// GET /drive/v3/about. Remembers the account's address for error texts that say whom to share a file with.
  [[nodiscard]] answer<about> get_about(const errand& how) const;
  /// GET /drive/v3/drives. Requires the scope `drive.readonly`. `page_size`: 1 to 100.
  [[nodiscard]] answer<drive_page> list_drives(const std::string& page_token, const errand& how, int page_size = 100) const;
  /// GET /drive/v3/drives/{id}.
  [[nodiscard]] answer<shared_drive> get_drive(const std::string& id, const errand& how) const;
  /// GET /drive/v3/files. An empty page with a `next` is not the last.
  [[nodiscard]] answer<file_page> list_files(const list_request& what, const errand& how) const;
  /// GET /drive/v3/files/{id}, with the export links.
  [[nodiscard]] answer<file> get_file(const std::string& id, const errand& how) const;

  /// GET /drive/v3/files/{id}?alt=media. If the server ignores the range, the bytes before it are skipped. Errors: bad_range,
  /// not_downloadable, abusive; malformed if the server sends a different range.
  [[nodiscard]] answer<void> get_content(const std::string& id, const std::optional<byte_range>& range,
                                         const content_sink& into, const errand& how) const;
  /// GET /drive/v3/files/{id}/export. Errors: export_too_large, not_exportable.
  [[nodiscard]] answer<void> export_content(const std::string& id, const std::string& mime_type, const content_sink& into,
                                            const errand& how) const;
  /// Downloads the export link of a file for a MIME type; it does not have the limit of 10 MB of `export_content`.
  /// The token is sent to docs.google.com, *.googleapis.com and the base only. At most 5 redirects are followed: within the
  /// base, and to *.google.com, *.googleapis.com and *.googleusercontent.com. Errors: not_exportable without such a link;
  /// malformed if it points elsewhere.
  [[nodiscard]] answer<void> export_by_link(const file& of, const std::string& mime_type, const content_sink& into,
                                            const errand& how) const;

  /// GET /drive/v3/changes/startPageToken. Empty `drive_id`: the user's log.
  [[nodiscard]] answer<std::string> get_start_page_token(const std::string& drive_id, const errand& how) const;
  /// GET /drive/v3/changes. Errors: page_token_gone: list all files again, and continue with a new start token.
  [[nodiscard]] answer<change_page> list_changes(const changes_request& what, const errand& how) const;
  /// POST /drive/v3/changes/watch.
  [[nodiscard]] answer<channel> watch_changes(const watch_request& what, const errand& how) const;
  /// POST /drive/v3/channels/stop. An unknown channel is not an error.
  [[nodiscard]] answer<void> stop_channel(const std::string& id, const std::string& resource_id, const errand& how) const;

  struct figures {
    std::uint64_t requests = 0;  ///< Requests sent, including retries.
    std::uint64_t retries = 0;
    std::uint64_t limited = 0;  ///< Answers that requested a slower rate.
    std::uint64_t bytes = 0;    ///< Of contents.
    budget::figures turns{};
  };
  [[nodiscard]] figures now() const;
  /// The account that files must be shared with; empty if unknown.
  [[nodiscard]] std::string account() const;
  /// The `host:port` of every server that the client may connect to, for `needs::sockets`. "*:*" if that is not known in
  /// advance, as with Google's own hosts or a proxy.
  [[nodiscard]] std::vector<std::string> places() const;

 private:
  struct state;
  explicit client(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::drive
