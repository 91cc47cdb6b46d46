/// The names in a folder.
#pragma once

#include <dirent.h>

#include <memory>
#include <utility>

#include "os/disk/handle.hpp"

namespace hondana::disk {

struct closes_folder_stream {
  void operator()(DIR* of) const noexcept { ::closedir(of); }
};
/// For `readdir`; `dirfd` is its descriptor.
using folder_stream = std::unique_ptr<DIR, closes_folder_stream>;

/// Takes over the folder, which is open for reading. Null: errno says why.
[[nodiscard]] inline folder_stream stream_of(handle folder) noexcept {
  folder_stream made(folder.is_open() ? ::fdopendir(folder.get()) : nullptr);
  if (made) static_cast<void>(folder.release());
  return made;
}

}  // namespace hondana::disk
