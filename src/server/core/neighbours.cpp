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

tl::unexpected<failure> not_found() { return fail(errc::resource_not_found, "Resource not found"); }

/// Whether the listed version may still be temporary. File systems may store times in steps of two seconds.
bool has_changed_recently(const resource& entry) {
  constexpr std::chrono::seconds recent_period{3};
  const auto& changed = entry.annotations.last_modified;
  return changed && *changed > std::chrono::system_clock::now() - recent_period;
}

/// A version derived from contents, for sources without versions.
std::string content_version(const bytes::prepared_read_result& reading) {
  std::string digests;
  for (const auto& content : reading.contents) {
    const auto* data = std::get_if<shared_bytes>(&content.data);
    digests += bytes::to_hex(data != nullptr ? bytes::digest_of(**data)
                                             : std::get<bytes::verified_stream>(content.data).expected_digest);
  }
  return "content-" + (reading.contents.size() == 1 ? digests : bytes::to_hex(bytes::digest_of(digests)));
}

}  // namespace

std::vector<source_tool> provider_extension::tools() { return {}; }

/// The `provider_host` of one source. It can outlive the server while the source holds it.
class provider_extensions::source_connection final : public provider_host {
 public:
  source_connection(std::shared_ptr<const tools::services_holder> holder, std::shared_ptr<catalog::change_feed> feed,
                    provider_extension& extension)
      : holder_(std::move(holder)), feed_(std::move(feed)), relay_(std::make_shared<change_relay>(extension)) {}

  result<std::string> version_of(const request_context& context, const std::string& uri) const override {
    const auto services = holder_->current();
    if (!services.catalog) return not_found();
    HONDANA_TRY(services.gate->admit(context.caller, model::read_resource{uri, uri}));
    auto inner_context = context;
    inner_context.caller.access_filter = services.gate->filter_of(context.caller);
    return stable_version(services, inner_context, uri);
  }

  result<std::string> version_as_server(const request_context& context, const std::string& uri) const override {
    const auto services = holder_->current();
    if (!services.catalog) return not_found();
    auto inner_context = context;
    inner_context.caller.access_filter = nullptr;
    inner_context.caller.auth_info = nullptr;
    return stable_version(services, inner_context, uri);
  }

  result<void> authorize_read(const caller_info& caller, const resource& entry) const override {
    const auto services = holder_->current();
    if (!services.gate) return not_found();
    HONDANA_TRY(services.gate->admit(caller, model::read_resource{entry.uri, entry.uri}));
    const auto filter = services.gate->filter_of(caller);
    if (!services.gate->may_read(filter.get(), entry)) return not_found();
    return {};
  }

  bool watch(const std::string& uri) override {
    if (!feed_->watch(relay_, uri)) return false;
    if (!is_disconnected_) return true;
    // A tool may still be running after `disconnect`. No call would remove this watch, and a later listener could get the same
    // address.
    feed_->remove_listener(*relay_);
    return false;
  }
  void unwatch(const std::string& uri) override { feed_->unwatch(*relay_, uri); }

  void disconnect() {
    is_disconnected_ = true;
    relay_->close();
    feed_->remove_listener(*relay_);
  }

 private:
  /// Can outlive the source while a change is reported.
  class change_relay final : public catalog::listener {
   public:
    explicit change_relay(provider_extension& extension) : extension_(&extension) {}
    void on_change(const model::change& change) override {
      if (change.kind != model::change::change_kind::content) return;
      const std::lock_guard lock(mutex_);
      if (extension_ != nullptr) extension_->resource_changed(change.uri);
    }
    void close() {
      const std::lock_guard lock(mutex_);
      extension_ = nullptr;
    }

   private:
    std::mutex mutex_;
    provider_extension* extension_;
  };

  struct versioned {
    std::string version;
    bool is_racy = false;  ///< A further change may leave the version as it is; it will soon change by itself.
  };

