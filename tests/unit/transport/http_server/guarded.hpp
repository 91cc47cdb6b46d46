/// A running HTTP server that asks an authenticator of the test who everybody is.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "support/must.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace hondana_test {

/// Knows "NAME" and "NAME-again" as NAME, with the scopes that the test gave; "slow-NAME" has to be asked about, and waits for
/// `open`, and "brief-NAME" does not wait; "failing" makes it throw; whatever begins with "bad" is refused.
class notary final : public hondana::authenticator {
 public:
  std::map<std::string, std::vector<std::string>> scopes;  ///< By identity; one that is not here has no proof.
  std::shared_ptr<hondana::protected_resource> about;
  std::optional<hondana::auth_rejection> always_says;
  std::chrono::milliseconds holds = std::chrono::hours(24 * 365);  ///< How long what is said of somebody does.
  tally looked_at;                                                 ///< Calls of `try_authenticate`.
  std::atomic<bool> takes{true};                                   ///< Tokens, at all.
  tally asked;                                                     ///< Calls of `authenticate` that have begun.

  ~notary() override = default;
  std::optional<hondana::auth_result> try_authenticate(const hondana::auth_request& of) override {
    {
      const std::lock_guard lock(mutex_);
      last_ = of;
      if (now_says_) return tl::unexpected(*now_says_);
    }
    looked_at.add();
    if (always_says) return tl::unexpected(*always_says);
    if (of.peer) return hondana::caller_info{"user " + std::to_string(of.peer->uid), {}, nullptr};
    if (!of.bearer_token) return tl::unexpected(hondana::auth_rejection{});
    if (of.bearer_token->starts_with("bad")) {
      return tl::unexpected(
          hondana::auth_rejection{401, "invalid_token", "The token has expired. Log in again.", {"files"}, {}});
    }
    if (of.bearer_token->starts_with("slow-") || of.bearer_token->starts_with("brief-") || *of.bearer_token == "failing")
      return std::nullopt;
    const std::lock_guard lock(mutex_);
    return known_as(of.bearer_token->substr(0, of.bearer_token->find("-again")));
  }
  hondana::auth_result authenticate(const hondana::auth_request& of, std::chrono::steady_clock::time_point) override {
    if (*of.bearer_token == "failing") throw std::runtime_error("the test's authenticator fails");
    std::unique_lock lock(mutex_);
    asked.add();
    if (of.bearer_token->starts_with("brief-")) return known_as(of.bearer_token->substr(6));
    changed_.wait(lock, [this] { return is_open_; });
    return known_as(of.bearer_token->substr(5));
  }
  bool accepts_tokens() const noexcept override { return takes; }
  std::shared_ptr<const hondana::protected_resource> metadata() const override { return about; }

  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  /// From now on; nothing: as before.
  void say(std::optional<hondana::auth_rejection> why) {
    const std::lock_guard lock(mutex_);
    now_says_ = std::move(why);
  }
  void grant(const std::string& name, std::vector<std::string> all) {
    const std::lock_guard lock(mutex_);
    scopes[name] = std::move(all);
  }
  /// What tokens of `name` say from now on, an object.
  void claim(const std::string& name, const std::string& all) {
    const std::lock_guard lock(mutex_);
    claims_[name] = hondana::value::parse(all).value();
  }
  hondana::auth_request last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  hondana::authenticated_caller known_as(const std::string& name) const {
    hondana::authenticated_caller who({name, {}, nullptr}, hondana::monotonic_clock::now() + holds);
    if (const auto found = scopes.find(name); found != scopes.end()) {
      const auto said = claims_.find(name);
      who.auth_info = std::make_shared<const hondana::auth_info>(
          hondana::auth_info{"the test", found->second, said == claims_.end() ? hondana::value() : said->second});
    }
    return who;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  std::map<std::string, hondana::value> claims_;
  hondana::auth_request last_;
  std::optional<hondana::auth_rejection> now_says_;
};

/// Reading `memo:///who` tells who has asked, from where.
struct guarded {
  explicit guarded(hondana::server_options with = {}, hondana::http_options where = {})
      : server(must(hondana::server::create(options_with_log(std::move(with))))) {
    source->entries["memo:///who"] = [](const hondana::read_request& request) {
      return hondana::text_read_result(request.caller.identity + " at " + request.caller.address);
    };
    source->entries["memo:///secret/plan"] = [](const auto&) { return hondana::text_read_result("the plan"); };
    if (const auto added = server.add(source); !added) throw std::runtime_error(added.error().public_text);
    where.authenticator = clerk;
    where.port = 0;
    where.threads = 2;
    auto started = hondana::http_service::start(server, std::move(where));
    if (!started) throw std::runtime_error(started.error().public_text);
    service.emplace(std::move(*started));
  }
  // Threads that are stuck in the authenticator belong to nobody any more, but the program ends with all of them.
  ~guarded() { clerk->open(); }
  guarded(const guarded&) = delete;
  guarded& operator=(const guarded&) = delete;

  [[nodiscard]] client peer() const { return client(service->port()); }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::shared_ptr<notary> clerk = std::make_shared<notary>();
  std::shared_ptr<shelf> source = std::make_shared<shelf>();

 private:
  hondana::server_options options_with_log(hondana::server_options with) {
    with.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_ += std::string(line) + '\n';
    };
    return with;
  }

  std::mutex mutex_;
  std::string lines_;

 public:
  hondana::server server;
  std::optional<hondana::http_service> service;
};

/// The header line that sends a token.
inline std::string bearer(std::string_view token) { return "Authorization: Bearer " + std::string(token) + "\r\n"; }

}  // namespace hondana_test
