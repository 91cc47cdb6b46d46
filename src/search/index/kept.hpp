/// Looking at an index from outside of the server that keeps it.
#pragma once

#include <optional>

#include <hondana/search.hpp>

#include "search/index/store.hpp"

namespace hondana::search {

/// What is kept where `options` say; nothing: there is none, or it is kept in memory. Makes nothing. Errors:
/// source_unavailable.
[[nodiscard]] result<std::optional<kept_index>> look_at_kept(const search_options& options);

/// Where nothing of an index lies there yet: whether what is there is another's file. Makes nothing. Errors:
/// source_unavailable, in the words of who would open it.
[[nodiscard]] result<void> refuse_foreign(const search_options& options);

}  // namespace hondana::search
