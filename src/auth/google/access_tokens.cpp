/// Google access tokens, requested when needed and cached until they expire.
#include "auth/google/access_tokens.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "auth/google/token_request.hpp"
#include "base/executor/backoff.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::google {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds renewal_margin{60};
constexpr seconds rejection_ttl{30};
constexpr seconds min_skew{30};
constexpr int max_attempts = 4;
constexpr executor::backoff retry_pauses{milliseconds(500), milliseconds(4'000)};

/// The settings of a token endpoint.
endpoint::settings endpoint_settings(const token_settings& settings, const std::string& url) {
  return {.url = url, .ca_file = settings.ca_file, .proxy = settings.proxy, .timeout = settings.timeout};
}

const std::string& token_url_of(const credentials& identity) noexcept {
  return std::visit([](const auto& account) -> const std::string& { return account.token_url; }, identity);
}

/// Credentials in use until their file changes.
struct loaded_credentials {
  found_credentials resolved;
  std::shared_ptr<endpoint::endpoint> token_endpoint;
  std::string stamp;
};

class cached_token_source final : public access_token_source {
 public:
  explicit cached_token_source(token_settings settings) : settings_(std::move(settings)) {}

  result<std::string> token(const std::stop_token& stop, clock::time_point deadline) override {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto now = clock::now();
      const auto stamp = stamp_of(settings_.locations);
      // The token belongs to previous credentials, perhaps of another account.
      if (token_stamp_ != stamp) token_.clear();
      if (!token_.empty() && now < renew_at_) return token_;
      if (rejection_ && now < rejected_until_ && rejected_stamp_ == stamp) return tl::unexpected(*rejection_);
      if (!is_requesting_) break;
      // A token that is about to expire stays in use while another thread requests the next.
      if (!token_.empty() && now < expires_at_) return token_;
      const auto finished_before = finished_requests_;
      if (!monotonic_clock::wait_until(request_finished_, lock, stop, deadline,
                                       [&] { return finished_requests_ != finished_before; }))
        return stop.stop_requested() ? cancelled() : timed_out();
      if (last_failure_ && !is_caller_failure_) return tl::unexpected(*last_failure_);
    }
    is_requesting_ = true;
    lock.unlock();
    request_outcome outcome;
    try {
      outcome = request_with_retries(stop, deadline);
    } catch (...) {
      // Waiting threads must not wait forever. They retry themselves.
      lock.lock();
      is_requesting_ = false;
      ++finished_requests_;
      last_failure_.reset();
      request_finished_.notify_all();
      throw;
    }
    lock.lock();
    return finish_request(std::move(outcome), stop, deadline);
  }

  void invalidate(std::string_view token) override {
    const std::lock_guard lock(mutex_);
    if (token_ == token) token_.clear();
  }

  std::string account() override {
    const std::lock_guard lock(mutex_);
    if (!loaded_) return settings_.subject;
    if (const auto* machine = std::get_if<service_account>(&loaded_->resolved.identity))
      return settings_.subject.empty() ? machine->email : settings_.subject;
    return std::get<authorized_user>(loaded_->resolved.identity).account;
  }

  const scopes& requested_scopes() const noexcept override { return settings_.requested_scopes; }

 private:
  struct request_outcome {
    std::optional<issued_token> token{};
    failure error{};
    bool is_final = false;
    std::string stamp{};
    clock::time_point requested_at{};
  };

  static result<std::string> cancelled() {
    return fail(errc::cancelled, "it was cancelled while a token was requested from Google");
  }
  static result<std::string> timed_out() { return fail(errc::timed_out, "Google issued no token in time; try again"); }

  /// Stores the result for all waiting threads. Requires the mutex.
  result<std::string> finish_request(request_outcome outcome, const std::stop_token& stop, clock::time_point deadline) {
    is_requesting_ = false;
    ++finished_requests_;
    last_failure_.reset();
    rejection_.reset();
    request_finished_.notify_all();
    if (outcome.token) {
      // A short-lived token is renewed when a fifth of its lifetime remains.
      const auto lifetime = outcome.token->lifetime;
      token_ = std::move(outcome.token->token);
      token_stamp_ = std::move(outcome.stamp);
      expires_at_ = outcome.requested_at + lifetime;
      renew_at_ = expires_at_ - std::min<clock::duration>(renewal_margin, clock::duration(lifetime) / 5);
      return token_;
    }
    last_failure_ = outcome.error;
    // The failure may be due to this caller's deadline or stop token, so others retry.
    is_caller_failure_ = stop.stop_requested() || clock::now() >= deadline;
    if (outcome.is_final) {
      token_.clear();
      rejection_ = outcome.error;
      rejected_until_ = clock::now() + rejection_ttl;
      rejected_stamp_ = std::move(outcome.stamp);
    }
    if (!token_.empty() && clock::now() < expires_at_ && !is_caller_failure_) return token_;
    return tl::unexpected(std::move(outcome.error));
  }

  /// Requests a token. Called without the mutex, by one thread at a time.
  request_outcome request_with_retries(const std::stop_token& stop, clock::time_point deadline) {
    request_outcome out;
    out.stamp = stamp_of(settings_.locations);
    auto loaded = load(out.stamp);
    if (!loaded) {
      out.error = std::move(loaded.error());
      out.is_final = true;
      return out;
    }
    std::size_t failures = 0;  // without that of a wrong clock
    const auto& resolved = (*loaded)->resolved;
    const rejection_context context{resolved.identity, resolved.origin, settings_.locations.advice, settings_.subject,
                                    settings_.requested_scopes};
    bool is_corrected = false;
    for (int attempt = 1;; ++attempt) {
      out.requested_at = clock::now();
      auto response =
          request_token({resolved.identity, settings_.requested_scopes, settings_.subject, corrected_time()},
                        *(*loaded)->token_endpoint, context, std::min(deadline, out.requested_at + settings_.timeout), stop);
      if (response) {
        if (response->is_excessive && !std::exchange(has_warned_, true))
          log_line("the login (" + resolved.origin +
                   ") grants more than read access to Drive; a login by 'hondana login' grants only that");
        out.token = std::move(*response);
        return out;
      }
      auto& error = response.error();
      if (error.rejection.is_clock_error && !is_corrected) {
        is_corrected = true;
        if (correct_clock(error.date)) continue;
      }
      out.error = std::move(error.rejection.reason);
      out.is_final = error.rejection.is_final || error.rejection.is_clock_error;
      if (!error.rejection.is_transient || attempt == max_attempts || stop.stop_requested()) return out;
      const auto delay =
          std::max(executor::random_delay(retry_pauses.delay(++failures)), out.error.retry_after.value_or(milliseconds(0)));
      if (clock::now() + delay >= deadline || delay > settings_.timeout || !executor::sleep_unless_stopped(delay, stop))
        return out;
    }
  }

  result<std::shared_ptr<const loaded_credentials>> load(const std::string& stamp) {
    {
      const std::lock_guard lock(mutex_);
      if (loaded_ && loaded_->stamp == stamp) return loaded_;
    }
    HONDANA_TRY(auto resolved, credentials_for(settings_));
    HONDANA_TRY(auto token_endpoint, endpoint::endpoint::create(endpoint_settings(settings_, token_url_of(resolved.identity))));
    auto fresh =
        std::make_shared<const loaded_credentials>(loaded_credentials{std::move(resolved), std::move(token_endpoint), stamp});
    const std::lock_guard lock(mutex_);
    if (std::exchange(loaded_, fresh))
      log_line("the Google credentials have changed (" + fresh->resolved.origin + ") and were reloaded");
    return fresh;
  }

  std::chrono::sys_seconds corrected_time() const {
    const auto now = settings_.now ? settings_.now() : std::chrono::system_clock::now();
    return std::chrono::floor<seconds>(now) + correction_;
  }

  /// Corrects the clock by the server's time. False if the server sends no time, or if the clock is right.
  bool correct_clock(const std::optional<std::chrono::sys_seconds>& date) {
    if (!date) return false;
    const auto offset = *date - corrected_time();
    if (std::chrono::abs(offset) < min_skew) return false;
    correction_ += offset;
    log_line("this machine's clock is " + std::to_string(std::chrono::abs(correction_).count()) + " seconds " +
             (correction_.count() > 0 ? "behind" : "ahead of") +
             " Google's; tokens are requested with Google's time, but correct the clock");
    return true;
  }

  void log_line(std::string_view line) const {
    if (settings_.log) settings_.log(line);
  }

  const token_settings settings_;
  std::mutex mutex_;
  std::condition_variable_any request_finished_;
  bool is_requesting_ = false;
  std::uint64_t finished_requests_ = 0;  // number of finished requests
  std::string token_;
  std::string token_stamp_;  // of the credentials used for `token_`
  clock::time_point renew_at_{}, expires_at_{};
  std::optional<failure> last_failure_;
  bool is_caller_failure_ = false;
  std::optional<failure> rejection_;  // the last final rejection
  clock::time_point rejected_until_{};
  std::string rejected_stamp_;
  std::shared_ptr<const loaded_credentials> loaded_;
  seconds correction_{0};    // used only by the requesting thread
  bool has_warned_ = false;  // used only by the requesting thread
};

}  // namespace

