/// Sources with tools of their own, or that depend on resources of other sources.
#include "server/core/neighbours.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/digest.hpp"
#include "base/bytes/prepared_content.hpp"
#include "protocol/model/operations.hpp"

namespace hondana::inline v0 {
namespace {

neighbour* neighbour_in(const std::shared_ptr<catalog::source>& one) { return dynamic_cast<neighbour*>(one->what().get()); }

tl::unexpected<failure> not_there() { return fail(errc::resource_not_found, "Resource not found"); }

/// Whether the listed version may still be temporary. File systems may store times in steps of two seconds.
bool has_changed_lately(const resource& entry) {
  constexpr std::chrono::seconds lately{3};
  const auto& changed = entry.annotations.lastModified;
  return changed && *changed > std::chrono::system_clock::now() - lately;
}

/// A version derived from contents, for sources without versions.
std::string version_by_content(const bytes::prepared_reading& from) {
  std::string all;
  for (const auto& one : from.contents) {
    const auto* whole = std::get_if<shared_bytes>(&one.data);
    all += bytes::to_hex(whole != nullptr ? bytes::digest_of(**whole) : std::get<bytes::stream>(one.data).expected);
  }
  return "content-" + (from.contents.size() == 1 ? all : bytes::to_hex(bytes::digest_of(all)));
}

}  // namespace

std::vector<source_tool> neighbour::tools() { return {}; }

/// The neighbourhood of one source. It can outlive the server while the source holds it.
class neighbours::seat final : public neighbourhood {
 public:
  seat(std::shared_ptr<const tools::place> where, std::shared_ptr<catalog::feed> changes, neighbour& of)
      : where_(std::move(where)), changes_(std::move(changes)), ears_(std::make_shared<ears>(of)) {}

  result<std::string> version_of(const call& by, const std::string& uri) const override {
    const auto in = where_->now();
    if (!in.catalog) return not_there();
    HONDANA_TRY(in.gate->admit(by.who, model::read_resource{uri, uri}));
    auto asked = by;
    asked.who.view = in.gate->view_of(by.who);
    return lasting_version(in, asked, uri);
  }

  result<std::string> version_for_itself(const call& by, const std::string& uri) const override {
    const auto in = where_->now();
    if (!in.catalog) return not_there();
    auto asked = by;
    asked.who.view = nullptr;
    asked.who.proof = nullptr;
    return lasting_version(in, asked, uri);
  }

  result<void> may_read(const caller& who, const resource& entry) const override {
    const auto in = where_->now();
    if (!in.gate) return not_there();
    HONDANA_TRY(in.gate->admit(who, model::read_resource{entry.uri, entry.uri}));
    const auto through = in.gate->view_of(who);
    if (!in.gate->may_read(through.get(), entry)) return not_there();
    return {};
  }

  bool watch(const std::string& uri) override {
    if (!changes_->watch(ears_, uri)) return false;
    if (!has_left_) return true;
    // A tool may still be running after `leave`. No call would remove this watch, and a later listener could get the same
    // address.
    changes_->leave(*ears_);
    return false;
  }
  void unwatch(const std::string& uri) override { changes_->unwatch(*ears_, uri); }

  void leave() {
    has_left_ = true;
    ears_->close();
    changes_->leave(*ears_);
  }

 private:
  /// Can outlive the source while a change is reported.
  class ears final : public catalog::listener {
   public:
    explicit ears(neighbour& of) : of_(&of) {}
    void heard(const model::change& what) override {
      if (what.kind != model::change::what::content) return;
      const std::lock_guard lock(mutex_);
      if (of_ != nullptr) of_->resource_changed(what.uri);
    }
    void close() {
      const std::lock_guard lock(mutex_);
      of_ = nullptr;
    }

   private:
    std::mutex mutex_;
    neighbour* of_;
  };

  struct versioned {
    std::string version;
    bool is_racy = false;  ///< A further change may leave the version as it is; it will soon change by itself.
  };

