/// What is kept of one file of Drive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sources/gdrive/drive/entries.hpp"

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

}  // namespace hondana::gdrive
