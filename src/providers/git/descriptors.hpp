/// Whether files can be opened at all.
#pragma once

namespace hondana::git {

/// Whether no descriptor is left for another file. libgit2 passes over packs that it cannot open, and says that there is no
/// such object; screening finds no folders. Threads: any.
[[nodiscard]] bool lacks_descriptors() noexcept;

}  // namespace hondana::git
