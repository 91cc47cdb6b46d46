/// The provider of a source of Wall-Bounce analyses: resources, completion and change notifications.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/neighbourhood.hpp>
#include <hondana/provider.hpp>

#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/store.hpp"
#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"

namespace hondana::analyses_source {

/// Serves a cache of analyses as resources and tools. Threads: any.
class analyses_provider final : public provider, public neighbour {
 public:
  explicit analyses_provider(provider_options from);
  ~analyses_provider() override;

  [[nodiscard]] std::string name() const override { return "analyses"; }
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

  [[nodiscard]] std::vector<source_tool> tools() override;
  void settle(std::shared_ptr<neighbourhood> in) override;
  void resource_changed(std::string_view uri) override;

 private:
  using cache_there = std::shared_ptr<analyses::cache>;
  /// Errors: also the reason why analyses are unavailable.
  [[nodiscard]] result<list_result> page_of(const list_request& request) const;
  /// `is_vouched`: the result does not depend on the caller, so that it may be cached.
  [[nodiscard]] result<reading> read_analysis(const read_request& request, const address& at, const std::string& id,
                                              bool is_vouched, vouching::moment then, const cache_there& in) const;
  [[nodiscard]] result<reading> read_index(const read_request& request, const address& at, analyses::cache& in) const;
  [[nodiscard]] result<reading> read_statistics(const address& at, const analyses::cache& in) const;
  /// The validity of a reading, for the server's cache; null: it must not be cached.
  [[nodiscard]] std::shared_ptr<const validity> vouch(const cache_there& in, vouching::moment then, const analyses::summary& of,
                                                      bool is_stale) const;

  const std::shared_ptr<ground> on_;
  const std::shared_ptr<follower> follower_;
};

}  // namespace hondana::analyses_source
