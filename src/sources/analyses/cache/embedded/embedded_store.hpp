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
  std::string path{};     ///< Absolute; its folder is made, for this user alone. Empty: in memory.
  bool is_synced = true;  ///< Else the last writes may be lost with the machine's power, though not with a process.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
  std::function<instant()> clock{};             ///< For tests; empty: the system's.
};

/// Several processes may have it open, and several stores of one. A damaged file is moved aside, as
/// `<name>.damaged-<seconds since 1970>`, said to the log, and a new one is begun, unless another process has it open. Files of
/// older versions are brought up to this one.
///
/// Its clock is the system's, but when that goes back, time goes on from
/// where it was, a 64th more slowly, until the system's has caught up. Changes by other processes are seen within 100 ms.
///
/// Errors: source_unavailable for a folder or file that cannot be had, was written by a newer version or is no store.
[[nodiscard]] result<std::shared_ptr<store>> open_embedded(embedded_options from);

}  // namespace hondana::analyses
