/// Media types of files, by name and by content.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::files {

/// What a name says about a file.
struct mime_type {
  std::string_view name;     ///< Empty: the name says nothing.
  bool is_text = false;      ///< Written for people or programs to read as text, whatever its type is called.
  bool is_binary = false;    ///< A binary format: text content cannot be of this type.
  bool is_document = false;  ///< Prose: Markdown, reStructuredText and the like.
};

/// The type of a file by its name's last segment, ending or whole; case does not matter for endings. Never looks at content.
[[nodiscard]] mime_type mime_of(std::string_view name) noexcept;

/// `inode/directory`, `inode/fifo` and so on for what is no regular file; empty for a regular one.
/// Source: the freedesktop.org shared MIME-info specification, section 2.11.
[[nodiscard]] std::string_view mime_of_kind(mode_t mode) noexcept;

/// How much of the front of a file is worth looking at, in bytes.
inline constexpr std::size_t head_bytes = 4096;

/// The type of content by its front. Well-formed text is `text/plain` or what its `#!` line says; binary formats are told by
/// their first bytes, the rarer ones by libmagic, whose database is loaded when first needed. The result is static.
/// `form` is what the content as a whole is; `detect` when only the front has been seen.
/// Threads: any, at once. Never touches a path.
[[nodiscard]] std::string_view sniff(std::string_view front, content_form form);

/// What is sent along with content: the type by name unless the content belies it, as when a `.txt` holds binary data
/// (application/octet-stream), a file named for a binary format, such as `.png` or `.pdf`, holds the text that stands for it
/// in a store (text/plain) or a `.png` has the first bytes of something else (`bytes::agreeing_type`). Where `form` is
/// `detect`, the front decides.
[[nodiscard]] std::string_view agreed_type(std::string_view name, std::string_view front, content_form form);

/// Says among the metadata as what a browser would run a file of this name and with this front, also where `item` is a part of
/// it that does not show it.
void label(content& item, std::string_view name, std::string_view front);

}  // namespace hondana::files
