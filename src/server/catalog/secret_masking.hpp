/// Masks secrets in what sources leave to the server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>

namespace hondana::catalog {

/// Masks secrets in contents, held or pulled, and says in their facts how many; nothing for sources that do so themselves or
/// are wanted as they are. Contents without a URI are told apart by `asked_uri`. Bytes that are shared are copied only where
/// there is something to mask.
void mask_secrets(const provider& of, reading& found, std::string_view asked_uri);

/// Masks secrets in names, titles and descriptions, and in values of completion, by the same rule. URIs stay.
void mask_secrets(const provider& of, resource& entry);
void mask_secrets(const provider& of, std::vector<resource>& entries);
void mask_secrets(const provider& of, resource_template& entry);
void mask_secrets(const provider& of, complete_result& found);
/// The same in the frontmatter of a skill, as in the file it is from; its URIs and digests stay.
void mask_secrets(const provider& of, skill& entry);
/// The same in what a source with this way of masking says of something, such as a title or how far it is.
void mask_secrets(masking by, std::string& text);

}  // namespace hondana::catalog
