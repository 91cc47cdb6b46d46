/// The connection to the mounted server, as used by callers on other threads.
#include "sources/mcp/upstream.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/settings.hpp"

namespace hondana::mcp {
namespace {

constexpr std::chrono::milliseconds first_pause{500};
constexpr std::chrono::milliseconds longest_pause{8'000};
constexpr std::chrono::milliseconds longest_wanted_pause{60'000};  // that the server may request
constexpr std::chrono::milliseconds enough_peace{30'000};
constexpr std::chrono::milliseconds longest_silence{10'000};  // longer silence lets the health check send a ping
constexpr std::chrono::milliseconds shortest_look{1'000};     // minimum interval of list requests without a caller

/// Identifies how a server is started; empty if it is not.
std::string command_of(const client_target& target) {
  const auto* child = std::get_if<child_target>(&target);
  if (child == nullptr) return {};
  std::string all = child->folder;
  for (const auto& one : child->command) all += '\0' + one;
  for (const auto& [name, text] : child->environment) all += '\0' + name + '=' + text;
  return all;
}

}  // namespace

upstream::upstream(mount_options options)
    : options_(std::move(options)),
      names_(options_.prefix),
      which_(options_.include, options_.exclude),
      chain_(command_of(options_.target), environment_variable(chain_variable).value_or("")),
      subscriptions_({[this](const std::string& ours) {
                        const auto from = known();
                        const auto spelled = from ? from->spelling_of(ours) : std::nullopt;
                        return spelled ? *spelled : names_.theirs(ours).value_or(ours);
                      },
                      [this](const change& what) { hear(what); },
                      // Changes between the subscription request and this moment were not received.
                      [this](const std::string& ours) { tell_content(ours, {}); },
                      [this](std::string_view line) { log(line); }}) {}

upstream::~upstream() {
  {
    const std::lock_guard lock(mutex_);
    listener_ = nullptr;
  }
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  subscriptions_.drop();
}

void upstream::log(std::string_view line) const {
  if (options_.log) options_.log("mount \"" + options_.name + "\": " + std::string(line));
}

std::string upstream::circle(const call& by) {
  auto why = chain_.circle(by.mounts);
  const auto generation = chain_.generation();
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    is_news = !why.empty() && !std::exchange(saw_circle_, true);
    if (std::exchange(chain_generation_, generation) != generation) {
      // The lists of the other server depend on the mounts that a request passed.
      is_stale_ = true;
      happened();
    }
  }
  if (is_news)
    log("it is mounted in a circle (" + why + "); looping entries are left out of lists, and reads of them are rejected");
  return why;
}

void upstream::want() {
  is_wanted_ = true;
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run_on(stop); });
  happened();
}

result<std::shared_ptr<client>> upstream::reach(const call& by) {
  std::unique_lock lock(mutex_);
  want();
  const auto now = clock::now();
  if (client_ && gathers_ != 0 && !pauses(now)) return client_;
  if (pauses(now)) {
    auto why = *trouble_;
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(retry_at_ - now).count() + 1;
    why.public_text += " The next attempt is within " + std::to_string(left) + " s.";
    why.retry = std::chrono::seconds(left);
    return tl::unexpected(std::move(why));
  }
  const auto attempts = attempts_;
  (void)monotonic_clock::wait_until(changed_, lock, by.stop, std::min(by.deadline, now + options_.timeout),
                                    [&] { return client_ != nullptr || attempts_ != attempts; });
  if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (!client_ && trouble_) return tl::unexpected(*trouble_);
  if (!client_)
    return fail(errc::timed_out, "The mounted server \"" + options_.name + "\" cannot be reached yet. Try again later.");
  // Only its lists show how it spells its URIs.
  (void)monotonic_clock::wait_until(changed_, lock, by.stop, std::min(by.deadline, clock::now() + options_.list_wait),
                                    [&] { return gathers_ != 0; });
  return client_;
}

bool upstream::is_fresh(clock::time_point now) const {
  if (!shelf_ || is_stale_) return false;
  if (hears_lists_ && !is_lost_) return true;
  const auto ttl = shelf_->ttl();
  return now - shelf_time_ < (ttl > std::chrono::milliseconds(0) ? ttl : options_.refresh);
}

std::shared_ptr<const shelf> upstream::lists(const call& by) {
  std::unique_lock lock(mutex_);
  want();
  const auto now = clock::now();
  if (is_fresh(now)) return shelf_;
  if (!pauses(now) && now >= rests_until_) {
    is_stale_ = true;
    is_asked_for_ = true;
    happened();
    const auto gathers = gathers_;
    const auto attempts = attempts_;
    (void)monotonic_clock::wait_until(changed_, lock, by.stop, std::min(by.deadline, now + options_.list_wait),
                                      [&] { return gathers_ != gathers || (attempts_ != attempts && !client_); });
  }
  owes_lists_ = owes_lists_ || !shelf_;
  return shelf_;
}

std::shared_ptr<const shelf> upstream::known() const {
  const std::lock_guard lock(mutex_);
  return shelf_;
}

std::optional<failure> upstream::trouble() const {
  const std::lock_guard lock(mutex_);
  return failures_ != 0 ? trouble_ : std::nullopt;
}

void upstream::failed(std::unique_lock<std::mutex>& lock, failure why) {
  trouble_ = why;  // first, since copying may fail for lack of memory
  // A server that fails again soon after a success also gets a longer pause.
  const auto now = clock::now();
  steps_ = now - failed_at_ < enough_peace ? std::min(steps_ + 1, 8u) : 0;
  failed_at_ = now;
  const auto usual = std::min(longest_pause, first_pause * (1u << steps_));
  const auto pause = std::max(usual, std::min(why.retry.value_or(usual), longest_wanted_pause));
  ++failures_;
  retry_at_ = now + pause;
  is_stale_ = true;  // the next attempt shows whether it is back
  happened();
  const bool is_news = std::exchange(logged_trouble_, why.public_text) != why.public_text;
  lock.unlock();
  const bool has_more = why.public_text.find(why.private_text) == std::string::npos;
  if (is_news) log(why.public_text + (has_more ? " (" + why.private_text + ')' : ""));
}

void upstream::ended(const failure& why) {
  std::unique_lock lock(mutex_);
  // The server may still be busy with the call.
  has_given_up_ = has_given_up_ || why.code == errc::timed_out || why.code == errc::cancelled;
  if (why.code == errc::timed_out || why.code == errc::cancelled) {
    is_doubted_ = true;
    return happened();
  }
  // A server that reports too many requests gets none until its retry time.
  if (why.code != errc::source_unavailable && !(why.code == errc::too_many_requests && why.retry)) {
    if (why.answer) note_heard();
    return;
  }
  restart_silence();
  if (pauses(clock::now())) return;
  // Possibly only this resource fails; a successful ping ends the pause.
  probes_in_pause_ = client_ != nullptr && why.code == errc::source_unavailable;
  failed(lock, passed_on(why, options_.name, options_.redact));
}

void upstream::restart_silence() {
  silent_since_.reset();
  has_given_up_ = false;
  if (calls_under_way_ != 0) silent_since_ = clock::now();
}

void upstream::note_heard() {
  heard_at_ = clock::now();
  restart_silence();
}

void upstream::heard() {
  const std::lock_guard lock(mutex_);
  note_heard();
}

upstream::pending_call upstream::begin_call() {
  const std::lock_guard lock(mutex_);
  ++calls_under_way_;
  // Silence since calls that were given up long ago does not apply to this call.
  const bool is_old = calls_under_way_ == 1 && silent_since_ && clock::now() - *silent_since_ >= options_.timeout;
  if (!silent_since_ || is_old) silent_since_ = clock::now();
  return pending_call(this);
}

void upstream::call_end::operator()(upstream* of) const noexcept {
  const std::lock_guard lock(of->mutex_);
  if (--of->calls_under_way_ == 0 && !of->has_given_up_) of->silent_since_.reset();
}

void upstream::succeeded() {
  {
    const std::lock_guard lock(mutex_);
    note_heard();
    if (std::exchange(failures_, 0) == 0) return;
    logged_trouble_.clear();
    happened();
  }
  log("it answers again");
}

void upstream::watch(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(to);
  wishes_.lists = listener_ != nullptr;
  if (!listener_) wishes_.uris.clear();
  ++wishes_.generation;
  if (listener_ && options_.eager) {
    want();
  } else {
    happened();
  }
}

void upstream::attach(const std::string& ours) {
  const auto theirs = names_.theirs(ours);
  if (!theirs || !which_.reason_against(*theirs).empty()) return;
  const std::lock_guard lock(mutex_);
  wishes_.uris.insert(ours);
  ++wishes_.generation;
  want();
}

void upstream::detach(const std::string& ours) {
  const std::lock_guard lock(mutex_);
  wishes_.uris.erase(ours);
  ++wishes_.generation;
  happened();
}

void upstream::attach_list() {
  const std::lock_guard lock(mutex_);
  list_attached_ = true;
  want();
}

void upstream::detach_list() {
  const std::lock_guard lock(mutex_);
  list_attached_ = false;
}

upstream::clock::time_point upstream::next_look() const {
  if (!list_attached_ || !shelf_ || (hears_lists_ && !is_lost_)) return clock::time_point::max();
  // A short `ttl` applies to client requests, not to this background refresh.
  return shelf_time_ + std::max({shelf_->ttl(), options_.refresh, shortest_look});
}

hondana::health upstream::health() const {
  if (auto why = chain_.standing_circle(); !why.empty()) return {false, "mounted in a circle: " + why};
  const std::lock_guard lock(mutex_);
  if (failures_ != 0) return {false, trouble_->public_text};
  if (!client_) return {true, is_wanted_ ? "connecting" : "not used yet"};
  const auto now = clock::now();
  if (now - heard_at_ > longest_silence && !std::exchange(is_doubted_, true)) happened();
  std::string detail = shelf_ ? shelf_->shortness() : "loading its lists";
  const bool is_waited_for = silent_since_ && (calls_under_way_ != 0 || now - *silent_since_ < options_.timeout);
  if (is_waited_for && now - *silent_since_ > longest_silence) {
    const auto silence = std::chrono::duration_cast<std::chrono::seconds>(now - *silent_since_).count();
    detail += (detail.empty() ? "" : "; ") + ("busy: no answer for " + std::to_string(silence)) + " s";
  }
  if (saw_circle_) detail += (detail.empty() ? "" : "; ") + std::string("mounted in a circle; looping entries are left out");
  return {true, std::move(detail)};
}

}  // namespace hondana::mcp
