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

#include "auth/google/backoff.hpp"
#include "auth/google/token_request.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::google {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds renewed_before{60};
constexpr seconds refusal_kept{30};
constexpr seconds least_skew{30};
constexpr int most_attempts = 4;

/// The settings of a token endpoint.
endpoint::settings endpoint_settings(const token_settings& from, const std::string& url) {
  return {.url = url, .authorities = from.authorities, .proxy = from.proxy, .time = from.time};
}

const std::string& token_url_of(const credentials& who) noexcept {
  return std::visit([](const auto& one) -> const std::string& { return one.token_url; }, who);
}

/// Credentials in use until their file changes.
struct loaded {
  found_credentials found;
  std::shared_ptr<endpoint::endpoint> at;
  std::string stamp;
};

class kept_tokens final : public tokens {
 public:
  explicit kept_tokens(token_settings from) : from_(std::move(from)) {}

  result<std::string> token(const std::stop_token& stop, clock::time_point until) override {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto now = clock::now();
      const auto stamp = stamp_of(from_.in);
      // The token belongs to previous credentials, perhaps of another account.
      if (token_stamp_ != stamp) token_.clear();
      if (!token_.empty() && now < renew_at_) return token_;
      if (refusal_ && now < refused_until_ && refused_stamp_ == stamp) return tl::unexpected(*refusal_);
      if (!is_asking_) break;
      // A token that is about to expire stays in use while another thread requests the next.
      if (!token_.empty() && now < good_until_) return token_;
      const auto flight = flight_;
      if (!monotonic_clock::wait_until(landed_, lock, stop, until, [&] { return flight_ != flight; }))
        return stop.stop_requested() ? cancelled() : late();
      if (landed_failure_ && !was_of_caller_) return tl::unexpected(*landed_failure_);
    }
    is_asking_ = true;
    lock.unlock();
    outcome got;
    try {
      got = get(stop, until);
    } catch (...) {
      // Waiting threads must not wait forever. They retry themselves.
      lock.lock();
      is_asking_ = false;
      ++flight_;
      landed_failure_.reset();
      landed_.notify_all();
      throw;
    }
    lock.lock();
    return land(std::move(got), stop, until);
  }

  void refused(std::string_view token) override {
    const std::lock_guard lock(mutex_);
    if (token_ == token) token_.clear();
  }

  std::string account() override {
    const std::lock_guard lock(mutex_);
    if (!loaded_) return from_.subject;
    if (const auto* machine = std::get_if<service_account>(&loaded_->found.who))
      return from_.subject.empty() ? machine->email : from_.subject;
    return std::get<authorized_user>(loaded_->found.who).account;
  }

  const scopes& asked() const noexcept override { return from_.asked; }

 private:
  struct outcome {
    std::optional<granted> token{};
    failure why{};
    bool is_final = false;
    std::string stamp{};
    clock::time_point asked{};
  };

  static result<std::string> cancelled() {
    return fail(errc::cancelled, "it was cancelled while a token was requested from Google");
  }
  static result<std::string> late() { return fail(errc::timed_out, "Google issued no token in time; try again"); }

  /// Stores the result for all waiting threads. Requires the mutex.
  result<std::string> land(outcome got, const std::stop_token& stop, clock::time_point until) {
    is_asking_ = false;
    ++flight_;
    landed_failure_.reset();
    refusal_.reset();
    landed_.notify_all();
    if (got.token) {
      // A short-lived token is renewed when a fifth of its lifetime remains.
      const auto life = got.token->life;
      token_ = std::move(got.token->token);
      token_stamp_ = std::move(got.stamp);
      good_until_ = got.asked + life;
      renew_at_ = good_until_ - std::min<clock::duration>(renewed_before, clock::duration(life) / 5);
      return token_;
    }
    landed_failure_ = got.why;
    // The failure may be due to this caller's deadline or stop token, so others retry.
    was_of_caller_ = stop.stop_requested() || clock::now() >= until;
    if (got.is_final) {
      token_.clear();
      refusal_ = got.why;
      refused_until_ = clock::now() + refusal_kept;
      refused_stamp_ = std::move(got.stamp);
    }
    if (!token_.empty() && clock::now() < good_until_ && !was_of_caller_) return token_;
    return tl::unexpected(std::move(got.why));
  }

  /// Requests a token. Called without the mutex, by one thread at a time.
  outcome get(const std::stop_token& stop, clock::time_point until) {
    outcome out;
    out.stamp = stamp_of(from_.in);
    auto with = load(out.stamp);
    if (!with) {
      out.why = std::move(with.error());
      out.is_final = true;
      return out;
    }
    backoff pauses(milliseconds(500), milliseconds(4'000));
    const auto& found = (*with)->found;
    const refusal_circumstances in{found.who, found.from, from_.in.advice, from_.subject, from_.asked};
    bool is_corrected = false;
    for (int attempt = 1;; ++attempt) {
      out.asked = clock::now();
      auto got = ask_for_token({found.who, from_.asked, from_.subject, time_of_day()}, *(*with)->at, in,
                               std::min(until, out.asked + from_.time), stop);
      if (got) {
        if (got->is_for_more && !std::exchange(has_told_more_, true))
          tell("the login (" + found.from +
               ") grants more than read access to Drive; a login by 'hondana login' grants only that");
        out.token = std::move(*got);
        return out;
      }
      auto& failed = got.error();
      if (failed.refusal.is_of_time && !is_corrected) {
        is_corrected = true;
        if (correct(failed.date)) continue;
      }
      out.why = std::move(failed.refusal.why);
      out.is_final = failed.refusal.is_final || failed.refusal.is_of_time;
      if (!failed.refusal.may_pass || attempt == most_attempts || stop.stop_requested()) return out;
      const auto pause = std::max(pauses.next(), out.why.retry.value_or(milliseconds(0)));
      if (clock::now() + pause >= until || pause > from_.time || !waited(pause, stop)) return out;
    }
  }

  result<std::shared_ptr<const loaded>> load(const std::string& stamp) {
    {
      const std::lock_guard lock(mutex_);
      if (loaded_ && loaded_->stamp == stamp) return loaded_;
    }
    HONDANA_TRY(auto found, credentials_for(from_));
    HONDANA_TRY(auto at, endpoint::endpoint::of(endpoint_settings(from_, token_url_of(found.who))));
    auto fresh = std::make_shared<const loaded>(loaded{std::move(found), std::move(at), stamp});
    const std::lock_guard lock(mutex_);
    if (std::exchange(loaded_, fresh))
      tell("the Google credentials have changed (" + fresh->found.from + ") and were reloaded");
    return fresh;
  }

  std::chrono::sys_seconds time_of_day() const {
    const auto now = from_.now ? from_.now() : std::chrono::system_clock::now();
    return std::chrono::floor<seconds>(now) + correction_;
  }

  /// Corrects the clock by the server's time. False if the server sends no time, or if the clock is right.
  bool correct(const std::optional<std::chrono::sys_seconds>& date) {
    if (!date) return false;
    const auto off = *date - time_of_day();
    if (std::chrono::abs(off) < least_skew) return false;
    correction_ += off;
    tell("this machine's clock is " + std::to_string(std::chrono::abs(correction_).count()) + " seconds " +
         (correction_.count() > 0 ? "behind" : "ahead of") +
         " Google's; tokens are requested with Google's time, but correct the clock");
    return true;
  }

  void tell(std::string_view line) const {
    if (from_.log) from_.log(line);
  }

  const token_settings from_;
  std::mutex mutex_;
  std::condition_variable_any landed_;
  bool is_asking_ = false;
  std::uint64_t flight_ = 0;  // number of finished requests
  std::string token_;
  std::string token_stamp_;  // of the credentials used for `token_`
  clock::time_point renew_at_{}, good_until_{};
  std::optional<failure> landed_failure_;
  bool was_of_caller_ = false;
  std::optional<failure> refusal_;  // the last final rejection
  clock::time_point refused_until_{};
  std::string refused_stamp_;
  std::shared_ptr<const loaded> loaded_;
  seconds correction_{0};       // used only by the requesting thread
  bool has_told_more_ = false;  // used only by the requesting thread
};

}  // namespace

