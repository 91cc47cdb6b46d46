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
  std::string path{};     ///< Absolute. Its folder is created, accessible to this user only. Empty: in memory.
  bool is_synced = true;  ///< If false, a power failure may lose the last writes; the end of a process does not.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
  std::function<instant()> clock{};             ///< For tests; empty: the system's clock.
};

/// Opens a store. Several processes, and several stores of one process, may have the file open.
/// A damaged file is renamed to `<name>.damaged-<seconds since 1970>`, which is logged, and a new one is created, unless
/// another process has it open. Files of older versions are upgraded.
///
/// The store uses the system clock. If that is set back, store time continues from where it was, slowed by 1/64, until the
/// system clock has caught up. Changes by other processes are noticed within 100 ms.
///
/// Errors: source_unavailable if the folder or file cannot be used, was written by a newer version, or is not a store.
[[nodiscard]] result<std::shared_ptr<analysis_store>> open_embedded(embedded_options options);

}  // namespace hondana::analyses
