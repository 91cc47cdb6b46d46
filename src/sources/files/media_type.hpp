/// Media types of files, by name and by content.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string_view>

#include <hondana/resource.hpp>

#include "base/bytes/named_media_type.hpp"

namespace hondana::files {

using bytes::mime_type;
using bytes::mime_type_of;

/// `inode/directory`, `inode/fifo` and so on; empty for a regular file.
/// Source: the freedesktop.org shared MIME-info specification, section 2.11.
[[nodiscard]] std::string_view mime_type_of_mode(mode_t mode) noexcept;

/// How many bytes at the beginning of a file (its front) are examined.
inline constexpr std::size_t head_bytes = 4096;

/// Determines the type by the front. Text is `text/plain`, or a script if its `#!` line says so. Binary formats are recognized
/// by their first bytes, the rarer ones by libmagic, whose database is loaded on first use. The result has static lifetime.
/// `kind`: that of the whole content; `detect`: unknown, so the front decides. Threads: any, concurrently.
[[nodiscard]] std::string_view sniff(std::string_view front, content_kind kind);

/// The type to send with content: the type by `name` (without folders), unless the content contradicts it. A `.txt` with binary
/// data is application/octet-stream. A `.png` or `.pdf` with text, such as a pointer to the real file in a store, is
/// text/plain. A `.png` with the first bytes of another format has the type of that format (`bytes::effective_media_type`).
/// `kind`: as for `sniff`.
[[nodiscard]] std::string_view effective_mime_type(std::string_view name, std::string_view front, content_kind kind);

/// Adds the metadata `bytes::active_content_key` to `item` if a browser would run a file with this name and front. `item` may
/// be a part of the file that does not show this itself.
void add_active_label(resource_content& item, std::string_view name, std::string_view front);

}  // namespace hondana::files
