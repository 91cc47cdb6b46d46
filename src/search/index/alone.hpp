/// Seeing one resource and nothing else.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::search {

/// A view that shows and gives the resource at `uri` (canonical) with its parts, and the whole that it is a part of, and
/// nothing else: who may not have the whole may not have the part either, be it listed by itself. What is indexed is read
/// through it, so that a source which makes a text out of others, such as a list of them, leaves these out, and no passage
/// tells of what whoever finds it may not see.
[[nodiscard]] std::shared_ptr<const view> alone_with(std::string uri);

/// Whether reading it gives what else there is, whatever the caller's view, so that there is no text of its own: a folder by
/// its media type, or by the kind that a source (also that of a mounted server) gives it.
[[nodiscard]] bool is_list_of_others(const resource& entry) noexcept;
/// The media type says so: `inode/directory`.
[[nodiscard]] bool is_list_by_type(std::string_view mime_type) noexcept;

}  // namespace hondana::search
