/// Masks secrets for sources with `secret_masking::by_server`; has no effect for other sources.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

namespace hondana::catalog {

/// Masks secrets in contents, also while they are streamed, and in their names and titles. Adds the number of masked secrets to
/// the metadata of the contents. `requested_uri`: selects the masking policy of contents without a URI. Shared bytes are copied
/// only if they contain secrets.
void mask_secrets(secret_masking mode, read_result& reading, std::string_view requested_uri);

/// Masks secrets in the name, title and description of an entry. Its URI does not change.
void mask_secrets(secret_masking mode, resource& entry);
/// Masks secrets in each of the entries.
void mask_secrets(secret_masking mode, std::vector<resource>& entries);
/// Masks secrets in the name, title and description of a template. Its URI template does not change.
void mask_secrets(secret_masking mode, resource_template& entry);
/// Masks secrets in completion values.
void mask_secrets(secret_masking mode, complete_result& completions);
/// Masks secrets in the front matter of a skill, consistent with its SKILL.md. URIs and digests do not change.
void mask_secrets(secret_masking mode, skill& entry);
/// Masks secrets in another text of a source with this `mode`, such as a title or a progress message.
void mask_secrets(secret_masking mode, std::string& text);

}  // namespace hondana::catalog
