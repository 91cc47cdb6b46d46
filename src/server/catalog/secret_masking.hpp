/// Masks secrets for sources that leave this to the server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

namespace hondana::catalog {

/// Masks secrets in contents, in memory or streamed, and adds their number to the metadata. Does nothing unless
/// `secret_masking::by_server`. `requested_uri` selects the masking policy of contents without a URI. Shared bytes are copied
/// only if there is something to mask.
void mask_secrets(const provider& provider, read_result& reading, std::string_view requested_uri);

/// Masks secrets in names, titles and descriptions, and in completion values, under the same condition. URIs do not change.
void mask_secrets(const provider& provider, resource& entry);
void mask_secrets(const provider& provider, std::vector<resource>& entries);
void mask_secrets(const provider& provider, resource_template& entry);
void mask_secrets(const provider& provider, complete_result& completions);
/// The same for the front matter of a skill, consistent with its file. URIs and digests do not change.
void mask_secrets(const provider& provider, skill& entry);
/// The same for a text of a source with this `secret_masking`, such as a title or a progress message.
void mask_secrets(secret_masking mode, std::string& text);

}  // namespace hondana::catalog
