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

/// A file, folder or shortcut, reduced to what lists and reads need. Texts are unchanged from Drive.
struct item {
  std::string id{};
  std::string name{};
  std::string mime_type{};
  std::string parent{};  ///< Empty if unknown.
  std::string home{};    ///< The shared drive whose change log reports the file; empty: the user's.
  std::string version{};
  std::string content_version{};  ///< Changes with the file's bytes; empty if only `version` tells changes.
  std::string owner{};            ///< As `owner_metadata_key` (hondana/metadata_keys.hpp); empty if unknown.
  std::string web_link{};
  std::string resource_key{};
  std::string target{}, target_type{}, target_key{};  ///< Of a shortcut.
  std::optional<std::uint64_t> size{};
  std::optional<drive::time> modified{}, created{};
  bool is_trashed = false;
  bool is_starred = false;
  bool is_download_denied = false;  ///< Drive does not let this account download it.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == drive::folder_type; }
  [[nodiscard]] bool is_shortcut() const noexcept { return mime_type == drive::shortcut_type; }
  bool operator==(const item&) const = default;
};

using shared_item = std::shared_ptr<const item>;

[[nodiscard]] shared_item make_item(const drive::file& file, std::string home);

/// The version of the content that a read returns: the version of the bytes if Drive reports one, else the version of the file.
[[nodiscard]] std::string version_of(const item& item);

/// A priority from 0 to 0.95, and the reason for it.
struct priority_rating {
  double priority = 0.5;
  std::string reason{};  ///< For display: "starred, changed within a week".
};

/// Computes the priority by the rules of docs/gdrive.md. `shortcut_count`: the number of shortcuts to the file.
[[nodiscard]] priority_rating rate_item(const item& item, std::size_t shortcut_count,
                                        std::chrono::system_clock::time_point now);

/// How a file's content is obtained.
enum class read_method : std::uint8_t {
  folder,    ///< Read as the URIs of its entries.
  shortcut,  ///< Read as its target.
  exported,  ///< Exported by Google as type `export_type`.
  workbook,  ///< Exported as `export_type`, and split into sheets, each as CSV.
  slides,    ///< Exported as `export_type`, and rendered.
  rendered,  ///< Its bytes are rendered; reads return the text and the bytes.
  bytes,     ///< Returned unchanged.
  none,      ///< Drive does not export this type.
};

/// How a file is served. All string views are static, except that `mime_type` may refer to the item.
struct content_format {
  read_method method = read_method::bytes;
  std::string_view kind{};         ///< As `resource::kind`.
  std::string_view export_type{};  ///< The MIME type to export.
  std::string_view mime_type{};    ///< The MIME type that reads return.
  std::optional<rendering::format> render_format{};
  bool is_text = false;  ///< Whether the export is text.
};

[[nodiscard]] content_format format_of(const item& item) noexcept;

/// Whether the type is one of Google's editors, whose files have no bytes of their own.
[[nodiscard]] bool is_google_type(std::string_view mime_type) noexcept;

/// The common word for a Google type that cannot be exported ("form"), for error texts.
[[nodiscard]] std::string type_word(std::string_view mime_type);

}  // namespace hondana::gdrive
