/// Media types by name.
#pragma once

#include <sys/stat.h>

#include <string_view>

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

}  // namespace hondana::files
