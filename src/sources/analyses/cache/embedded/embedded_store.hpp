/// The store of analyses in one SQLite file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {

struct embedded_options {
  std::string path{};     ///< Absolute. A missing folder is created, accessible to this user only. Empty: in memory.
  bool is_synced = true;  ///< False: a power failure may lose the last writes. The end of a process loses none.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
  std::function<instant()> clock{};             ///< For tests. Empty: the system's clock.
};

/// Opens a store, and creates a missing file. Several processes, and several stores of one process, may have the file open.
/// Renames a damaged file to `<name>.damaged-<seconds since 1970>`, logs this, and creates a new file, unless another process
/// has the file open. Upgrades files of older versions.
///
/// The store uses the system clock. If that is set back, the store's time continues, slowed by 1/64, until the system clock has
/// caught up. `changes_since` finds changes by other processes within 100 ms.
///
/// Errors: source_unavailable if the folder or file cannot be used, was written by a newer version, or is not a store of
/// analyses.
[[nodiscard]] result<std::shared_ptr<analysis_store>> open_embedded(embedded_options options);

}  // namespace hondana::analyses
