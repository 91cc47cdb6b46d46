/// Uses stored logins as the tokens of a client.
#include "auth/credentials/stored_login.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "os/disk/private_file.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/response_head.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::credentials {
namespace {

/// A manually registered client and its issuer.
struct known_client {
  client_registration what;
  std::string issuer;
};

/// The client of the most recent tokens. Empty if it was registered dynamically.
result<std::optional<known_client>> last_client(token_store& store, const std::string& url) {
  HONDANA_TRY(const auto spelled, oauth_session::of(url, {}));
  const auto kept = store.find(spelled->resource());
  if (!kept) return tl::unexpected(kept.error());
  const auto last = std::max_element(kept->begin(), kept->end(),
                                     [](const auto& a, const auto& b) { return a.tokens.since < b.tokens.since; });
  if (last == kept->end()) return std::nullopt;
  HONDANA_TRY(const auto clients, store.registrations(last->key.issuer));
  const auto client = std::find_if(clients.begin(), clients.end(),
                                   [&](const client_registration& one) { return one.client_id == last->key.client_id; });
  // Old entries lack `by_hand`. A client with a key cannot have been registered dynamically.
  if (client == clients.end() || (!client->by_hand && client->key_file.empty())) return std::nullopt;
  return known_client{*client, last->key.issuer};
}

result<void> add_proof(const client_registration& of, oauth_settings& to) {
  if (of.key_file.empty()) {
    to.client_secret = of.client_secret;
    return {};
  }
  HONDANA_TRY(auto text, disk::read_private(of.key_file, most_secret_bytes));
  to.private_key = std::move(text.bytes);
  return {};
}

struct proof_of_client {
  std::string client_id, issuer, secret, key;
  bool operator==(const proof_of_client&) const = default;
};

class stored_tokens final : public token_source {
 public:
  stored_tokens(http_target of, std::shared_ptr<token_store> store, std::string advice,
                std::function<void(std::string_view)> log)
      : of_(std::move(of)), store_(std::move(store)), advice_(std::move(advice)), log_(std::move(log)) {}

  std::optional<std::string> token() override {
    const std::lock_guard lock(mutex_);
    if (session_) return session_->token();
    return is_without_ ? std::optional<std::string>("") : std::nullopt;
  }
  result<void> obtain(const refused_token& why, const std::stop_token& stop) override {
    auto session = known();
    if (!session || why.status != 0) {
      auto opened = open();
      // The server may not require authentication. If it does, its 401 makes this an error.
      if (!opened && why.status == 0) return do_without(opened.error());
      if (!opened) return tl::unexpected(std::move(opened.error()));
      session = std::move(*opened);
    }
    return session->obtain(why, stop);
  }

 private:
  [[nodiscard]] std::shared_ptr<oauth_session> known() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  result<void> do_without(const failure& why) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_without_, true) && log_)
      log_("no stored login is used for " + transport::http_client::shown(of_.url) + ": " + why.public_text);
    return {};
  }
  /// Returns the session. Replaces it if a user has logged in since at another authorization server, or with another client.
  result<std::shared_ptr<oauth_session>> open() {
    HONDANA_TRY(auto settings, settings_with(store_, of_));
    HONDANA_TRY(add_kept_client(settings, of_.url));
    const std::lock_guard lock(mutex_);
    const std::set<std::string> hosts(settings.hosts.begin(), settings.hosts.end());
    proof_of_client proof{settings.client_id, settings.issuer, settings.client_secret, settings.private_key};
    if (session_ && proof == proof_ && std::includes(hosts_.begin(), hosts_.end(), hosts.begin(), hosts.end())) return session_;
    settings.advice = advice_;
    settings.log = log_;
    auto made = oauth_session::of(of_.url, std::move(settings));
    if (!made) return made;
    session_ = std::move(*made);
    proof_ = std::move(proof);
    hosts_ = hosts;
    return session_;
  }

  const http_target of_;
  const std::shared_ptr<token_store> store_;
  const std::string advice_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;
  std::shared_ptr<oauth_session> session_{};
  std::set<std::string> hosts_{};  // authorization servers on private networks that it may contact
  proof_of_client proof_{};        // credentials of its client
  bool is_without_ = false;        // the store could not be read; send no token until the server rejects a request
};

}  // namespace

result<oauth_settings> settings_with(std::shared_ptr<token_store> store, const http_target& of) {
  // Used only for the canonical URL of the resource.
  HONDANA_TRY(const auto spelled, oauth_session::of(of.url, {}));
  const auto kept = store->find(spelled->resource());
  if (!kept) return tl::unexpected(kept.error());
  oauth_settings out;
  for (const auto& one : *kept) out.hosts.push_back(transport::http_client::host_of(one.key.issuer));
  out.proxy = of.proxy;
  out.authorities = of.authorities;
  out.certificate = of.certificate;
  out.certificate_key = of.key;
  out.store = std::move(store);
  return out;
}

result<void> add_kept_client(oauth_settings& to, const std::string& url) {
  HONDANA_TRY(const auto last, last_client(*to.store, url));
  if (!last) return {};
  HONDANA_TRY(add_proof(last->what, to));
  to.client_id = last->what.client_id;
  to.issuer = last->issuer;
  if (last->what.is_machine) to.grant = oauth_grant::client_credentials;
  return {};
}

result<void> add_client_of_before(oauth_settings& to, const std::string& url) {
  if (!to.client_id.empty() || !to.metadata_url.empty()) return {};
  HONDANA_TRY(const auto last, last_client(*to.store, url));
  const bool is_machine = to.grant == oauth_grant::client_credentials;
  if (!last || last->what.is_machine != is_machine || (!to.issuer.empty() && to.issuer != last->issuer)) return {};
  // A newly configured secret or key takes precedence.
  if (to.client_secret.empty() && to.private_key.empty()) {
    HONDANA_TRY(add_proof(last->what, to));
  }
  to.client_id = last->what.client_id;
  to.issuer = last->issuer;
  return {};
}

std::shared_ptr<token_source> stored_log_in(const http_target& of, std::shared_ptr<token_store> store, std::string advice,
                                            std::function<void(std::string_view line)> log) {
  const bool says_who = std::any_of(of.headers.begin(), of.headers.end(),
                                    [](const auto& field) { return ascii::is_same(field.first, "authorization"); });
  const bool has_proxy = !of.proxy.empty() && of.proxy != "none";
  const auto origin = transport::http_client::origin_of(of.url);
  if (has_proxy && origin && origin->starts_with("http://")) return nullptr;
  if (says_who || of.tokens || !of.socket.empty() || !oauth_session::of(of.url, {})) return nullptr;
  return std::make_shared<stored_tokens>(of, std::move(store), std::move(advice), std::move(log));
}

}  // namespace hondana::credentials
