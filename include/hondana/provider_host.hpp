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
class provider_host {
 public:
  provider_host() = default;
  provider_host(const provider_host&) = delete;
  provider_host& operator=(const provider_host&) = delete;
  virtual ~provider_host() = default;

  /// The current version of a resource of any source, with the rights of the caller in `request`. It is the version of the
  /// entry, or one derived from the content if the entry has none. For a resource that was just written, it waits up to a
  /// quarter of a second for a version that lasts.
  ///
  /// `uri` is canonical. Blocks until the source answers, or until the deadline of `request`. A source must not ask for its own
  /// resources on the threads that run its calls.
  /// Errors: resource_not_found if the resource does not exist or is hidden from the caller; insufficient_scope; those of the
  /// source.
  [[nodiscard]] virtual result<std::string> version_of(const request_context& request, const std::string& uri) const = 0;
  /// The same with the rights of the server itself. The source may reveal to callers only that the resource changed.
  [[nodiscard]] virtual result<std::string> version_as_server(const request_context& request, const std::string& uri) const = 0;
  /// Whether a caller may read the resource with this entry, by the current rules. Errors: resource_not_found,
  /// insufficient_scope.
  [[nodiscard]] virtual result<void> authorize_read(const caller_info& caller, const resource& entry) const = 0;
  /// Starts to report changes of `uri` (canonical, need not exist) to `provider_extension::resource_changed`, until `unwatch`.
  /// Returns false if the limit of watches is reached.
  [[nodiscard]] virtual bool watch(const std::string& uri) = 0;
  /// Ends a `watch`.
  virtual void unwatch(const std::string& uri) = 0;
};

/// A tool that is added and removed with its source. Access rules and the audit log identify it by name, like any tool, so no
/// other tool of the server may have this name.
struct source_tool {
  tool entry{};
  tool_handler handler{};  ///< May outlive the source. May call the `provider_host`.
  /// Returns the canonical URIs of resources that a call names, for the audit log. May be empty. Must not block.
  std::function<std::vector<std::string>(const value& arguments)> audit_uris{};
};

/// An additional base class of a provider that takes part in other sources. The class must also derive from `provider`.
class provider_extension {
 public:
  provider_extension() = default;
  provider_extension(const provider_extension&) = delete;
  provider_extension& operator=(const provider_extension&) = delete;
  virtual ~provider_extension() = default;

  /// The tools of this source. Constant. Default: none.
  [[nodiscard]] virtual std::vector<source_tool> tools();
  /// Called when a server adds this source; from then on it can call `host`. Must not block. Null: the server removes it.
  /// Before returning, the source must ensure that none of its threads uses the previous host, now or later.
  virtual void set_host(std::shared_ptr<provider_host> host) = 0;
  /// The content of a watched resource changed, or the resource was added or removed. Threads: any. Must not block or call the
  /// host.
  virtual void resource_changed(std::string_view uri) = 0;
};

}  // namespace hondana::inline v0
