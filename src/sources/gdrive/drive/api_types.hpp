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

/// A time in UTC, in Drive's precision.
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
  std::string email{};  ///< Empty if the person hides it.
  bool operator==(const person&) const = default;
};

/// The target of a shortcut.
struct shortcut {
  std::string target{};
  std::string target_type{};
  std::string target_key{};  ///< The resource key of the target; empty if none is needed.
  bool operator==(const shortcut&) const = default;
};

/// A file or folder. Fields that the request did not select are empty or absent. Texts are unchanged from Drive: names may
/// contain slashes, quotes and line breaks, and may repeat within a folder.
/// Spec: Drive API v3, files resource.
struct file {
  std::string id{};
  std::string name{};
  std::string mime_type{};
  std::vector<std::string> parents{};   ///< Drive currently allows at most one.
  std::string drive_id{};               ///< The shared drive; empty for a file in a user's own drive.
  std::optional<std::uint64_t> size{};  ///< In bytes. Google's own types usually have none.
  std::string version{};                ///< Decimal digits. Grows with each change.
  std::string head_revision{};          ///< `headRevisionId`.
  std::string md5{};                    ///< Hex.
  /// `shortcut_target` is set for shortcuts only.
  std::optional<time> modified{}, created{};
  std::vector<person> owners{};  ///< Empty in shared drives.
  std::string web_link{};        ///< `webViewLink`, https.
  std::string resource_key{};
  std::optional<shortcut> shortcut_target{};
  string_pairs export_links{};  ///< MIME type → URL, unvalidated. `client::export_by_link` checks it.
  bool is_trashed = false;
  bool is_starred = false;
  std::optional<bool> can_download{};  ///< `capabilities.canDownload`.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == folder_type; }
  /// Made with a Google editor, and not a folder or shortcut. Such a file is exported, not downloaded.
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

/// Invalid data in an entry of a page. The entry was taken without it, or skipped; all other entries are complete.
struct entry_warning {
  std::string id{};       ///< Of the entry; empty if it has no valid one.
  std::string message{};  ///< "file/parents/0: expected an identifier". Never contains the value.
  bool operator==(const entry_warning&) const = default;
};

/// A page of files.list. Spec: Drive API v3.
struct file_page {
  std::vector<file> files{};
  std::string next_page_token{};          ///< Page token; empty on the last page.
  std::vector<entry_warning> warnings{};  ///< The first 20 of them.
  /// `incompleteSearch`: Drive did not search all drives, which may happen with `corpora=allDrives`. List each drive instead.
  bool is_incomplete = false;
};

/// A page of drives.list.
struct drive_page {
  std::vector<shared_drive> drives{};
  std::string next_page_token{};
  std::vector<entry_warning> warnings{};
};

/// One entry of a change log. Spec: Drive API v3, changes resource.
struct change {
  enum class change_kind : std::uint8_t { file, drive };
  change_kind kind = change_kind::file;
  std::string id{};         ///< Of the file or the drive.
  bool is_removed = false;  ///< Deleted, or no longer visible to this account.
  std::optional<time> changed_at{};
  std::optional<drive::file> current_file{};    ///< The file, if it still exists. Empty if its data is invalid.
  std::optional<shared_drive> current_drive{};  ///< The drive, if it still exists.
};

/// A page of changes.list.
struct change_page {
  std::vector<change> changes{};
  std::string next_page_token{};       ///< The token of the next page; empty on the last page.
  std::string new_start_page_token{};  ///< On the last page: the token for the next poll.
  std::vector<entry_warning> warnings{};
};

/// The account, and the export formats that it supports.
struct about_resource {
  person user{};
  string_pairs export_formats{};  ///< Pairs of a source MIME type and a MIME type that it can be exported to.
};

/// A notification channel. Spec: Google, "Notifications for resource changes".
struct channel {
  std::string id{};
  std::string resource_id{};
  std::string resource_uri{};
  std::string token{};
  std::optional<time> expires_at{};
};

/// The `fields` parameter for one file in lists and changes: every member of `file` except the export links. Unused fields are
/// not requested: descriptions alone could exceed the size limit of an answer.
[[nodiscard]] std::string_view file_fields() noexcept;

/// Parses RFC 3339 as Drive writes it ("2026-01-02T03:04:05.678Z", also with an offset). Empty for anything else.
[[nodiscard]] std::optional<time> parse_time(std::string_view text) noexcept;
/// "2026-01-02T03:04:05.678Z".
[[nodiscard]] std::string format_time(time instant);

inline constexpr std::size_t max_id_bytes = 200;

/// Whether a text can be the id of a file, folder or drive: 1 to 200 letters, digits, `-` and `_`. "root" is valid.
[[nodiscard]] bool is_id(std::string_view text) noexcept;

/// Errors: invalid_argument, "SUBJECT's id is not valid: …".
[[nodiscard]] result<void> validate_id(std::string_view text, std::string_view subject);

/// Grants access to a file that was shared by an older link. Spec: Google, "Access link-shared files using resource keys".
struct resource_key {
  std::string id;
  std::string key;
  bool operator==(const resource_key&) const = default;
};

/// The value of the header `X-Goog-Drive-Resource-Keys`. Skips invalid ids and keys, and all after the first 100. Empty if
/// there is nothing to send.
[[nodiscard]] std::string format_resource_keys(const std::vector<resource_key>& keys);

inline constexpr std::size_t max_response_bytes = 32u << 20;
inline constexpr std::size_t max_page_size = 1'000;  ///< Files, drives or changes per page.
inline constexpr std::size_t max_name_bytes = 32u << 10;
inline constexpr std::size_t max_page_token_bytes = 8u << 10;

// Decoders of Drive's answers.
// Errors: protocol_error, with the path of the member, never its value: "files/3/id: missing".
// Unknown members are ignored, and so are optional members of the wrong type, such as an invalid date. Essential members (page
// tokens, the list itself) are required. Invalid parts of an entry, or the whole entry, are skipped and reported in `warnings`.
// So neither a shared file nor a new API field can block a list or a change log.

[[nodiscard]] result<file> parse_file(std::string_view json);
[[nodiscard]] result<file_page> parse_file_page(std::string_view json);
[[nodiscard]] result<shared_drive> parse_drive(std::string_view json);
[[nodiscard]] result<drive_page> parse_drive_page(std::string_view json);
[[nodiscard]] result<change_page> parse_change_page(std::string_view json);
[[nodiscard]] result<about_resource> parse_about(std::string_view json);
[[nodiscard]] result<channel> parse_channel(std::string_view json);
[[nodiscard]] result<std::string> parse_start_token(std::string_view json);

}  // namespace hondana::drive
