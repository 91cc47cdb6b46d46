/// Media types of files at revisions.
#pragma once

#include <string_view>

namespace hondana::git {

/// By the ending of its name; without one that is known `text/plain` for text, and for other bytes what their front tells, or
/// `application/octet-stream`. Static.
[[nodiscard]] std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text) noexcept;

}  // namespace hondana::git
