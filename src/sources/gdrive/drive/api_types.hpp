/// The types of the Drive API (files, drives, changes, channels) and their decoding from JSON.
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

/// A time in UTC, with Drive's precision.
using time = std::chrono::sys_time<std::chrono::milliseconds>;
/// Pairs of name and value.
using string_pairs = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view folder_type = "application/vnd.google-apps.folder";
inline constexpr std::string_view shortcut_type = "application/vnd.google-apps.shortcut";
inline constexpr std::string_view document_type = "application/vnd.google-apps.document";
inline constexpr std::string_view spreadsheet_type = "application/vnd.google-apps.spreadsheet";
inline constexpr std::string_view presentation_type = "application/vnd.google-apps.presentation";
inline constexpr std::string_view drawing_type = "application/vnd.google-apps.drawing";
inline constexpr std::string_view script_type = "application/vnd.google-apps.script";

struct person {
  std::string name{};
  std::string email{};  ///< Empty: the person hides it.
  bool operator==(const person&) const = default;
};

/// The target of a shortcut.
struct shortcut {
  std::string target{};       ///< Id.
  std::string target_type{};  ///< MIME type.
  std::string target_key{};   ///< `resource_key::key`. Empty: none is needed.
  bool operator==(const shortcut&) const = default;
};

/// A file or folder. Fields that the request did not select are empty or absent. Texts are unchanged from Drive: names may
/// contain slashes, quotes and line breaks, and may repeat within a folder.
/// Spec: Drive API v3, files resource.
struct file {
  std::string id{};
  std::string name{};
  std::string mime_type{};
  std::vector<std::string> parents{};   ///< Ids of folders. Drive currently allows at most one.
  std::string drive_id{};               ///< Id of the shared drive. Empty: the file is in a user's own drive.
  std::optional<std::uint64_t> size{};  ///< In bytes. Google's own types usually have none.
  std::string version{};                ///< A decimal number that increases with each change.
  std::string head_revision{};          ///< `headRevisionId`.
  std::string md5{};                    ///< Hexadecimal digits.
  std::optional<time> modified{}, created{};
  std::vector<person> owners{};               ///< Empty in shared drives.
  std::string web_link{};                     ///< `webViewLink`: the page of the file for browsers.
  std::string resource_key{};                 ///< `resource_key::key`. Empty: none is needed.
  std::optional<shortcut> shortcut_target{};  ///< Only of shortcuts.
  string_pairs export_links{};  ///< Pairs of MIME type and URL. Not checked; `client::export_by_link` checks the URL.
  bool is_trashed = false;
  bool is_starred = false;
  std::optional<bool> can_download{};  ///< `capabilities.canDownload`.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == folder_type; }
  /// Whether the file was made with a Google editor. Such files are exported, not downloaded. False for folders and shortcuts.
  [[nodiscard]] bool is_native() const noexcept;
  bool operator==(const file&) const = default;
};

struct shared_drive {
  std::string id{};
  std::string name{};
  std::optional<time> created{};
  bool is_hidden = false;  ///< The user has hidden the drive in the list of drives.
  bool operator==(const shared_drive&) const = default;
};

/// Invalid data in an entry of a page. The page contains the entry without this data, or does not contain the entry.
struct entry_warning {
  std::string id{};       ///< Id of the entry. Empty: it has no valid one.
  std::string message{};  ///< "file/parents/0: expected an identifier". Never contains the value.
  bool operator==(const entry_warning&) const = default;
};

/// A page of files.list. Spec: Drive API v3.
struct file_page {
  std::vector<file> files{};
  std::string next_page_token{};          ///< The token of the next page. Empty: this is the last page.
  std::vector<entry_warning> warnings{};  ///< At most 20.
  /// `incompleteSearch`: Drive did not search all drives, which may happen with `corpora=allDrives`. List each drive instead.
  bool is_incomplete = false;
};

/// A page of drives.list.
struct drive_page {
  std::vector<shared_drive> drives{};
  std::string next_page_token{};          ///< As in `file_page`.
  std::vector<entry_warning> warnings{};  ///< As in `file_page`.
};

