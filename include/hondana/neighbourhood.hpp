/// Interfaces for sources that have tools of their own, or that depend on resources of other sources.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/tool.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// The server, as seen by one of its sources. Threads: any.
class neighbourhood {
 public:
  neighbourhood() = default;
  neighbourhood(const neighbourhood&) = delete;
  neighbourhood& operator=(const neighbourhood&) = delete;
  virtual ~neighbourhood() = default;

  /// The current version of a resource of any source, with the rights of the caller in `by`. It is the version of the entry, or
  /// one derived from the content if the entry has none. For a resource that was just written, it waits up to a quarter of a
  /// second for a version that lasts.
  ///
  /// `uri` is canonical. Blocks until the source answers, or until the deadline of `by`. A source must not ask for its own
  /// resources on the threads that run its calls.
  /// Errors: resource_not_found if the resource does not exist or is hidden from the caller; scope_missing; those of the
  /// source.
  [[nodiscard]] virtual result<std::string> version_of(const call& by, const std::string& uri) const = 0;
  /// The same with the rights of the server itself. The source may reveal to callers only that the resource changed.
  [[nodiscard]] virtual result<std::string> version_for_itself(const call& by, const std::string& uri) const = 0;
  /// Whether a caller may read the resource with this entry, by the current rules. Errors: resource_not_found, scope_missing.
  [[nodiscard]] virtual result<void> may_read(const caller& who, const resource& entry) const = 0;
  /// Starts to report changes of `uri` (canonical, need not exist) to `neighbour::resource_changed`, until `unwatch`. Returns
  /// false if the limit of watches is reached.
  [[nodiscard]] virtual bool watch(const std::string& uri) = 0;
  /// Ends a `watch`.
  virtual void unwatch(const std::string& uri) = 0;
};

/// A tool that is added and removed with its source. Access rules and the audit log identify it by name, like any tool, so no
/// other tool of the server may have this name.
struct source_tool {
  tool entry{};
  tool_handler handler{};  ///< May outlive the source. May call the neighbourhood.
  /// Returns the canonical URIs of resources that a call names, for the audit log. May be empty. Must not block.
  std::function<std::vector<std::string>(const value& arguments)> uris_of{};
};

/// An additional base class of a provider that takes part in other sources. The class must also derive from `provider`.
class neighbour {
 public:
  neighbour() = default;
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;
  virtual ~neighbour() = default;

  /// The tools of this source. Constant. Default: none.
  [[nodiscard]] virtual std::vector<source_tool> tools();
  /// Called when a server adds this source; from then on it can call `in`. Must not block. Null: the server removes it. Before
  /// returning, the source must ensure that none of its threads uses the neighbourhood, now or later.
  virtual void settle(std::shared_ptr<neighbourhood> in) = 0;
  /// The content of a watched resource changed, or the resource was added or removed. Threads: any. Must not block or call the
  /// neighbourhood.
  virtual void resource_changed(std::string_view uri) = 0;
};

}  // namespace hondana::inline v0
