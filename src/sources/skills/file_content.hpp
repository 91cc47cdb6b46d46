/// The content of one file of a skill.
#pragma once

#include <string_view>

#include <hondana/provider.hpp>

#include "sources/skills/folder.hpp"

namespace hondana::skills {

/// Up to 1 MiB is read whole; beyond, the content is a reader, whose user makes two passes and compares.
/// Errors: response_too_large, content_changed, source_unavailable.
[[nodiscard]] result<content> content_of(opened_file file, std::string_view path, const read_request& request);

}  // namespace hondana::skills
