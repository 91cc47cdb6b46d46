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

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace hondana_test {

/// Knows "NAME" and "NAME-again" as NAME, with the scopes that the test gave; "slow-NAME" has to be asked about, and waits for
/// `open`, and "brief-NAME" does not wait; "failing" makes it throw; whatever begins with "bad" is refused.
class notary final : public hondana::authenticator {
 public:
  std::map<std::string, std::vector<std::string>> scopes;  ///< By identity; one that is not here has no proof.
  std::shared_ptr<hondana::protected_resource> about;
  std::optional<hondana::challenge> always_says;
  std::chrono::milliseconds holds = std::chrono::hours(24 * 365);  ///< How long what is said of somebody does.
  tally looked_at;                                                 ///< Calls of `known`.
  std::atomic<bool> takes{true};                                   ///< Tokens, at all.
  tally asked;                                                     ///< Calls of `find_out` that have begun.

  ~notary() override = default;
  std::optional<hondana::authenticated> known(const hondana::request_facts& of) override {
    {
      const std::lock_guard lock(mutex_);
      last_ = of;
      if (now_says_) return tl::unexpected(*now_says_);
    }
    looked_at.add();
    if (always_says) return tl::unexpected(*always_says);
    if (of.process) return hondana::caller{"user " + std::to_string(of.process->user), {}, nullptr};
    if (!of.bearer) return tl::unexpected(hondana::challenge{});
    if (of.bearer->starts_with("bad")) {
      return tl::unexpected(hondana::challenge{401, "invalid_token", "The token has expired. Log in again.", {"files"}, {}});
    }
    if (of.bearer->starts_with("slow-") || of.bearer->starts_with("brief-") || *of.bearer == "failing") return std::nullopt;
    const std::lock_guard lock(mutex_);
    return known_as(of.bearer->substr(0, of.bearer->find("-again")));
  }
  hondana::authenticated find_out(const hondana::request_facts& of, std::chrono::steady_clock::time_point) override {
    if (*of.bearer == "failing") throw std::runtime_error("the test's authenticator fails");
    std::unique_lock lock(mutex_);
    asked.add();
    if (of.bearer->starts_with("brief-")) return known_as(of.bearer->substr(6));
    changed_.wait(lock, [this] { return is_open_; });
    return known_as(of.bearer->substr(5));
  }
  bool takes_tokens() const noexcept override { return takes; }
  std::shared_ptr<const hondana::protected_resource> metadata() const override { return about; }

  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  /// From now on; nothing: as before.
  void say(std::optional<hondana::challenge> why) {
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
  hondana::request_facts last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  hondana::known_caller known_as(const std::string& name) const {
    hondana::known_caller who({name, {}, nullptr}, hondana::monotonic_clock::now() + holds);
    if (const auto found = scopes.find(name); found != scopes.end()) {
      const auto said = claims_.find(name);
      who.proof = std::make_shared<const hondana::proof>(
          hondana::proof{"the test", found->second, said == claims_.end() ? hondana::value() : said->second});
    }
    return who;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  std::map<std::string, hondana::value> claims_;
  hondana::request_facts last_;
  std::optional<hondana::challenge> now_says_;
};

/// Reading `memo:///who` tells who has asked, from where.
struct guarded {
  explicit guarded(hondana::server_options with = {}, hondana::http_options where = {})
      : server(options_with_log(std::move(with))) {
    source->entries["memo:///who"] = [](const hondana::read_request& request) {
      return hondana::text_reading(request.who.identity + " at " + request.who.address);
    };
    source->entries["memo:///secret/plan"] = [](const auto&) { return hondana::text_reading("the plan"); };
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
