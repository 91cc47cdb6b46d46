/// Lets clients use the tokens and client registrations in a store.
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
struct registered_client {
  client_registration registration;
  std::string issuer;
};

/// The client of the most recent tokens. Empty if it was registered dynamically.
result<std::optional<registered_client>> last_client(token_store& store, const std::string& url) {
  HONDANA_TRY(const auto session, oauth_session::create(url, {}));
  const auto stored = store.find(session->resource());
  if (!stored) return tl::unexpected(stored.error());
  const auto last = std::max_element(stored->begin(), stored->end(),
                                     [](const auto& a, const auto& b) { return a.tokens.issued_at < b.tokens.issued_at; });
  if (last == stored->end()) return std::nullopt;
  HONDANA_TRY(const auto clients, store.registrations(last->key.issuer));
  const auto client = std::find_if(clients.begin(), clients.end(), [&](const client_registration& registration) {
    return registration.client_id == last->key.client_id;
  });
  // Old entries lack `is_manual`. A client with a key cannot have been registered dynamically.
  if (client == clients.end() || (!client->is_manual && !client->key_file)) return std::nullopt;
  return registered_client{*client, last->key.issuer};
}

result<void> add_client_credentials(const client_registration& client, oauth_client_options& options) {
  if (!client.key_file) {
    options.client_secret = client.client_secret;
    return {};
  }
  HONDANA_TRY(auto text, disk::read_private(*client.key_file, max_secret_bytes));
  options.private_key = std::move(text.bytes);
  return {};
}

struct client_credentials {
  std::optional<std::string> client_id, issuer, secret, key;
  bool operator==(const client_credentials&) const = default;
};

class stored_token_source final : public token_source {
 public:
  stored_token_source(http_target target, std::shared_ptr<token_store> store, std::string advice,
                      std::function<void(std::string_view)> log)
      : target_(std::move(target)), store_(std::move(store)), advice_(std::move(advice)), log_(std::move(log)) {}

  std::optional<std::string> token() override {
    const std::lock_guard lock(mutex_);
    if (session_) return session_->token();
    return sends_no_token_ ? std::optional<std::string>("") : std::nullopt;
  }
  result<void> obtain(const rejected_token& rejection, const std::stop_token& stop) override {
    auto session = current_session();
    if (!session || rejection.status) {
      auto opened = open();
      // The server may not require authentication. If it does, its 401 makes this an error.
      if (!opened && !rejection.status) return continue_without_token(opened.error());
      if (!opened) return tl::unexpected(std::move(opened.error()));
      session = std::move(*opened);
    }
    return session->obtain(rejection, stop);
  }

 private:
  [[nodiscard]] std::shared_ptr<oauth_session> current_session() const {
    const std::lock_guard lock(mutex_);
    return session_;
  }
  result<void> continue_without_token(const failure& error) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(sends_no_token_, true) && log_)
      log_("no stored login is used for " + transport::http_client::display_url(target_.url) + ": " + error.public_text);
    return {};
  }
  /// Returns the session. Replaces it if a user has logged in since at another authorization server, or with another client.
  result<std::shared_ptr<oauth_session>> open() {
    HONDANA_TRY(auto options, make_client_options(store_, target_));
    HONDANA_TRY(add_stored_client(options, target_.url));
    const std::lock_guard lock(mutex_);
    const std::set<std::string> hosts(options.private_hosts.begin(), options.private_hosts.end());
    client_credentials credentials{options.client_id, options.issuer, options.client_secret, options.private_key};
    if (session_ && credentials == credentials_ && std::includes(hosts_.begin(), hosts_.end(), hosts.begin(), hosts.end()))
      return session_;
    options.login_advice = advice_;
    options.log = log_;
    auto created = oauth_session::create(target_.url, std::move(options));
    if (!created) return created;
    session_ = std::move(*created);
    credentials_ = std::move(credentials);
    hosts_ = hosts;
    return session_;
  }

  const http_target target_;
  const std::shared_ptr<token_store> store_;
  const std::string advice_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;
  std::shared_ptr<oauth_session> session_{};
  std::set<std::string> hosts_{};     // authorization servers on private networks that it may contact
  client_credentials credentials_{};  // credentials of its client
  bool sends_no_token_ = false;       // the store could not be read; send no token until the server rejects a request
};

}  // namespace

result<oauth_client_options> make_client_options(std::shared_ptr<token_store> store, const http_target& target) {
  // Used only for the canonical URL of the resource.
  HONDANA_TRY(const auto session, oauth_session::create(target.url, {}));
  const auto stored = store->find(session->resource());
  if (!stored) return tl::unexpected(stored.error());
  oauth_client_options out;
  for (const auto& entry : *stored) out.private_hosts.push_back(transport::http_client::host_of(entry.key.issuer));
  out.proxy = target.proxy;
  out.ca_file = target.ca_file;
  out.certificate_file = target.certificate_file;
  out.key_file = target.key_file;
  out.store = std::move(store);
  return out;
}

result<void> add_stored_client(oauth_client_options& options, const std::string& url) {
  HONDANA_TRY(const auto last, last_client(*options.store, url));
  if (!last) return {};
  HONDANA_TRY(add_client_credentials(last->registration, options));
  options.client_id = last->registration.client_id;
  options.issuer = last->issuer;
  if (last->registration.is_machine) options.grant = oauth_grant::client_credentials;
  return {};
}

result<void> add_previous_client(oauth_client_options& options, const std::string& url) {
  if (options.client_id || options.metadata_url) return {};
  HONDANA_TRY(const auto last, last_client(*options.store, url));
  const bool is_machine = options.grant == oauth_grant::client_credentials;
  if (!last || last->registration.is_machine != is_machine || (options.issuer && options.issuer != last->issuer)) return {};
  // A newly configured secret or key takes precedence.
  if (!options.client_secret && !options.private_key) {
    HONDANA_TRY(add_client_credentials(last->registration, options));
  }
  options.client_id = last->registration.client_id;
  options.issuer = last->issuer;
  return {};
}

std::shared_ptr<token_source> make_stored_token_source(const http_target& target, std::shared_ptr<token_store> store,
                                                       std::string advice, std::function<void(std::string_view line)> log) {
  const bool has_authorization = std::any_of(target.headers.begin(), target.headers.end(), [](const auto& field) {
    return ascii::equals_ignore_case(field.first, "authorization");
  });
  const bool has_proxy = target.proxy && target.proxy != "none";
  const auto origin = transport::http_client::origin_of(target.url);
  if (has_proxy && origin && origin->starts_with("http://")) return nullptr;
  if (has_authorization || target.tokens || target.socket_path || !oauth_session::create(target.url, {})) return nullptr;
  return std::make_shared<stored_token_source>(target, std::move(store), std::move(advice), std::move(log));
}

}  // namespace hondana::credentials