result<std::shared_ptr<access_token_source>> make_access_token_source(token_settings settings) {
  if (settings.requested_scopes.empty()) return fail(errc::invalid_argument, "no scope is requested; write drive.readonly");
  if (!settings.subject.empty() && (settings.subject.find('@') == std::string::npos || settings.subject.size() > 320 ||
                                    std::any_of(settings.subject.begin(), settings.subject.end(),
                                                [](char c) { return c <= ' ' || static_cast<unsigned char>(c) >= 0x7f; })))
    return fail(errc::invalid_argument,
                "subject is not an e-mail address; write that of a user of the domain, such as ann@example.com");
  if (!settings.locations.token_url.empty()) {
    HONDANA_TRY(check_token_url(settings.locations.token_url, true));
    if (settings.locations.token_url.starts_with("http:") && !settings.proxy.empty() && settings.proxy != "none")
      return fail(errc::invalid_argument,
                  "secrets are not sent over plain http: through a proxy, which could read them; use https:, or no proxy");
  }
  // Report settings that make every request fail at once.
  const auto url = settings.locations.token_url.empty() ? std::string(default_token_url) : settings.locations.token_url;
  HONDANA_TRY(endpoint::endpoint::create(endpoint_settings(settings, url)));
  return std::make_shared<cached_token_source>(std::move(settings));
}

