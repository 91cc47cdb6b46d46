/// The fixture server with tools and prompts.
#pragma once

#include <hondana/server.hpp>

namespace transcripts {

/// Tools echo, weather, blocks, talk, ask, region and fail; a prompt review. No resources. Adds them to `made`.
void add_handlers(hondana::server& made);

}  // namespace transcripts
