/// The fixture server with contents of every form, and reads that are slow or fail.
#pragma once

#include <chrono>
#include <optional>

#include <hondana/server.hpp>

namespace transcripts {

/// Two sources with files, images, templates, slow and failing reads, and a link. Calls of `demo:///` have `deadline`.
[[nodiscard]] hondana::server demo(std::optional<std::chrono::milliseconds> deadline = {});

}  // namespace transcripts
