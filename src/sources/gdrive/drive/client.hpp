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

/// `'…'` with quotes and backslashes escaped. Spec: Google, "Search query terms and operators".
[[nodiscard]] std::string quoted(std::string_view text);

/// Terms that are all to hold. Empty: everything.
class query {
 public:
  query& in_folder(std::string_view id);       ///< `'ID' in parents`
  query& name_is(std::string_view name);       ///< `name = '…'`
  query& name_begins(std::string_view begin);  ///< `name contains '…'`, which is by words and ignores case.
  query& text_has(std::string_view words);     ///< `fullText contains '…'`
  query& is_type(std::string_view mime_type);
  query& is_not_type(std::string_view mime_type);
  query& trashed(bool is_so);
  query& starred(bool is_so);
  query& shared_with_me();
  /// RFC 3339.
  query& modified_after(std::string_view time);
  /// A term in Drive's own words, which is trusted: from the configuration. It is put into parentheses.
  query& also(std::string_view term);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  query& add(std::string_view term);
  std::string text_;
};

inline constexpr std::string_view usual_base = "https://www.googleapis.com";

struct settings {
  /// Scheme, host and port, without a path; http: only to this machine.
  std::string base{usual_base};
  std::string proxy{};        ///< As `endpoint::settings::proxy`.
  std::string authorities{};  ///< As `endpoint::settings::authorities`.
  rate allowed{};
  int attempts = 6;                              ///< Of one request, the first included; 1 to 10.
  std::chrono::milliseconds first_pause{1'000};  ///< Doubles with each failure; what is waited is between 0 and it.
  std::chrono::milliseconds longest_pause{32'000};
  std::chrono::milliseconds longest_retry_after{120'000};  ///< `Retry-After` is obeyed up to this; beyond it, it is told.
  std::chrono::milliseconds time{60'000};                  ///< Until an answer begins, and of an answer that is no content.
  std::chrono::milliseconds content_time{1'800'000};       ///< Of one content.
  /// A body of which less than `slow_bytes` come in `slow_time` has stalled.
  std::size_t slow_bytes = 1'024;
  std::chrono::milliseconds slow_time{20'000};
  std::function<void(std::string_view line)> log{};  ///< Hears of pauses and attempts, never a secret. Threads: any.
};

/// What goes with each call.
struct errand {
  std::stop_token stop{};
  /// Everything is over by then, pauses and waiting for a turn included. Nothing: as the settings say.
  std::optional<std::chrono::steady_clock::time_point> until{};
  lane of = lane::reading;
  std::vector<resource_key> keys{};  ///< Of the file and of the folders that lead to it.
};

struct list_request {
  enum class corpus : std::uint8_t {
    user,        ///< What the user has opened, owns or was given.
    drive,       ///< One shared drive: `drive_id`.
    all_drives,  ///< Everything; may be incomplete.
  };
  std::string q{};  ///< A search query of the Drive API (files.list, q). Empty: everything.
  corpus in = corpus::user;
  std::string drive_id{};
  std::string order_by{};  ///< "modifiedTime desc". Empty: any order.
  std::string page_token{};
  int page_size = 1'000;  ///< 1 to 1000; a page has fewer where so many are too large for an answer.
  std::string fields{};   ///< Of one file; empty: `file_fields()`.
};

struct changes_request {
  std::string page_token{};
  /// Of a shared drive, whose changes come only by its own log. Empty: the user's log.
  std::string drive_id{};
  int page_size = 1'000;  ///< As of a list.
  std::string fields{};   ///< Of one file; empty: `file_fields()`.
};

struct watch_request {
  changes_request from{};                      ///< Its token and drive.
  std::string id{};                            ///< Ours, unique: letters, digits and `-_+/=`, up to 64.
  std::string address{};                       ///< https.
  std::string token{};                         ///< Comes back with each notification; up to 256.
  std::optional<std::chrono::seconds> life{};  ///< As Drive likes, when nothing.
};

struct byte_range {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last{};  ///< Included; nothing: to the end.
};

/// What is known of a content before its first byte.
struct content_head {
  std::string type{};                    ///< Content-Type as spelled.
  std::optional<std::uint64_t> whole{};  ///< Bytes of the whole content, where it is said.
  std::uint64_t first = 0;               ///< Where the bytes that come begin.
  bool is_by_link = false;               ///< Through an export link.
};

/// Takes a content. Threads: that of the call.
struct content_sink {
  /// Before the first byte, once; null: not wanted. An error ends the call.
  std::function<result<void>(const content_head&)> begins{};
  std::function<result<void>(std::string_view piece)> takes{};
  std::size_t most_bytes = 1u << 30;  ///< More is trouble::too_large.
};

/// Threads: any, at most eight requests at once, five of them of a crawl; more wait. Blocks. All calls take part in the budget;
/// what may pass (429, 403 of a rate, 500, 502, 503, 504, no connection) is tried again with truncated exponential backoff, a
/// content only as long as nothing of it was passed on. A token that is refused is got anew once. `supportsAllDrives` is always
/// said, `acknowledgeAbuse` never.
///
/// Errors of all: see `trouble`; each public text says what was done, why not and what to do.
class client {
 public:
  /// Errors: invalid_argument, naming the setting.
  [[nodiscard]] static result<std::shared_ptr<client>> of(settings from, std::shared_ptr<google::tokens> with);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// GET /drive/v3/about. The address is remembered, for errors to say whom to share with.
  [[nodiscard]] answer<about> get_about(const errand& how) const;
  /// GET /drive/v3/drives. Needs `drive.readonly`. `page_size`: 1 to 100.
  [[nodiscard]] answer<drive_page> list_drives(const std::string& page_token, const errand& how, int page_size = 100) const;
  /// GET /drive/v3/drives/{id}.
  [[nodiscard]] answer<shared_drive> get_drive(const std::string& id, const errand& how) const;
  /// GET /drive/v3/files. An empty page with a `next` is no end.
  [[nodiscard]] answer<file_page> list_files(const list_request& what, const errand& how) const;
  /// GET /drive/v3/files/{id}, with the export links.
  [[nodiscard]] answer<file> get_file(const std::string& id, const errand& how) const;

  /// GET /drive/v3/files/{id}?alt=media. A server that knows no ranges is read up to the first byte. Errors: bad_range,
  /// not_downloadable, abusive; malformed when another range comes than was asked for.
  [[nodiscard]] answer<void> get_content(const std::string& id, const std::optional<byte_range>& range,
                                         const content_sink& into, const errand& how) const;
  /// GET /drive/v3/files/{id}/export. Errors: export_too_large, not_exportable.
  [[nodiscard]] answer<void> export_content(const std::string& id, const std::string& mime_type, const content_sink& into,
                                            const errand& how) const;
  /// What `export_links` of the file have for this type, which has no limit of 10 MB. The token goes to docs.google.com,
  /// *.googleapis.com and the base alone; at most 5 redirects are followed, to Google's hosts (*.google.com, *.googleapis.com,
  /// *.googleusercontent.com) and within the base. Errors: not_exportable without such a link; malformed for one that leads
  /// elsewhere.
  [[nodiscard]] answer<void> export_by_link(const file& of, const std::string& mime_type, const content_sink& into,
                                            const errand& how) const;

  /// GET /drive/v3/changes/startPageToken. Empty: the user's log.
  [[nodiscard]] answer<std::string> get_start_page_token(const std::string& drive_id, const errand& how) const;
  /// GET /drive/v3/changes. Errors: page_token_gone: crawl again, and begin with a new start token.
  [[nodiscard]] answer<change_page> list_changes(const changes_request& what, const errand& how) const;
  /// POST /drive/v3/changes/watch.
  [[nodiscard]] answer<channel> watch_changes(const watch_request& what, const errand& how) const;
  /// POST /drive/v3/channels/stop. One that is not known any more is no error.
  [[nodiscard]] answer<void> stop_channel(const std::string& id, const std::string& resource_id, const errand& how) const;

  struct figures {
    std::uint64_t requests = 0;  ///< That were sent, attempts counted.
    std::uint64_t retries = 0;
    std::uint64_t limited = 0;  ///< Answers that said to slow down.
    std::uint64_t bytes = 0;    ///< Of contents.
    budget::figures turns{};
  };
  [[nodiscard]] figures now() const;
  /// Whom files are shared with, as far as it is known.
  [[nodiscard]] std::string account() const;
  /// `host:port` of all that it may ask, for `needs::sockets`; "*:*" where that cannot be said (a proxy).
  [[nodiscard]] std::vector<std::string> places() const;

 private:
  struct state;
  explicit client(std::unique_ptr<state> made) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::drive
