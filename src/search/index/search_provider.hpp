/// The provider of search:///.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/search.hpp>

#include "search/index/search_engine.hpp"

namespace hondana::search {

[[nodiscard]] scheme_documentation describe_search();

/// Reads of URIs with `q` are searches; reads without it return the state of the index. Each answer is for one caller and never
/// cached.
class search_provider final : public provider,
                              public entry_source,
                              public template_source,
                              public completion_source,
                              public health_source {
 public:
  search_provider(std::shared_ptr<shared_index> index, std::shared_ptr<const engine> engine)
      : index_(std::move(index)), engine_(std::move(engine)) {}
  /// A function that requests a scan and waits for it, like `indexer::wait_for_scan`.
  using waiter =
      std::function<result<void>(scan_end end, std::chrono::steady_clock::time_point deadline,
                                 const std::function<void(const search_state&)>& on_progress, const std::stop_token& stop)>;
  /// Sets the function for `wait` and for reads that wait. Call once, before the first of them.
  void set_waiter(waiter function) { wait_ = std::move(function); }
  /// Waits until everything that exists now is indexed. Needs a `waiter`. `on_progress` may be empty. Errors: timed_out,
  /// cancelled, source_unavailable.
  [[nodiscard]] result<void> wait(std::chrono::steady_clock::time_point deadline,
                                  const std::function<void(const search_state&)>& on_progress,
                                  const std::stop_token& stop) const {
    return wait_(scan_end::complete, deadline, on_progress, stop);
  }

  [[nodiscard]] std::string name() const override { return "search"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"search:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return describe_search(); }
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  [[nodiscard]] provider_traits traits() const noexcept override {
    return {.max_concurrency = 8, .masking = secret_masking::by_source};
  }
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  /// Returns the state of the index as JSON. `waits`: after `wait_for`.
  [[nodiscard]] result<read_result> read_state(const read_request& request, bool waits) const;
  /// Waits for a scan, for ten minutes at most. With `reports_counts`, reports counts and waits until everything is indexed.
  /// Otherwise reports only seconds, and any finished scan suffices. Errors: overloaded if several requests wait already; as
  /// `wait`.
  [[nodiscard]] result<void> wait_for(const read_request& request, bool reports_counts) const;

  const std::shared_ptr<shared_index> index_;
  const std::shared_ptr<const engine> engine_;
  waiter wait_;
  mutable std::atomic<std::size_t> waiting_requests_ = 0;
};

}  // namespace hondana::search
