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
  std::string content{};  ///< Changes with the file's bytes; empty if only `version` tells changes.
  std::string owner{};    ///< As `owner_fact` (hondana/facts.hpp); empty if unknown.
  std::string web_link{};
  std::string resource_key{};
  std::string target{}, target_type{}, target_key{};  ///< Of a shortcut.
  std::optional<std::uint64_t> size{};
  std::optional<drive::time> modified{}, created{};
  bool is_trashed = false;
  bool is_starred = false;
  bool is_barred = false;  ///< Drive does not let this account download it.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == drive::folder_type; }
  [[nodiscard]] bool is_shortcut() const noexcept { return mime_type == drive::shortcut_type; }
  bool operator==(const item&) const = default;
};

using shared_item = std::shared_ptr<const item>;

[[nodiscard]] shared_item item_of(const drive::file& from, std::string home);

/// The version of the content that a read returns: the version of the bytes if Drive reports one, else the version of the file.
[[nodiscard]] std::string version_of(const item& of);

/// A priority from 0 to 0.95, and the reason for it.
struct weight {
  double priority = 0.5;
  std::string reason{};  ///< For display: "starred, changed within a week".
};

/// Computes the priority by the rules of docs/gdrive.md. `links`: the number of shortcuts to the file.
[[nodiscard]] weight weight_of(const item& what, std::size_t links, std::chrono::system_clock::time_point now);

/// How a file's content is obtained.
enum class way : std::uint8_t {
  folder,    ///< Read as the URIs of its entries.
  shortcut,  ///< Read as its target.
  exported,  ///< Exported by Google as type `asked`.
  workbook,  ///< Exported as `asked`, and split into sheets, each as CSV.
  slides,    ///< Exported as `asked`, and rendered.
  rendered,  ///< Its bytes are rendered; reads return the text and the bytes.
  bytes,     ///< Returned unchanged.
  none,      ///< Drive does not export this type.
};

/// How a file is served. All string views are static, except that `given` may refer to the item.
struct format {
  way how = way::bytes;
  std::string_view kind{};   ///< As `resource::kind`.
  std::string_view asked{};  ///< The MIME type to export.
  std::string_view given{};  ///< The MIME type that reads return.
  std::optional<rendering::format> rendered{};
  bool is_text = false;  ///< Whether the export is text.
};

[[nodiscard]] format format_of(const item& of) noexcept;

/// Whether the type is one of Google's editors, whose files have no bytes of their own.
[[nodiscard]] bool is_of_google(std::string_view mime_type) noexcept;

/// The common word for a Google type that cannot be exported ("form"), for error texts.
[[nodiscard]] std::string word_for(std::string_view mime_type);

}  // namespace hondana::gdrive
