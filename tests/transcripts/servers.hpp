/// The servers that transcripts talk to: fixed entries, made anew for every conversation.
#pragma once

#include <string>
#include <string_view>

#include <hondana/server.hpp>
#include <tl/expected.hpp>

namespace transcripts {

/// demo: two sources with files, images, templates, slow and failing reads, and a link. paged: five entries and three
/// templates, two a page. plain: one entry, no template. empty: no source at all. handlers: tools and prompts, no resource.
/// hasty: demo, but calls of demo:/// have 50 ms. skilled: skills and folders, two a page.
[[nodiscard]] tl::expected<hondana::server, std::string> make_server(std::string_view name);

}  // namespace transcripts
