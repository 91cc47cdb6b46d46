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

/// A file, folder or shortcut, as small as lists and reads allow. Texts are as Drive has them.
struct item {
  std::string id{};
  std::string name{};
  std::string mime_type{};
  std::string parent{};  ///< Empty: not known.
  std::string home{};    ///< The shared drive whose log tells of it; empty: the user's.
  std::string version{};
  std::string content{};  ///< Changes with its bytes; empty where only `version` does.
  std::string owner{};    ///< As `owner_fact` (hondana/facts.hpp); empty: not said.
  std::string web_link{};
  std::string resource_key{};
  std::string target{}, target_type{}, target_key{};  ///< Of a shortcut.
  std::optional<std::uint64_t> size{};
  std::optional<drive::time> modified{}, created{};
  bool is_trashed = false;
  bool is_starred = false;
  bool is_barred = false;  ///< Drive says that we may not download it.

  [[nodiscard]] bool is_folder() const noexcept { return mime_type == drive::folder_type; }
  [[nodiscard]] bool is_shortcut() const noexcept { return mime_type == drive::shortcut_type; }
  bool operator==(const item&) const = default;
};

using shared_item = std::shared_ptr<const item>;

[[nodiscard]] shared_item item_of(const drive::file& from, std::string home);

/// Of what a read gives: that of the bytes where Drive tells it, else that of the file.
[[nodiscard]] std::string version_of(const item& of);

/// A priority from 0 to 0.95, and why.
struct weight {
  double priority = 0.5;
  std::string reason{};  ///< For people: "starred, changed within a week".
};

/// The rules of docs/gdrive.md. `links`: how many shortcuts lead to it.
[[nodiscard]] weight weight_of(const item& what, std::size_t links, std::chrono::system_clock::time_point now);

/// How its content is come by.
enum class way : std::uint8_t {
  folder,    ///< The URIs in it.
  shortcut,  ///< Its target's.
  exported,  ///< Google's editors write it in `asked`.
  workbook,  ///< Exported as `asked` and cut into sheets, each as CSV.
  slides,    ///< Exported as `asked` and rendered.
  rendered,  ///< Its bytes are rendered, and given too.
  bytes,     ///< As it is.
  none,      ///< Drive gives it to nobody.
};

/// Its views are static but for `given`, which may be of the item.
struct format {
  way how = way::bytes;
  std::string_view kind{};   ///< As `resource::kind`.
  std::string_view asked{};  ///< The type that is exported.
  std::string_view given{};  ///< The type that reads give.
  std::optional<rendering::format> rendered{};
  bool is_text = false;  ///< What is exported.
};

[[nodiscard]] format format_of(const item& of) noexcept;

/// Whether Google's editors made it, so that it has no bytes of its own.
[[nodiscard]] bool is_of_google(std::string_view mime_type) noexcept;

/// What people call a type of Google's that cannot be given ("form"); for errors.
[[nodiscard]] std::string word_for(std::string_view mime_type);

}  // namespace hondana::gdrive
