/// Sources with tools of their own, or that depend on resources of other sources.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/neighbourhood.hpp>

#include "base/executor/thread_pool.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::inline v0 {

/// The neighbours of one server. Threads: one at a time.
class neighbours {
 public:
  using source_list = std::vector<std::shared_ptr<catalog::source>>;

  neighbours(std::shared_ptr<const tools::place> where, std::shared_ptr<catalog::feed> changes)
      : where_(std::move(where)), changes_(std::move(changes)) {}
  ~neighbours() { settle({}); }
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  /// A table with the tools of these sources and of no other ones; they run on `pool`. Errors: those of
  /// `handlers::table::with`.
  [[nodiscard]] static result<std::shared_ptr<const handlers::table>> tools(const handlers::table& of,
                                                                            const source_list& sources,
                                                                            const std::shared_ptr<executor::pool>& pool);
  /// Whether the set of neighbours differs from the current one.
  [[nodiscard]] bool are_others(const source_list& sources) const;
  /// Connects new sources to the neighbourhood, and disconnects removed ones. Waits for notifications that removed ones are
  /// processing.
  void settle(const source_list& now);
  /// Only connects new sources; does not block. The catalog with the other sources must be published before.
  void settle_new(const source_list& now);

 private:
  class seat;
  const std::shared_ptr<const tools::place> where_;
  const std::shared_ptr<catalog::feed> changes_;
  std::map<const catalog::source*, std::pair<std::shared_ptr<catalog::source>, std::shared_ptr<seat>>> seats_;
};

}  // namespace hondana::inline v0