  static result<versioned> present_version(const tools::surroundings& in, const call& asked, const std::string& uri) {
    auto entry = tools::await<resource>(
        asked, [&](catalog::completion<resource> done) { in.catalog->describe(asked, uri, std::move(done)); });
    if (!entry && entry.error().code != errc::resource_not_found) return tl::unexpected(std::move(entry.error()));
    std::string listed;
    bool has_settled = false;
    if (entry) {
      entry->uri = uri;
      if (!in.gate->may_read(asked.who.view.get(), *entry)) return not_there();
      listed = std::move(entry->version);
      has_settled = !listed.empty() && !has_changed_lately(*entry);
    }
    if (has_settled) return versioned{std::move(listed)};
    // An entry does not tell whether its version is temporary, and an unlisted resource may exist. If the listed version is
    // current, the source returns no contents here.
    auto found = tools::await<catalog::read_answer>(asked, [&](catalog::completion<catalog::read_answer> done) {
      const auto if_version = listed.empty() ? std::optional<std::string>() : listed;
      in.catalog->read(asked, uri, uri, {if_version, false, true}, std::move(done));
    });
    if (!found) {
      const auto why = found.error().code;
      const bool is_told = listed.empty() || why == errc::resource_not_found || why == errc::cancelled;
      if (is_told) return tl::unexpected(std::move(found.error()));
      // For example, the resource is too large, or its owner denies reading it.
      return versioned{std::move(listed), true};
    }
    auto& reading = found->reading;
    if (!reading.version.empty()) return versioned{std::move(reading.version), reading.is_racy};
    if (!listed.empty()) return versioned{std::move(listed), reading.is_racy};
    return versioned{version_by_content(reading), reading.is_racy};
  }

  static result<std::string> lasting_version(const tools::surroundings& in, const call& asked, const std::string& uri) {
    constexpr std::chrono::milliseconds settling{80};
    constexpr int most_tries = 3;
    for (int tries = 1;; ++tries) {
      HONDANA_TRY(auto found, present_version(in, asked, uri));
      const auto next = monotonic_clock::now() + settling;
      if (!found.is_racy || tries == most_tries || next >= asked.deadline) return std::move(found.version);
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock(mutex);
      monotonic_clock::wait_until(never, lock, asked.stop, next, [] { return false; });
      if (asked.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    }
  }

  const std::shared_ptr<const tools::place> where_;
  const std::shared_ptr<catalog::feed> changes_;
  const std::shared_ptr<ears> ears_;
  std::atomic<bool> has_left_{false};
};

result<std::shared_ptr<const handlers::table>> neighbours::tools(const handlers::table& of, const source_list& sources,
                                                                 const std::shared_ptr<executor::pool>& pool) {
  auto next = of.without_tools_of_sources();
  for (const auto& one : sources) {
    auto* offering = neighbour_in(one);
    if (offering == nullptr) continue;
    for (auto& tool : offering->tools()) {
      auto more = next->with(std::move(tool.entry), std::move(tool.handler),
                             {.pool = pool, .is_of_source = true, .uris_of = std::move(tool.uris_of)});
      if (!more) return more;
      next = std::move(*more);
    }
  }
  return next;
}

bool neighbours::are_others(const source_list& sources) const {
  std::size_t known = 0;
  for (const auto& one : sources) {
    if (neighbour_in(one) == nullptr) continue;
    if (!seats_.contains(one.get())) return true;
    ++known;
  }
  return known != seats_.size();
}

void neighbours::settle(const source_list& now) {
  for (auto one = seats_.begin(); one != seats_.end();) {
    if (std::find(now.begin(), now.end(), one->second.first) != now.end()) {
      ++one;
      continue;
    }
    const auto [source, seat] = std::move(one->second);
    one = seats_.erase(one);
    neighbour_in(source)->settle(nullptr);
    seat->leave();
  }
  settle_new(now);
}

void neighbours::settle_new(const source_list& now) {
  for (const auto& one : now) {
    auto* found = neighbour_in(one);
    if (found == nullptr || seats_.contains(one.get())) continue;
    const auto made = std::make_shared<seat>(where_, changes_, *found);
    seats_.emplace(one.get(), std::pair(one, made));
    found->settle(made);
  }
}

}  // namespace hondana::inline v0
