/// The types of the Drive API (files, drives, changes, channels), and their decoding from JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::drive {

using time = std::chrono::sys_time<std::chrono::milliseconds>;
using texts = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view folder_type = "application/vnd.google-apps.folder";
inline constexpr std::string_view shortcut_type = "application/vnd.google-apps.shortcut";
inline constexpr std::string_view document_type = "application/vnd.google-apps.document";
inline constexpr std::string_view spreadsheet_type = "application/vnd.google-apps.spreadsheet";
inline constexpr std::string_view presentation_type = "application/vnd.google-apps.presentation";
inline constexpr std::string_view drawing_type = "application/vnd.google-apps.drawing";
inline constexpr std::string_view script_type = "application/vnd.google-apps.script";

struct person {
  std::string name{};
  std::string email{};  ///< May be empty: the person hides it.
  bool operator==(const person&) const = default;
};

struct shortcut {
  std::string target{};
  std::string target_type{};
  std::string target_key{};  ///< The resource key of the target; empty: none is needed.
  bool operator==(const shortcut&) const = default;
};

/// A file or folder. What was not among the fields that were asked for is empty or absent. Texts are as Drive has them: names
/// may hold slashes, quotes, line breaks, and be those of others in the same folder.
/// Spec: Drive API v3, files resource.
struct file {
  std::string id{};
  std::string name{};
  std::string mime_type{};
  std::vector<std::string> parents{};   ///< At most one today.
  std::string drive_id{};               ///< Of a shared drive; empty: it lies in somebody's own.
  std::optional<std::uint64_t> size{};  ///< Of its bytes; Google's own types mostly have none.
  std::string version{};                ///< Decimal digits, growing with each change.
  std::string head_revision{};          ///< `headRevisionId`.
  std::string md5{};                    ///< Hex.
  std::optional<time> modified{}, created{};
  std::vector<person> owners{};  ///< None in shared drives.
  std::string web_link{};        ///< `webViewLink`, https.
  std::string resource_key{};
  std::optional<shortcut> leads_to{};
  texts export_links{};  ///< MIME type → URL, unchecked; `client::export_link` looks at it.
  bool is_trashed = false;
  bool is_starred = false;
  std::optional<bool> may_be_downloaded{};  ///< `capabilities.canDownload`.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == folder_type; }
  /// Made with Google's editors (and no folder or shortcut): exported, not downloaded.
  [[nodiscard]] bool is_native() const noexcept;
  bool operator==(const file&) const = default;
};

struct shared_drive {
  std::string id{};
  std::string name{};
  std::optional<time> created{};
  bool is_hidden = false;
  bool operator==(const shared_drive&) const = default;
};

/// Something of an entry that is none of Drive's: the entry was taken without it, or left out, and all others are there.
struct oddity {
  std::string id{};    ///< Of the entry; empty: it has no proper one.
  std::string what{};  ///< "file/parents/0: expected an identifier"; never its value.
  bool operator==(const oddity&) const = default;
};

struct file_page {
  std::vector<file> files{};
  std::string next{};         ///< A page token; empty: this was the last.
  std::vector<oddity> odd{};  ///< The first of them.
  /// `incompleteSearch`: not all drives were searched, as may be with `corpora=allDrives`. Ask drive by drive.
  bool is_incomplete = false;
};

struct drive_page {
  std::vector<shared_drive> drives{};
  std::string next{};
  std::vector<oddity> odd{};
};

struct change {
  enum class kind : std::uint8_t { file, drive };
  kind of = kind::file;
  std::string id{};         ///< Of the file or the drive.
  bool is_removed = false;  ///< Deleted, or out of our sight.
  std::optional<time> when{};
  std::optional<drive::file> now{};         ///< Of a file that is there; nothing where what was said of it is odd.
  std::optional<shared_drive> drive_now{};  ///< Of a drive that is there.
};

struct change_page {
  std::vector<change> changes{};
  std::string next{};   ///< The token of the next page; empty: this was the last.
  std::string start{};  ///< Of the last page: the token to ask with the next time.
  std::vector<oddity> odd{};
};

struct about {
  person user{};
  texts exports{};  ///< (MIME type of the source, MIME type that it exports to), each pair.
};

/// A notification channel. Spec: Google, "Notifications for resource changes".
struct channel {
  std::string id{};
  std::string resource_id{};
  std::string resource_uri{};
  std::string token{};
  std::optional<time> ends{};
};

/// Of one file, in lists and changes, as `fields` has it: all that `file` holds but for export links. Nothing that
/// nobody uses: descriptions alone may be too much for an answer.
[[nodiscard]] std::string_view file_fields() noexcept;

/// RFC 3339 as Drive writes it ("2026-01-02T03:04:05.678Z", offsets too). Nothing for anything else.
[[nodiscard]] std::optional<time> time_of(std::string_view text) noexcept;
/// "2026-01-02T03:04:05.678Z".
[[nodiscard]] std::string spelled(time when);

inline constexpr std::size_t longest_id = 200;

/// Of files, folders and drives: letters, digits, `-` and `_`, 1 to 200 of them. "root" is one.
[[nodiscard]] bool is_id(std::string_view text) noexcept;

/// Errors: invalid_argument, "WHAT's id is not valid: …".
[[nodiscard]] result<void> check_id(std::string_view text, std::string_view what);

/// What opens a file by an older link. Spec: Google, "Access link-shared files using resource keys".
struct resource_key {
  std::string id;
  std::string key;
  bool operator==(const resource_key&) const = default;
};

/// The value of `X-Goog-Drive-Resource-Keys`; those with an id or a key that is none are left out, and those after the first
/// 100. Empty: nothing to send.
[[nodiscard]] std::string spelled(const std::vector<resource_key>& keys);

inline constexpr std::size_t most_answer_bytes = 32u << 20;
inline constexpr std::size_t most_page = 1'000;  ///< Files, drives or changes of one page.
inline constexpr std::size_t longest_name = 32u << 10;
inline constexpr std::size_t longest_page_token = 8u << 10;

// Errors: broken_protocol, naming the place and the member, never its value: "files/3/id: missing". Unknown members are passed
// over; so is a member of a wrong type that nothing depends on (a colour, a date that is none). What everything depends on (a
// page token, that there is a list) is checked. Of an entry of a page what cannot be used is left out, be it a parent or the
// whole, and stands in `odd`: whoever shares a file with us, and whatever Google adds, stops no list and no log.

[[nodiscard]] result<file> file_in(std::string_view json);
[[nodiscard]] result<file_page> files_in(std::string_view json);
[[nodiscard]] result<shared_drive> drive_in(std::string_view json);
[[nodiscard]] result<drive_page> drives_in(std::string_view json);
[[nodiscard]] result<change_page> changes_in(std::string_view json);
[[nodiscard]] result<about> about_in(std::string_view json);
[[nodiscard]] result<channel> channel_in(std::string_view json);
[[nodiscard]] result<std::string> start_token_in(std::string_view json);

}  // namespace hondana::drive
