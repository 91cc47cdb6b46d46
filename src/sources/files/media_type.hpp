/// Media types of files, by name and by content.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::files {

/// The media type that a name implies.
struct mime_type {
  std::string_view name;     ///< Empty: the name implies none.
  bool is_text = false;      ///< Text for people or programs, even if the type does not begin with `text/`.
  bool is_binary = false;    ///< A binary format: text cannot have this type.
  bool is_document = false;  ///< Prose: Markdown, reStructuredText and the like.
};

/// The type of a file by the last segment of its path: by the whole name, or by its extension. Ignores case. Never reads
/// content.
[[nodiscard]] mime_type mime_type_of(std::string_view name) noexcept;

/// `inode/directory`, `inode/fifo` and so on; empty for a regular file.
/// Source: the freedesktop.org shared MIME-info specification, section 2.11.
[[nodiscard]] std::string_view mime_type_of_mode(mode_t mode) noexcept;

/// How many bytes of the front of a file are examined.
inline constexpr std::size_t head_bytes = 4096;

/// The type of content by its front. Valid text is `text/plain`, or what its `#!` line says. Binary formats are recognized by
/// their first bytes, the rarer ones by libmagic, whose database is loaded on first use. The result has static lifetime. `kind`
/// is that of the whole content; `detect` if only the front is known.
/// Threads: any, concurrently. Never opens the file.
[[nodiscard]] std::string_view sniff(std::string_view front, content_kind kind);

/// The type to send with content: the type by name, unless the content contradicts it. A `.txt` with binary data is
/// application/octet-stream. A `.png` or `.pdf` with text, such as a pointer to the real file in a store, is text/plain. A
/// `.png` with the first bytes of another format has the type of that format (`bytes::effective_media_type`). If `kind` is
/// `detect`, the front decides.
[[nodiscard]] std::string_view effective_mime_type(std::string_view name, std::string_view front, content_kind kind);

/// Adds metadata that say as which active content a browser would run a file with this name and front. This includes a part
/// (`item`) that does not show it itself.
void add_active_label(resource_content& item, std::string_view name, std::string_view front);

}  // namespace hondana::files
