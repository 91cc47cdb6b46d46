/// One file of Drive: the metadata that is stored, its priority, and the format that it is served in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sources/gdrive/drive/api_types.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::gdrive {

/// A file, folder or shortcut, reduced to what lists and reads need. Texts are unchanged from Drive, except `owner`.
struct item {
  std::string id{};
  std::string name{};
  std::string mime_type{};
  std::string parent{};           ///< Id of the folder. Empty: unknown.
  std::string home{};             ///< Id of the shared drive whose change log reports the file. Empty: the user's change log.
  std::string version{};          ///< `drive::file::version`: increases with each change.
  std::string content_version{};  ///< Changes with the file's bytes. Empty: Drive reports none.
  std::string owner{};            ///< As `owner_metadata_key` (hondana/metadata_keys.hpp). Empty: unknown.
  std::string web_link{};         ///< `drive::file::web_link`.
  std::string resource_key{};     ///< `drive::resource_key::key`. Empty: none is needed.
  std::string target{}, target_type{}, target_key{};  ///< Of a shortcut: id, MIME type and resource key of its target.
  std::optional<std::uint64_t> size{};                ///< In bytes.
  std::optional<drive::time> modified{}, created{};
  bool is_trashed = false;
  bool is_starred = false;
  bool is_download_denied = false;  ///< Drive does not let this account download it.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == drive::folder_type; }
  [[nodiscard]] bool is_shortcut() const noexcept { return mime_type == drive::shortcut_type; }
  bool operator==(const item&) const = default;
};

using shared_item = std::shared_ptr<const item>;

/// `home`: see `item::home`.
[[nodiscard]] shared_item make_item(const drive::file& file, std::string home);

/// The version of the content that a read returns: `content_version` if it is set and the file has bytes of its own, else
/// `version`. Also differs if the account may not download the file.
[[nodiscard]] std::string version_of(const item& item);

/// A priority from 0 to 0.95, and the reason for it.
struct priority_rating {
  double priority = 0.5;
  std::string reason{};  ///< For display: "starred, changed within a week".
};

/// Computes the priority by the rules of docs/gdrive.md. `shortcut_count`: the number of shortcuts to the file.
[[nodiscard]] priority_rating rate_item(const item& item, std::size_t shortcut_count,
                                        std::chrono::system_clock::time_point now);

/// What a read of a file returns.
enum class read_method : std::uint8_t {
  folder,    ///< The URIs of the folder's entries.
  shortcut,  ///< The content of the target.
  exported,  ///< Google's export as `export_type`.
  workbook,  ///< The sheets of Google's export as `export_type`, each as CSV.
  slides,    ///< Google's export as `export_type`, converted to text.
  rendered,  ///< The bytes converted to text, and the bytes.
  bytes,     ///< The bytes. Text is converted to UTF-8.
  none,      ///< An error: Drive does not export this type.
};

/// How a file is served. All string views are static, except that `mime_type` may refer to the item.
struct content_format {
  read_method method = read_method::bytes;
  std::string_view kind{};                           ///< `resource::kind`.
  std::string_view export_type{};                    ///< The MIME type of the export. Empty: the file is not exported.
  std::string_view mime_type{};                      ///< The MIME type that reads return.
  std::optional<rendering::format> render_format{};  ///< The input format of the renderer. nullopt: nothing is rendered.
  bool is_text = false;                              ///< Reads return text.
};

/// Determines the format from the MIME type and the name.
[[nodiscard]] content_format format_of(const item& item) noexcept;

/// Whether the type is one of Google's own, whose files have no bytes of their own. True also for folders and shortcuts.
[[nodiscard]] bool is_google_type(std::string_view mime_type) noexcept;

/// The last part of a Google type, such as "form", for error texts.
[[nodiscard]] std::string type_word(std::string_view mime_type);

}  // namespace hondana::gdrive
