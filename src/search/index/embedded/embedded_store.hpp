/// An index in a SQLite file or in memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "search/index/store.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

struct embedded_options {
  std::string path{};  ///< Absolute path of the file; empty: in memory, where searches wait for writes.
  std::shared_ptr<const tokenizer::tokenizer> tokenizer{};
  std::function<void(std::string_view)> log{};  ///< Threads: any.
};

/// Opens or creates the index. The process that may write deletes an index of an older version or with another tokenizer.
///
/// One process at a time writes, as long as it locks `PATH.turns`. Other processes search the committed state, and one takes
/// over when the writer ends for any reason (`store::acquire_write_access`). After damage is found, searches return what is
/// readable. The process that may write then moves the file aside and creates a new one. Errors: source_unavailable (the file
/// belongs to another program or to a newer version; the folder is not usable).
[[nodiscard]] result<std::shared_ptr<store>> open_embedded(embedded_options options);

/// Reads counts and progress from the file, even while a process writes it. No value: there is no index, or only an unfinished
/// or older one. Errors: source_unavailable (the file belongs to another program or to a newer version).
[[nodiscard]] result<std::optional<stored_index>> inspect_embedded(const std::string& path);

}  // namespace hondana::search
