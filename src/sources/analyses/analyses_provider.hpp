/// The provider of a source of Wall-Bounce analyses: resources, completion and change notifications.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/provider_host.hpp>

#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/store.hpp"
#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// Serves a cache of analyses as resources (wallbounce://) and tools. Threads: any.
class analyses_provider final : public provider,
                                public entry_source,
                                public template_source,
                                public completion_source,
                                public inventory_source,
                                public change_source,
                                public watch_source,
                                public health_source,
                                public provider_extension {
 public:
  explicit analyses_provider(provider_options options);
  ~analyses_provider() override;

  [[nodiscard]] std::string name() const override { return "analyses"; }
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visitor) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

  [[nodiscard]] std::vector<source_tool> tools() override;
  void set_host(std::shared_ptr<provider_host> host) override;
  void resource_changed(std::string_view uri) override;

 private:
  using cache_pointer = std::shared_ptr<analyses::cache>;
  /// Lists one page of entries. Errors: cancelled; why the cache is unavailable.
  [[nodiscard]] result<list_result> make_page(const list_request& request) const;
  /// Reads the analysis `id`, or the part of it that `address` names. `is_cacheable`: the server may cache the result for all
  /// callers. `snapshot`: taken before the cache was read.
  [[nodiscard]] result<read_result> read_analysis(const read_request& request, const address& address, const std::string& id,
                                                  bool is_cacheable, analysis_validator::snapshot snapshot,
                                                  const cache_pointer& cache) const;
  /// Reads a page of the list wallbounce://analyses, with the analyses that the caller may read.
  [[nodiscard]] result<read_result> read_index(const read_request& request, const address& address,
                                               analyses::cache& cache) const;
  [[nodiscard]] result<read_result> read_statistics(const address& address, const analyses::cache& cache) const;
  /// Makes the validator of a read result for the server's cache. `summary`: of the analysis that was read. Null: the result
  /// must not be cached.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator(const cache_pointer& cache,
                                                                      analysis_validator::snapshot snapshot,
                                                                      const analyses::analysis_summary& summary,
                                                                      bool is_stale) const;

  const std::shared_ptr<provider_state> state_;
  const std::shared_ptr<context_watcher> watcher_;
};

}  // namespace hondana::analyses_source
