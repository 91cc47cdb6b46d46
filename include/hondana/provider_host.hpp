/// Interfaces for providers that have tools of their own, or that depend on resources of other sources.
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

/// The server that a provider was added to. The server implements it. Threads: any.
class provider_host {
 public:
  provider_host() = default;
  provider_host(const provider_host&) = delete;
  provider_host& operator=(const provider_host&) = delete;
  virtual ~provider_host() = default;

  /// Returns the current version of a resource of any source, with the permissions of `request.caller`. It is the version of
  /// the entry, or one derived from the content if the entry has none. If the resource has just changed, it waits up to a
  /// quarter of a second until a further change would change the version.
  ///
  /// `uri` is canonical. Blocks until the source answers, or until the deadline of `request`. A provider must not call it for
  /// its own resources on the threads that run its calls. Errors: resource_not_found if the resource does not exist or is
  /// hidden from the caller; insufficient_scope; those of the source.
  [[nodiscard]] virtual result<std::string> version_of(const request_context& request, const std::string& uri) const = 0;
  /// As `version_of`, but with all permissions. The provider may reveal to callers only that the resource changed.
  [[nodiscard]] virtual result<std::string> version_as_server(const request_context& request, const std::string& uri) const = 0;
  /// Succeeds if the caller may read the resource with this entry, by the current rules. Errors: resource_not_found,
  /// insufficient_scope.
  [[nodiscard]] virtual result<void> authorize_read(const caller_info& caller, const resource& entry) const = 0;
  /// Starts to report changes of `uri` (canonical, need not exist) to `provider_extension::resource_changed`, until `unwatch`.
  /// Returns false if the limit of watches is reached, or the provider was removed from the server.
  [[nodiscard]] virtual bool watch(const std::string& uri) = 0;
  /// Ends the `watch` of `uri`.
  virtual void unwatch(const std::string& uri) = 0;
};

/// A tool that is added and removed with its provider. No other tool of the server may have its name.
struct source_tool {
  tool entry{};
  tool_handler handler{};  ///< May be called after the provider was destroyed. It may call the `provider_host`.
  /// Returns the canonical URIs of resources that a call names, for the audit log. May be empty. Must not block.
  std::function<std::vector<std::string>(const value& arguments)> audit_uris{};
};

/// An additional base class for a class that derives from `provider`. It has tools, or depends on resources of other sources.
class provider_extension {
 public:
  provider_extension() = default;
  provider_extension(const provider_extension&) = delete;
  provider_extension& operator=(const provider_extension&) = delete;
  virtual ~provider_extension() = default;

  /// Returns the tools of this provider. Constant. Default: none.
  [[nodiscard]] virtual std::vector<source_tool> tools();
  /// Called when the provider is added to a server, with the host that it can call from then on. Called with null when it is
  /// removed; before it returns, it must ensure that none of its threads uses the previous host any more. Must not block.
  virtual void set_host(std::shared_ptr<provider_host> host) = 0;
  /// Called when the content of a resource changed for which `provider_host::watch` was called, or the resource was added or
  /// removed. Threads: any. Must not block or call the host.
  virtual void resource_changed(std::string_view uri) = 0;
};

}  // namespace hondana::inline v0
