/// Outlines of sets, folders and documents, as far as the caller may see them.
#pragma once

#include <string>
#include <string_view>

#include <hondana/provider.hpp>

#include "sources/docs/facts.hpp"
#include "sources/docs/scene.hpp"

namespace hondana::docs {

/// The documents of the set, or of a folder of it, as a tree of links, one line each, the more important first.
[[nodiscard]] std::string outline_of_set(const scene& of, std::string_view folder, const caller& who);
/// The same as JSON: an object with `documents`, in the order of their paths.
[[nodiscard]] std::string outline_of_set_as_json(const scene& of, std::string_view folder, const caller& who);

/// The headings of a document as a tree of links.
[[nodiscard]] std::string outline_of_document(const document& of, const prose& text);
/// Headings, and links with where they lead: JSON.
[[nodiscard]] std::string outline_of_document_as_json(const scene& in, const document& of, const prose& text,
                                                      const caller& who);

}  // namespace hondana::docs
