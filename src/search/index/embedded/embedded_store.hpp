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
  std::string path{};  ///< Absolute; empty: in memory, where searches wait for what is being written.
  std::shared_ptr<const tokenizer::tokenizer> words{};
  std::function<void(std::string_view)> log{};  ///< Threads: any.
};

/// Opens it or makes it; what was indexed with other words is forgotten. One process at a time writes, as long as it holds a
/// lock of `PATH.turns`; others that open it search what that one commits, and take over when it ends, however it does
/// (`store::take_turn`). Damage that is met while it is open is answered with what can be read; with the next turn the file is
/// moved aside, and a new one is begun. Errors: source_unavailable (somebody else's file; a newer version's; the folder).
[[nodiscard]] result<std::shared_ptr<store>> open_embedded(embedded_options from);

/// What stands in the file, which a process may be writing; nothing: there is none. Errors: source_unavailable (somebody else's
/// file; another version's).
[[nodiscard]] result<std::optional<kept_index>> look_at_embedded(const std::string& path);

}  // namespace hondana::search
