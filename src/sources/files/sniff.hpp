/// Media types by content, for names that say nothing.
#pragma once

#include <cstddef>
#include <string_view>

#include <hondana/resource.hpp>

namespace hondana::files {

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