/// One entry of a change log. Spec: Drive API v3, changes resource.
struct change {
  enum class change_kind : std::uint8_t { file, drive };
  change_kind kind = change_kind::file;
  std::string id{};         ///< Of the file or the drive.
  bool is_removed = false;  ///< The file or drive was deleted, or this account no longer has access to it.
  std::optional<time> changed_at{};
  std::optional<drive::file>
      current_file{};  ///< With `file`: its current state. nullopt: it was removed, or its data is invalid.
  std::optional<shared_drive> current_drive{};  ///< With `drive`: its current state. nullopt: it was removed.
};

/// A page of changes.list.
struct change_page {
  std::vector<change> changes{};
  std::string next_page_token{};          ///< The token of the next page. Empty: this is the last page.
  std::string new_start_page_token{};     ///< On the last page: the token for later changes.
  std::vector<entry_warning> warnings{};  ///< As in `file_page`.
};

/// The account, and the export formats that it supports.
struct about_resource {
  person user{};
  string_pairs export_formats{};  ///< Pairs of a source MIME type and a MIME type that it can be exported to.
};

/// A notification channel, through which Drive reports changes to a URL. Spec: Google, "Notifications for resource changes".
struct channel {
  std::string id{};           ///< `watch_request::id`.
  std::string resource_id{};  ///< Drive's id of the watched resource, which `client::stop_channel` needs.
  std::string resource_uri{};
  std::string token{};  ///< `watch_request::token`.
  std::optional<time> expires_at{};
};

/// The `fields` parameter for one file in lists and changes: all members of `file` except the export links.
[[nodiscard]] std::string_view file_fields() noexcept;

/// Parses RFC 3339 as Drive writes it ("2026-01-02T03:04:05.678Z", also with an offset). nullopt: invalid.
[[nodiscard]] std::optional<time> parse_time(std::string_view text) noexcept;
/// "2026-01-02T03:04:05.678Z".
[[nodiscard]] std::string format_time(time instant);

inline constexpr std::size_t max_id_bytes = 200;

/// Whether a text can be the id of a file, folder or drive: 1 to 200 letters, digits, `-` and `_`. "root" is valid.
[[nodiscard]] bool is_id(std::string_view text) noexcept;

/// Like `is_id`, with an error text. Errors: invalid_argument, "SUBJECT's id is not valid: …".
[[nodiscard]] result<void> validate_id(std::string_view text, std::string_view subject);

/// A key that grants access to a file that was shared by an older link. Spec: Google, "Access link-shared files using resource
/// keys".
struct resource_key {
  std::string id;  ///< Of the file.
  std::string key;
  bool operator==(const resource_key&) const = default;
};

/// The value of the header `X-Goog-Drive-Resource-Keys`. Skips invalid ids and keys, and all after the first 100. Empty: there
/// is nothing to send.
[[nodiscard]] std::string format_resource_keys(const std::vector<resource_key>& keys);

inline constexpr std::size_t max_response_bytes = 32u << 20;
inline constexpr std::size_t max_page_size = 1'000;  ///< Files, drives or changes per page.
inline constexpr std::size_t max_name_bytes = 32u << 10;
inline constexpr std::size_t max_page_token_bytes = 8u << 10;

// Decoders of Drive's answers.
// Errors: protocol_error, with the path of the member, never its value: "files/3/id: missing".
// Unknown members are ignored, and so are optional members of the wrong type, such as an invalid date. Essential members (page
// tokens, the list itself) are required. In pages, invalid data of an entry, or the whole entry, is skipped and reported in
// `warnings`. Reason: a file that others share must not block a list or a change log.

[[nodiscard]] result<file> parse_file(std::string_view json);
[[nodiscard]] result<file_page> parse_file_page(std::string_view json);
[[nodiscard]] result<shared_drive> parse_drive(std::string_view json);
[[nodiscard]] result<drive_page> parse_drive_page(std::string_view json);
[[nodiscard]] result<change_page> parse_change_page(std::string_view json);
[[nodiscard]] result<about_resource> parse_about(std::string_view json);
[[nodiscard]] result<channel> parse_channel(std::string_view json);
[[nodiscard]] result<std::string> parse_start_token(std::string_view json);

}  // namespace hondana::drive
