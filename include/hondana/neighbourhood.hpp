/// What a source may have besides resources: tools of its own, and a say in what becomes of the other sources' resources.
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

/// The server, as one of its sources sees it. Threads: any.
class neighbourhood {
 public:
  neighbourhood() = default;
  neighbourhood(const neighbourhood&) = delete;
  neighbourhood& operator=(const neighbourhood&) = delete;
  virtual ~neighbourhood() = default;

  /// The present version of a resource of any source, for who asks: as its entry says it, or of its content where it says none.
  /// Of what was written just now that may wait until its version is one that lasts, a quarter of a second at most.
  /// `uri` is canonical. Blocks until the source has answered or the deadline of `by` has passed; about its own resources a
  /// source never asks on the threads that it is asked on.
  /// Errors: resource_not_found for what there is not, or not for this caller; scope_missing; those of the source.
  [[nodiscard]] virtual result<std::string> version_of(const call& by, const std::string& uri) const = 0;
  /// The same for the source itself, whoever may read it: nothing of it may show to anybody but that it has changed.
  [[nodiscard]] virtual result<std::string> version_for_itself(const call& by, const std::string& uri) const = 0;
  /// Whether who asks may read what has this entry, by the rules there are now. Errors: resource_not_found, scope_missing.
  [[nodiscard]] virtual result<void> may_read(const caller& who, const resource& entry) const = 0;
  /// From now on `neighbour::resource_changed` is told of `uri` (canonical), until `unwatch`, there or not. False: more is
  /// watched already than there is room for.
  [[nodiscard]] virtual bool watch(const std::string& uri) = 0;
  virtual void unwatch(const std::string& uri) = 0;
};

/// A tool that comes and goes with its source. Rules and the record of requests know it by its name, as any other; no other
/// tool of the server can have that.
struct source_tool {
  tool entry{};
  tool_handler handler{};  ///< May outlive the source. It may ask the neighbourhood.
  /// The canonical URIs of resources that a call names, for the record of requests; may be empty. Must not block.
  std::function<std::vector<std::string>(const value& arguments)> uris_of{};
};

/// A source that is a neighbour of others: a class that is both this and a `provider`.
class neighbour {
 public:
  neighbour() = default;
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;
  virtual ~neighbour() = default;

  /// Constant. Default: none.
  [[nodiscard]] virtual std::vector<source_tool> tools();
  /// A server has this source from now on, and its other sources can be asked, which must not block. Null: it lets go of it;
  /// when this returns, no thread of the source's own is asking the neighbourhood, nor will one.
  virtual void settle(std::shared_ptr<neighbourhood> in) = 0;
  /// What a read of a watched resource gives has changed, or it has come or gone. Threads: any; must not block, nor call the
  /// neighbourhood.
  virtual void resource_changed(std::string_view uri) = 0;
};

}  // namespace hondana::inline v0
