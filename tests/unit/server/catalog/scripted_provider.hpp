/// A provider whose every call is a function of the test, and answers that can be waited for and counted.
#pragma once

#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "deadline.hpp"
#include "server/catalog/catalog.hpp"

namespace hondana::test {

class scripted_provider : public provider, public template_source, public completion_source {
 public:
  scripted_provider(std::string name, std::vector<std::string> claims) : name_(std::move(name)), claims_(std::move(claims)) {}

  std::function<result<list_result>(const list_request&)> on_list = [](const list_request&) { return list_result{}; };
  std::function<result<read_result>(const read_request&)> on_read = [](const read_request& request) {
    return text_read_result("read " + request.uri);
  };
  std::function<result<complete_result>(const complete_request&)> on_complete = [](const complete_request&) {
    return complete_result{};
  };
  std::vector<resource_template> offered;
  bool is_inline = false;
  std::size_t threads = 2;
  hondana::secret_masking masking = hondana::secret_masking::by_server;

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::vector<std::string> claims() const override { return claims_; }
  [[nodiscard]] scheme_documentation documentation() const override { return {"test", "A test's source.", {}, {}}; }
  [[nodiscard]] result<list_result> list(const list_request& request) override { return on_list(request); }
  [[nodiscard]] result<read_result> read(const read_request& request) override { return on_read(request); }
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override { return on_complete(request); }
  [[nodiscard]] std::vector<resource_template> templates() const override { return offered; }
  [[nodiscard]] provider_traits traits() const noexcept override { return {is_inline, threads, masking}; }

 private:
  std::string name_;
  std::vector<std::string> claims_;
};

/// A set of URIs that may change while it is listed.
class shelf {
 public:
  void put(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    uris_.insert(uri);
  }
  void take(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    uris_.erase(uri);
  }
  [[nodiscard]] list_result page(const list_request& request) const {
    const std::lock_guard lock(mutex_);
    list_result found;
    for (auto place = uris_.upper_bound(request.after_key); place != uris_.end(); ++place) {
      if (found.entries.size() == request.limit) {
        found.next_key = found.entries.back().uri;
        break;
      }
      resource entry;
      entry.uri = *place;
      entry.name = *place;
      found.entries.push_back(std::move(entry));
    }
    return found;
  }

 private:
  struct by_segment {
    bool operator()(const std::string& a, const std::string& b) const { return std::is_lt(compare_by_segment(a, b)); }
  };
  mutable std::mutex mutex_;
  std::set<std::string, by_segment> uris_;
};

/// Something that happens once and can be waited for.
class event {
 public:
  void happen() {
    const std::lock_guard lock(mutex_);
    happened_ = true;
    changed_.notify_all();
  }
  /// False when it did not happen before the deadline of tests.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [this] { return happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool happened_ = false;
};

/// Takes the answer of one call; copies share it.
template <class T>
class answer {
 public:
  [[nodiscard]] catalog::completion<T> taker() const {
    return [state = state_](result<T> found) {
      const std::lock_guard lock(state->mutex);
      ++state->count;
      if (!state->found) state->found = std::move(found);
      state->changed.notify_all();
    };
  }
  /// Throws when no answer came before the deadline of tests.
  [[nodiscard]] const result<T>& wait() const {
    std::unique_lock lock(state_->mutex);
    if (!state_->changed.wait_for(lock, hondana_test::event_deadline, [this] { return state_->found.has_value(); })) {
      throw std::runtime_error("no answer came");
    }
    return *state_->found;
  }
  [[nodiscard]] int count() const {
    const std::lock_guard lock(state_->mutex);
    return state_->count;
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<result<T>> found;
    int count = 0;
  };
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// A view that hides what a predicate names.
class hiding_view : public access_filter {
 public:
  hiding_view(std::uint64_t id, std::function<bool(std::string_view)> hides) : id_(id), hides_(std::move(hides)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return !hides_(uri); }

 private:
  std::uint64_t id_;
  std::function<bool(std::string_view)> hides_;
};

inline request_context by(std::shared_ptr<const access_filter> through) {
  request_context one;
  one.caller.access_filter = std::move(through);
  return one;
}

inline request_context due_in(std::chrono::milliseconds time) {
  request_context one;
  one.deadline = monotonic_clock::now() + time;
  return one;
}

inline result<std::shared_ptr<const catalog::catalog>> arrange(const std::vector<std::shared_ptr<scripted_provider>>& providers,
                                                               catalog::limits limits = {},
                                                               std::shared_ptr<const gate::gate> rules = nullptr,
                                                               std::size_t max_queued_calls = 1024) {
  std::vector<std::shared_ptr<catalog::source>> sources;
  for (const auto& one : providers) sources.push_back(std::make_shared<catalog::source>(one, max_queued_calls));
  return catalog::catalog::make(std::move(sources), limits, std::make_shared<executor::timers>(), nullptr, std::move(rules));
}

}  // namespace hondana::test
