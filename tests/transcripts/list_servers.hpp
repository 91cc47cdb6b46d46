/// Fixture servers of lists: what is in them, and in what order.
#pragma once

#include <hondana/server.hpp>

namespace transcripts {

/// Five entries and three templates, two a page.
[[nodiscard]] hondana::server paged();
/// One entry, no template.
[[nodiscard]] hondana::server plain();
/// A template that nobody completes but its entries.
[[nodiscard]] hondana::server shelved();
/// Resources with the tools for them, and nothing else that is a tool.
[[nodiscard]] hondana::server bridged();
/// Two skills and one nested in the first, two a page; beside them a folder that is no skill.
[[nodiscard]] hondana::server skilled();

}  // namespace transcripts