result<found_credentials> credentials_for(const token_settings& settings) {
  auto resolved = find_credentials(settings.locations);
  if (resolved && !settings.subject.empty() && !std::holds_alternative<service_account>(resolved->identity))
    return fail(errc::invalid_argument,
                "subject is set, but " + resolved->origin +
                    " does not hold the key of a service account, and only those can impersonate users; remove subject");
  return resolved;
}

std::vector<std::string> credential_files(const token_settings& settings) {
  std::vector<std::string> out;
  const auto add = [&out](std::string path) {
    if (!path.empty()) out.push_back(std::move(path));
  };
  if (settings.locations.file.empty()) {
    add(settings.locations.login_file);
    add(settings.locations.variables ? settings.locations.variables(file_variable) : std::string());
  } else {
    add(settings.locations.file);
  }
  add(settings.ca_file);
  return out;
}

std::vector<std::string> token_addresses(const token_settings& settings) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& url) {
    const auto token_endpoint = endpoint::endpoint::create(endpoint_settings(settings, url));
    if (token_endpoint && std::find(out.begin(), out.end(), (*token_endpoint)->address()) == out.end())
      out.push_back((*token_endpoint)->address());
  };
  add(settings.locations.token_url.empty() ? std::string(default_token_url) : settings.locations.token_url);
  if (const auto resolved = find_credentials(settings.locations)) add(token_url_of(resolved->identity));
  return out;
}

}  // namespace hondana::google
