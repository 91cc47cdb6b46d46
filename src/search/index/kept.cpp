/// Which store to look at.
#include "search/index/kept.hpp"

#include "search/index/embedded/embedded_state.hpp"
#include "search/index/embedded/embedded_store.hpp"
#include "search/index/postgres/postgres_store.hpp"

namespace hondana::search {

result<std::optional<kept_index>> look_at_kept(const search_options& options) {
  if (!options.path.empty()) return look_at_embedded(options.path);
  if (!options.postgres.empty()) return look_at_postgres(options.postgres, options.postgres_schema);
  return std::nullopt;
}

result<void> refuse_foreign(const search_options& options) {
  return options.path.empty() ? result<void>() : sqlite::refuse_foreign(options.path, kind_of_index);
}

}  // namespace hondana::search