  static result<versioned> current_version(const tools::tool_services& services, const request_context& context,
                                           const std::string& uri) {
    auto entry = tools::await<resource>(context, [&](catalog::completion<resource> callback) {
      services.catalog->describe(context, uri, std::move(callback));
    });
    if (!entry && entry.error().code != errc::resource_not_found) return tl::unexpected(std::move(entry.error()));
    std::string listed;
    bool is_stable = false;
    if (entry) {
      entry->uri = uri;
      if (!services.gate->may_read(context.caller.access_filter.get(), *entry)) return not_found();
      listed = std::move(entry->version);
      is_stable = !listed.empty() && !has_changed_recently(*entry);
    }
    if (is_stable) return versioned{std::move(listed)};
    // An entry does not tell whether its version is temporary, and an unlisted resource may exist. If the listed version is
    // current, the source returns no contents here.
    auto answer = tools::await<catalog::read_answer>(context, [&](catalog::completion<catalog::read_answer> callback) {
      const auto cached_version = listed.empty() ? std::optional<std::string>() : listed;
      services.catalog->read(context, uri, uri, {cached_version, false, true}, std::move(callback));
    });
    if (!answer) {
      const auto code = answer.error().code;
      const bool is_reported = listed.empty() || code == errc::resource_not_found || code == errc::cancelled;
      if (is_reported) return tl::unexpected(std::move(answer.error()));
      // For example, the resource is too large, or its owner denies reading it.
      return versioned{std::move(listed), true};
    }
    auto& reading = answer->reading;
    if (!reading.version.empty()) return versioned{std::move(reading.version), reading.is_racy};
    if (!listed.empty()) return versioned{std::move(listed), reading.is_racy};
    return versioned{content_version(reading), reading.is_racy};
  }

  static result<std::string> stable_version(const tools::tool_services& services, const request_context& context,
                                            const std::string& uri) {
    constexpr std::chrono::milliseconds retry_delay{80};
    constexpr int max_tries = 3;
    for (int tries = 1;; ++tries) {
      HONDANA_TRY(auto current, current_version(services, context, uri));
      const auto retry_at = monotonic_clock::now() + retry_delay;
      if (!current.is_racy || tries == max_tries || retry_at >= context.deadline) return std::move(current.version);
      std::mutex mutex;
      std::condition_variable_any condition;
      std::unique_lock lock(mutex);
      monotonic_clock::wait_until(condition, lock, context.stop, retry_at, [] { return false; });
      if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    }
  }

  const std::shared_ptr<const tools::services_holder> holder_;
  const std::shared_ptr<catalog::change_feed> feed_;
  const std::shared_ptr<change_relay> relay_;
  std::atomic<bool> is_disconnected_{false};
};

result<std::shared_ptr<const handlers::table>> provider_extensions::tools(const handlers::table& table,
                                                                          const source_list& sources,
                                                                          const std::shared_ptr<executor::thread_pool>& pool) {
  auto next = table.without_source_tools();
  for (const auto& source : sources) {
    auto* extension = source->capabilities().extension;
    if (extension == nullptr) continue;
    for (auto& tool : extension->tools()) {
      auto extended = next->with_tool(std::move(tool.entry), std::move(tool.handler),
                                      {.pool = pool, .is_from_source = true, .uris_of = std::move(tool.audit_uris)});
      if (!extended) return extended;
      next = std::move(*extended);
    }
  }
  return next;
}

bool provider_extensions::have_changed(const source_list& sources) const {
  std::size_t connected = 0;
  for (const auto& source : sources) {
    if (source->capabilities().extension == nullptr) continue;
    if (!connections_.contains(source.get())) return true;
    ++connected;
  }
  return connected != connections_.size();
}

void provider_extensions::sync(const source_list& sources) {
  for (auto position = connections_.begin(); position != connections_.end();) {
    if (std::find(sources.begin(), sources.end(), position->second.first) != sources.end()) {
      ++position;
      continue;
    }
    const auto [source, connection] = std::move(position->second);
    position = connections_.erase(position);
    source->capabilities().extension->set_host(nullptr);
    connection->disconnect();
  }
  connect_new(sources);
}

void provider_extensions::connect_new(const source_list& sources) {
  for (const auto& source : sources) {
    auto* extension = source->capabilities().extension;
    if (extension == nullptr || connections_.contains(source.get())) continue;
    const auto connection = std::make_shared<source_connection>(holder_, feed_, *extension);
    connections_.emplace(source.get(), std::pair(source, connection));
    extension->set_host(connection);
  }
}

}  // namespace hondana::inline v0
