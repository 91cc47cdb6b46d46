/// Media types of files by their names: the one table for all sources.
#pragma once

#include <string_view>

namespace hondana::bytes {

/// The media type that a file name implies, with static lifetime.
struct mime_type {
  std::string_view name;     ///< Such as "text/markdown". Empty: unknown; then all members below are false.
  bool is_text = false;      ///< Text for people or programs, even if the type does not begin with `text/`.
  bool is_binary = false;    ///< A binary format: text cannot have this type. The opposite of `is_text`.
  bool is_document = false;  ///< Prose: Markdown, reStructuredText and the like. Also `is_text`.
};

/// The type by a file name without folders: by the whole name, or by its extension. Ignores case.
[[nodiscard]] mime_type mime_type_of(std::string_view name) noexcept;

/// The type of a text by its `#!` line, such as "text/x-python"; `text/plain` if it has none. The result has static lifetime.
[[nodiscard]] std::string_view script_type_of(std::string_view front);

/// The type to send with content: the type by `name` (without folders), unless the content contradicts it. A `.txt` with binary
/// data is application/octet-stream. A `.png` or `.pdf` with text, such as a pointer to the real file in a store, is
/// text/plain. A `.png` with the first bytes of another format has the type of that format (`effective_media_type`). If the
/// name implies no type: `script_type_of` for text, and otherwise the type by signature, or application/octet-stream. The
/// result has static lifetime. `front`: the first `sniffed_bytes` bytes.
[[nodiscard]] std::string_view effective_named_type(std::string_view name, std::string_view front, bool is_text);

}  // namespace hondana::bytes
