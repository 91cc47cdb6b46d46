/// Connects sources that have tools of their own, or that use resources of other sources, to their server.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider_host.hpp>

#include "base/executor/thread_pool.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::inline v0 {

/// Connects the sources that derive from `provider_extension` to their `provider_host`. Threads: one at a time.
class provider_extensions {
 public:
  using source_list = std::vector<std::shared_ptr<catalog::source>>;

  provider_extensions(std::shared_ptr<const tools::services_holder> holder, std::shared_ptr<catalog::change_feed> feed)
      : holder_(std::move(holder)), feed_(std::move(feed)) {}
  ~provider_extensions() { sync({}); }
  provider_extensions(const provider_extensions&) = delete;
  provider_extensions& operator=(const provider_extensions&) = delete;

  /// Returns a copy of `table` whose source tools are exactly those of `sources`. They run on `pool`. Errors: as
  /// `handlers::table::with_tool`.
  [[nodiscard]] static result<std::shared_ptr<const handlers::table>> tools(const handlers::table& table,
                                                                            const source_list& sources,
                                                                            const std::shared_ptr<executor::thread_pool>& pool);
  /// Whether `sources` has other extensions than those that are connected now.
  [[nodiscard]] bool have_changed(const source_list& sources) const;
  /// Connects new sources, and disconnects those that are not in `sources`. Waits until the latter have processed running
  /// notifications.
  void sync(const source_list& sources);
  /// Only connects new sources; does not block. Precondition: the services holder has a catalog with all of `sources`.
  void connect_new(const source_list& sources);

 private:
  class source_connection;
  const std::shared_ptr<const tools::services_holder> holder_;
  const std::shared_ptr<catalog::change_feed> feed_;
  std::map<const catalog::source*, std::pair<std::shared_ptr<catalog::source>, std::shared_ptr<source_connection>>>
      connections_;
};

}  // namespace hondana::inline v0