result<std::shared_ptr<tokens>> make_tokens(token_settings from) {
  if (from.asked.empty()) return fail(errc::invalid_argument, "no scope is requested; write drive.readonly");
  if (!from.subject.empty() && (from.subject.find('@') == std::string::npos || from.subject.size() > 320 ||
                                std::any_of(from.subject.begin(), from.subject.end(),
                                            [](char c) { return c <= ' ' || static_cast<unsigned char>(c) >= 0x7f; })))
    return fail(errc::invalid_argument,
                "subject is not an e-mail address; write that of a user of the domain, such as ann@example.com");
  if (!from.in.token_url.empty()) {
    HONDANA_TRY(check_token_url(from.in.token_url, true));
    if (from.in.token_url.starts_with("http:") && !from.proxy.empty() && from.proxy != "none")
      return fail(errc::invalid_argument,
                  "secrets are not sent over plain http: through a proxy, which could read them; use https:, or no proxy");
  }
  // Report settings that make every request fail at once.
  const auto url = from.in.token_url.empty() ? std::string(usual_token_url) : from.in.token_url;
  HONDANA_TRY(endpoint::endpoint::of(endpoint_settings(from, url)));
  return std::make_shared<kept_tokens>(std::move(from));
}

result<found_credentials> credentials_for(const token_settings& from) {
  auto found = find_credentials(from.in);
  if (found && !from.subject.empty() && !std::holds_alternative<service_account>(found->who))
    return fail(errc::invalid_argument,
                "subject is set, but " + found->from +
                    " does not hold the key of a service account, and only those can impersonate users; remove subject");
  return found;
}

std::vector<std::string> files_of(const token_settings& from) {
  std::vector<std::string> out;
  const auto add = [&out](std::string path) {
    if (!path.empty()) out.push_back(std::move(path));
  };
  if (from.in.file.empty()) {
    add(from.in.log_in_file);
    add(from.in.variables ? from.in.variables(file_variable) : std::string());
  } else {
    add(from.in.file);
  }
  add(from.authorities);
  return out;
}

std::vector<std::string> places_of(const token_settings& from) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& url) {
    const auto at = endpoint::endpoint::of(endpoint_settings(from, url));
    if (at && std::find(out.begin(), out.end(), (*at)->place()) == out.end()) out.push_back((*at)->place());
  };
  add(from.in.token_url.empty() ? std::string(usual_token_url) : from.in.token_url);
  if (const auto found = find_credentials(from.in)) add(token_url_of(found->who));
  return out;
}

}  // namespace hondana::google
