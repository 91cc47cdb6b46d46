/// A protected MCP server, its authorization server and the user, all played.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <hondana/authorization.hpp>

#include "auth/oauth/form.hpp"
#include "auth/oauth/session.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana_test {

using hondana::errc;
using hondana::result;
using hondana::transport::http_client::small_request;
using hondana::transport::http_client::small_response;

inline constexpr const char* server_url = "https://mcp.example/mcp";
inline constexpr const char* login_server_url = "https://as.example";

inline small_response json(std::string text, int status = 200) {
  small_response out;
  out.status = status;
  out.media_type = "application/json";
  out.body = std::move(text);
  return out;
}

/// What stands in a form or behind the `?` of a URL; empty: nothing of that name.
inline std::string field(const std::string& form, std::string_view name) {
  const auto all = hondana::oauth::read_query(form);
  const auto* found = all ? hondana::oauth::find(*all, name) : nullptr;
  return found == nullptr ? std::string() : *found;
}

inline std::string query_of(const std::string& url) { return url.substr(url.find('?') + 1); }

/// Answers by URL, 404 where nothing is; hears what it is asked. Threads: any.
class scripted_places {
 public:
  using script = std::function<result<small_response>(const small_request&, const std::stop_token&)>;

  void put(const std::string& url, script plays) {
    const std::scoped_lock lock(mutex_);
    scripts_[url] = std::move(plays);
  }
  void put(const std::string& url, const small_response& always) {
    put(url, [always](const small_request&, const std::stop_token&) { return always; });
  }
  void drop(const std::string& url) {
    const std::scoped_lock lock(mutex_);
    scripts_.erase(url);
  }

  [[nodiscard]] result<small_response> call(const small_request& what, const std::stop_token& stop) {
    script plays;
    {
      const std::scoped_lock lock(mutex_);
      asked_.push_back(what);
      const auto found = scripts_.find(what.url);
      if (found != scripts_.end()) plays = found->second;
      changed_.notify_all();
    }
    if (plays) return plays(what, stop);
    small_response nothing;
    nothing.status = 404;
    return nothing;
  }

  [[nodiscard]] std::vector<small_request> asked(const std::string& url) const {
    const std::scoped_lock lock(mutex_);
    std::vector<small_request> out;
    for (const auto& one : asked_)
      if (one.url == url) out.push_back(one);
    return out;
  }
  [[nodiscard]] std::vector<std::string> urls() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> out;
    for (const auto& one : asked_) out.push_back(one.url);
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, script> scripts_;
  std::vector<small_request> asked_;
};

/// A user who does what a test says; by itself she agrees.
class scripted_user final : public hondana::login_handler {
 public:
  using script = std::function<result<std::string>(const std::string& page, const std::stop_token&)>;

  result<std::string> listen(const std::optional<std::string>& registered) override {
    before.push_back(registered.value_or(""));
    return redirect_uri;
  }
  result<std::string> visit(const std::string& page, const std::stop_token& stop) override {
    pages.push_back(page);
    return plays ? plays(page, stop) : agreed(page);
  }
  /// Where a user who agrees comes back to.
  [[nodiscard]] std::string agreed(const std::string& page) const {
    return redirect_uri + "?code=the-code&state=" + field(query_of(page), "state") + more;
  }

  std::string redirect_uri = "http://127.0.0.1:7000/back";
  std::string more{};  // behind the state
  script plays{};
  std::vector<std::string> before{};
  std::vector<std::string> pages{};
};

/// All of it, with a session at work.
class scripted_world {
 public:
  scripted_world() {
    settings.store = store;
    settings.login = user;
    settings.log = [this](std::string_view line) {
      const std::scoped_lock lock(mutex_);
      said_ += std::string(line) + '\n';
    };
    publish(R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]})");
    announce("");
    places.put("https://as.example/register", json(R"({"client_id":"registered","redirect_uris":[]})", 201));
    places.put("https://as.example/token", [this](const small_request&, const std::stop_token&) { return json(next_token()); });
  }

  void publish(const std::string& metadata) {
    places.put("https://mcp.example/.well-known/oauth-protected-resource/mcp", json(metadata));
  }
  /// The metadata of the authorization server with `more` behind its usual members.
  void announce(const std::string& more) {
    places.put("https://as.example/.well-known/oauth-authorization-server",
               json(R"({"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",)"
                    R"("token_endpoint":"https://as.example/token","registration_endpoint":"https://as.example/register",)"
                    R"("token_endpoint_auth_methods_supported":["none","client_secret_basic","client_secret_post"],)"
                    R"("code_challenge_methods_supported":["S256"])" +
                    more + "}"));
  }
  std::string next_token() {
    const std::scoped_lock lock(mutex_);
    ++tokens_given_;
    return R"({"access_token":"token-)" + std::to_string(tokens_given_) + R"(","token_type":"Bearer")" + token_members + "}";
  }

  [[nodiscard]] hondana::oauth::session& session() {
    if (!session_) {
      hondana::oauth::session_context with;
      with.url = server_url;
      with.options = settings;
      with.key = key;
      with.http.call = [this](const small_request& what, const std::stop_token& stop) { return places.call(what, stop); };
      with.now = [this] {
        const std::scoped_lock lock(mutex_);
        return now_;
      };
      session_ = std::make_unique<hondana::oauth::session>(std::move(with));
    }
    return *session_;
  }
  [[nodiscard]] std::string token() { return session().token().value_or("(none)"); }
  /// As another process that has the same store.
  void restart() { session_.reset(); }

  /// What a request does that the server refuses with `challenge`.
  [[nodiscard]] result<void> refused(const std::string& challenge = "Bearer", int status = 401, int times = 1) {
    const auto sent = session().token();
    return session().obtain({server_url, status, {challenge}, sent, times}, {});
  }
  /// What a request does that has no token to send.
  [[nodiscard]] result<void> lacking() { return session().obtain({server_url, {}, {}, {}, 0}, {}); }

  void pass(std::chrono::seconds time) {
    const std::scoped_lock lock(mutex_);
    now_ += time;
  }
  [[nodiscard]] std::string said() const {
    const std::scoped_lock lock(mutex_);
    return said_;
  }
  /// The form of the nth request for tokens.
  [[nodiscard]] std::string token_form(std::size_t n) const {
    const auto all = places.asked("https://as.example/token");
    return n < all.size() ? all[n].body.value_or("") : "";
  }

  scripted_places places{};
  std::shared_ptr<scripted_user> user = std::make_shared<scripted_user>();
  std::shared_ptr<hondana::token_store> store = hondana::make_memory_token_store();
  hondana::oauth_client_options settings{};
  std::optional<hondana::jose::signing_key> key{};
  std::string token_members = R"(,"expires_in":3600)";

 private:
  mutable std::mutex mutex_;
  std::string said_;
  int tokens_given_ = 0;
  hondana::oauth::seconds_since_epoch now_{std::chrono::seconds(1'800'000'000)};
  std::unique_ptr<hondana::oauth::session> session_;
};

}  // namespace hondana_test
