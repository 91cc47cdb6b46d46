/// The connection to the mounted server, as used by callers on other threads.
#include "sources/mcp/upstream.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "base/executor/backoff.hpp"
#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/settings.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::mcp {
namespace {

constexpr executor::backoff pauses{std::chrono::milliseconds(500), std::chrono::milliseconds(8'000)};
constexpr std::chrono::milliseconds max_retry_after{60'000};  // that the server may request
constexpr std::chrono::milliseconds backoff_reset_time{30'000};
constexpr std::chrono::milliseconds max_silence{10'000};       // longer silence lets the health check send a ping
constexpr std::chrono::milliseconds min_poll_interval{1'000};  // minimum interval of list requests without a caller

/// Identifies how a server is started; empty if it is not.
std::string command_id(const client_target& target) {
  const auto* child = std::get_if<child_target>(&target);
  if (child == nullptr) return {};
  std::string id = child->working_directory.value_or(std::string());
  for (const auto& argument : child->command) id += '\0' + argument;
  for (const auto& [name, text] : child->environment) id += '\0' + name + '=' + text;
  return id;
}

}  // namespace

upstream::upstream(mount_options options)
    : options_(std::move(options)),
      mapping_(*options_.prefix),
      filter_(options_.include, options_.exclude),
      chain_(command_id(options_.target), environment_variable(chain_variable).value_or("")),
      subscriptions_({[this](const std::string& local_uri) {
                        const auto lists = current_lists();
                        const auto listed_uri = lists ? lists->remote_uri_of(local_uri) : std::nullopt;
                        return listed_uri ? *listed_uri : mapping_.to_remote(local_uri).value_or(local_uri);
                      },
                      [this](const watch_event& event) { on_event(event); },
                      // Changes between the subscription request and this moment were not received.
                      [this](const std::string& uri) { notify_content(uri, {}); },
                      [this](std::string_view line) { log(line); }}) {}

upstream::~upstream() {
  {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
  }
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  subscriptions_.clear();
}

void upstream::log(std::string_view line) const {
  if (options_.log) options_.log("mount \"" + options_.name + "\": " + secrets::redact_text(line));
}

std::string upstream::find_cycle(const request_context& context) {
  auto reason = chain_.find_cycle(context.mounts);
  const auto generation = chain_.generation();
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = !reason.empty() && !std::exchange(has_cycle_, true);
    if (std::exchange(chain_generation_, generation) != generation) {
      // The lists of the other server depend on the mounts that a request passed.
      is_stale_ = true;
      signal_change();
    }
  }
  if (is_new)
    log("it is mounted in a circle (" + reason + "); looping entries are left out of lists, and reads of them are rejected");
  return reason;
}

void upstream::activate() {
  is_active_ = true;
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run_with_restarts(stop); });
  signal_change();
}

result<std::shared_ptr<client>> upstream::ensure_connected(const request_context& context) {
  std::unique_lock lock(mutex_);
  activate();
  const auto now = clock::now();
  if (client_ && list_requests_ != 0 && !is_backing_off(now)) return client_;
  if (is_backing_off(now)) {
    auto error = *last_error_;
    const auto seconds_left = std::chrono::duration_cast<std::chrono::seconds>(retry_at_ - now).count() + 1;
    error.public_text += " The next attempt is within " + std::to_string(seconds_left) + " s.";
    error.retry_after = std::chrono::seconds(seconds_left);
    return tl::unexpected(std::move(error));
  }
  const auto attempts = connect_attempts_;
  (void)monotonic_clock::wait_until(changed_, lock, context.stop, std::min(context.deadline, now + options_.call_timeout),
                                    [&] { return client_ != nullptr || connect_attempts_ != attempts; });
  if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (!client_ && last_error_) return tl::unexpected(*last_error_);
  if (!client_)
    return fail(errc::timed_out, "The mounted server \"" + options_.name + "\" cannot be reached yet. Try again later.");
  // Only its lists show how it spells its URIs.
  (void)monotonic_clock::wait_until(changed_, lock, context.stop,
                                    std::min(context.deadline, clock::now() + options_.list_timeout),
                                    [&] { return list_requests_ != 0; });
  return client_;
}

bool upstream::is_fresh(clock::time_point now) const {
  if (!lists_ || is_stale_) return false;
  if (has_list_subscription_ && !is_disconnected_) return true;
  const auto ttl = lists_->ttl();
  return now - lists_time_ < (ttl > std::chrono::milliseconds(0) ? ttl : options_.list_ttl);
}

std::shared_ptr<const list_snapshot> upstream::lists(const request_context& context) {
  std::unique_lock lock(mutex_);
  activate();
  const auto now = clock::now();
  if (is_fresh(now)) return lists_;
  if (!is_backing_off(now) && now >= idle_until_) {
    is_stale_ = true;
    is_requested_ = true;
    signal_change();
    const auto list_requests = list_requests_;
    const auto attempts = connect_attempts_;
    (void)monotonic_clock::wait_until(
        changed_, lock, context.stop, std::min(context.deadline, now + options_.list_timeout),
        [&] { return list_requests_ != list_requests || (connect_attempts_ != attempts && !client_); });
  }
  owes_notification_ = owes_notification_ || !lists_;
  return lists_;
}

std::shared_ptr<const list_snapshot> upstream::current_lists() const {
  const std::lock_guard lock(mutex_);
  return lists_;
}

std::optional<failure> upstream::last_error() const {
  const std::lock_guard lock(mutex_);
  return failures_ != 0 ? last_error_ : std::nullopt;
}

void upstream::record_failure(std::unique_lock<std::mutex>& lock, const failure& error) {
  last_error_ = relay_failure(error, options_.name, options_.redact);  // first, since it may fail for lack of memory
  const auto logged = relay_failure(error, options_.name, true);
  // A server that fails again soon after a success also gets a longer pause.
  const auto now = clock::now();
  backoff_steps_ = now - failed_at_ < backoff_reset_time ? backoff_steps_ + 1 : 0;
  failed_at_ = now;
  const auto default_delay = pauses.delay(backoff_steps_ + 1);
  const auto delay = std::max(default_delay, std::min(error.retry_after.value_or(default_delay), max_retry_after));
  ++failures_;
  retry_at_ = now + delay;
  is_stale_ = true;  // the next attempt shows whether it is back
  signal_change();
  const bool is_new = std::exchange(logged_error_, logged.public_text) != logged.public_text;
  lock.unlock();
  const bool has_more = logged.public_text.find(logged.private_text) == std::string::npos;
  if (is_new) log(logged.public_text + (has_more ? " (" + logged.private_text + ')' : ""));
}

void upstream::report_failure(const failure& error) {
  std::unique_lock lock(mutex_);
  // The server may still be busy with the call.
  has_abandoned_call_ = has_abandoned_call_ || error.code == errc::timed_out || error.code == errc::cancelled;
  if (error.code == errc::timed_out || error.code == errc::cancelled) {
    needs_ping_ = true;
    return signal_change();
  }
  // A server that reports too many requests gets none until its retry time.
  if (error.code != errc::source_unavailable && !(error.code == errc::too_many_requests && error.retry_after)) {
    if (error.server_error) record_activity();
    return;
  }
  restart_silence_timer();
  if (is_backing_off(clock::now())) return;
  // Possibly only this resource fails; a successful ping ends the pause.
  probes_in_backoff_ = client_ != nullptr && error.code == errc::source_unavailable;
  record_failure(lock, error);
}

void upstream::restart_silence_timer() {
  silence_start_.reset();
  has_abandoned_call_ = false;
  if (pending_calls_ != 0) silence_start_ = clock::now();
}

void upstream::record_activity() {
  last_activity_ = clock::now();
  restart_silence_timer();
}

void upstream::report_activity() {
  const std::lock_guard lock(mutex_);
  record_activity();
}

upstream::pending_call upstream::begin_call() {
  const std::lock_guard lock(mutex_);
  ++pending_calls_;
  // Silence since calls that were given up long ago does not apply to this call.
  const bool is_old = pending_calls_ == 1 && silence_start_ && clock::now() - *silence_start_ >= options_.call_timeout;
  if (!silence_start_ || is_old) silence_start_ = clock::now();
  return pending_call(this);
}

void upstream::call_finisher::operator()(upstream* owner) const noexcept {
  const std::lock_guard lock(owner->mutex_);
  if (--owner->pending_calls_ == 0 && !owner->has_abandoned_call_) owner->silence_start_.reset();
}

void upstream::report_success() {
  {
    const std::lock_guard lock(mutex_);
    record_activity();
    if (std::exchange(failures_, 0) == 0) return;
    logged_error_.clear();
    signal_change();
  }
  log("it answers again");
}

void upstream::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
  desired_.wants_lists = listener_ != nullptr;
  if (!listener_) desired_.uris.clear();
  ++desired_.generation;
  if (listener_ && options_.eager) {
    activate();
  } else {
    signal_change();
  }
}

void upstream::watch(const std::string& uri) {
  const auto remote_uri = mapping_.to_remote(uri);
  if (!remote_uri || !filter_.rejection_reason(*remote_uri).empty()) return;
  const std::lock_guard lock(mutex_);
  desired_.uris.insert(uri);
  ++desired_.generation;
  activate();
}

void upstream::unwatch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  desired_.uris.erase(uri);
  ++desired_.generation;
  signal_change();
}

void upstream::watch_list() {
  const std::lock_guard lock(mutex_);
  watches_list_ = true;
  activate();
}

void upstream::unwatch_list() {
  const std::lock_guard lock(mutex_);
  watches_list_ = false;
}

upstream::clock::time_point upstream::next_poll() const {
  if (!watches_list_ || !lists_ || (has_list_subscription_ && !is_disconnected_)) return clock::time_point::max();
  // A short `ttl` applies to client requests, not to this background refresh.
  return lists_time_ + std::max({lists_->ttl(), options_.list_ttl, min_poll_interval});
}

hondana::provider_health upstream::health() const {
  if (auto reason = chain_.find_permanent_cycle(); !reason.empty()) return {false, "mounted in a circle: " + reason};
  const std::lock_guard lock(mutex_);
  if (failures_ != 0) return {false, last_error_->public_text};
  if (!client_) return {true, is_active_ ? "connecting" : "not used yet"};
  const auto now = clock::now();
  if (now - last_activity_ > max_silence && !std::exchange(needs_ping_, true)) signal_change();
  std::string detail = lists_ ? lists_->truncation_note() : "loading its lists";
  const bool is_waited_for = silence_start_ && (pending_calls_ != 0 || now - *silence_start_ < options_.call_timeout);
  if (is_waited_for && now - *silence_start_ > max_silence) {
    const auto silence = std::chrono::duration_cast<std::chrono::seconds>(now - *silence_start_).count();
    detail += (detail.empty() ? "" : "; ") + ("busy: no answer for " + std::to_string(silence)) + " s";
  }
  if (has_cycle_) detail += (detail.empty() ? "" : "; ") + std::string("mounted in a circle; looping entries are left out");
  return {true, std::move(detail)};
}

}  // namespace hondana::mcp
