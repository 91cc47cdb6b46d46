/// Implements the public class `oauth_session`, and a token store in memory.

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <hondana/authorization.hpp>
#include <hondana/clock.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/session.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::inline v0 {
namespace {

class memory_token_store final : public token_store {
 public:
  result<std::vector<token_record>> find(const std::string& resource) override {
    const std::scoped_lock lock(mutex_);
    std::vector<token_record> out;
    std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(out),
                 [&resource](const token_record& entry) { return entry.key.resource == resource; });
    return out;
  }
  result<void> put(const token_record& record) override {
    const std::scoped_lock lock(mutex_);
    erase(record.key);
    entries_.push_back(record);
    return {};
  }
  result<void> remove(const token_key& key) override {
    const std::scoped_lock lock(mutex_);
    erase(key);
    return {};
  }
  result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds timeout,
                                     const std::stop_token& stop) override {
    std::unique_lock lock(locks_->mutex);
    const auto is_free = [&] { return !locks_->locked.contains(resource); };
    if (!monotonic_clock::wait_for(locks_->released, lock, stop, timeout, is_free))
      return stop.stop_requested() ? fail(errc::cancelled, "it was cancelled while another call was getting a token")
                                   : fail(errc::timed_out, "another call took too long to get a token");
    locks_->locked.insert(resource);
    return std::make_shared<held_lock>(locks_, resource);
  }
  result<std::vector<client_registration>> registrations(const std::string& issuer) override {
    const std::scoped_lock lock(mutex_);
    const auto position = registrations_.find(issuer);
    return position == registrations_.end() ? std::vector<client_registration>() : position->second;
  }
  result<void> put_registration(const std::string& issuer, const client_registration& registration) override {
    const std::scoped_lock lock(mutex_);
    erase_registration(issuer, registration.client_id);
    registrations_[issuer].push_back(registration);
    return {};
  }
  result<void> remove_registration(const std::string& issuer, const std::string& client_id) override {
    const std::scoped_lock lock(mutex_);
    erase_registration(issuer, client_id);
    return {};
  }

 private:
  /// Owned by the store and by its locks, which may outlive the store.
  struct locks {
    std::mutex mutex;
    std::condition_variable_any released;
    std::set<std::string> locked;
  };
  class held_lock {
   public:
    held_lock(std::shared_ptr<locks> owner, std::string resource) : locks_(std::move(owner)), resource_(std::move(resource)) {}
    ~held_lock() {
      const std::scoped_lock lock(locks_->mutex);
      locks_->locked.erase(resource_);
      locks_->released.notify_all();
    }
    held_lock(const held_lock&) = delete;
    held_lock& operator=(const held_lock&) = delete;

   private:
    std::shared_ptr<locks> locks_;
    std::string resource_;
  };

  void erase(const token_key& key) {
    std::erase_if(entries_, [&key](const token_record& entry) { return entry.key == key; });
  }
  void erase_registration(const std::string& issuer, const std::string& client_id) {
    std::erase_if(registrations_[issuer],
                  [&](const client_registration& registration) { return registration.client_id == client_id; });
  }

  const std::shared_ptr<locks> locks_ = std::make_shared<locks>();
  std::mutex mutex_;
  std::vector<token_record> entries_;
  std::map<std::string, std::vector<client_registration>> registrations_;
};

}  // namespace

std::shared_ptr<token_store> make_memory_token_store() { return std::make_shared<memory_token_store>(); }

namespace {

using transport::http_client::call_guarded;
using transport::http_client::call_policy;
using transport::http_client::host_of;
using transport::http_client::origin_of;

tl::unexpected<failure> invalid_options(const std::string& reason) { return fail(errc::invalid_argument, reason); }

result<void> check_options(const oauth_client_options& options) {
  if (options.client_secret && options.private_key)
    return invalid_options("a client secret and a private key are configured; configure one of them");
  if (options.client_secret && !options.client_id) return invalid_options("a client secret is configured without a client id");
  // A signed assertion is valid for one audience only. A secret can be used by any server that receives it.
  if (options.client_secret && !options.issuer && !options.trusts_any_issuer)
    return invalid_options(
        "a client secret is configured without an issuer (--issuer URL), so the MCP server could choose who gets the secret; "
        "name the authorization server that issued it");
  if (options.grant == oauth_grant::client_credentials && !options.client_secret && !options.private_key)
    return invalid_options("a machine's login requires a client secret or a private key (--client-secret-file FILE)");
  if (options.grant == oauth_grant::client_credentials && !options.client_id && !options.metadata_url)
    return invalid_options("a machine's login requires a client id (--client-id ID)");
  // Spec: basic/authorization/client-registration#implementation-requirements.
  if (options.metadata_url &&
      (!oauth::check_endpoint(*options.metadata_url, "it") || !options.metadata_url->starts_with("https://") ||
       options.metadata_url->find('/', 8) == std::string::npos))
    return invalid_options("the URL of the client's metadata document must be https: and have a path");
  if (options.issuer) {
    if (auto status = oauth::check_issuer(*options.issuer); !status) return invalid_options(status.error().public_text);
  }
  for (const auto& scope : options.scopes) {
    if (!oauth::is_scope(scope)) return invalid_options("a scope is empty or contains blanks, quotes or control characters");
  }
  return {};
}

/// Hosts that may be on private networks. Names of this machine are allowed only if the MCP server is on this machine, too.
std::vector<std::string> allowed_hosts(const std::string& url, const oauth_client_options& options) {
  auto out = options.private_hosts;
  out.push_back(host_of(url));
  if (options.issuer) out.push_back(host_of(*options.issuer));
  if (oauth::is_on_this_machine(url)) out.insert(out.end(), {"localhost", "127.0.0.1", "[::1]"});
  return out;
}

}  // namespace

struct oauth_session::inner {
  explicit inner(oauth::session_context context) : session(std::move(context)) {}
  oauth::session session;
};

oauth_session::oauth_session(std::unique_ptr<inner> impl) noexcept : inner_(std::move(impl)) {}
oauth_session::~oauth_session() = default;

result<std::shared_ptr<oauth_session>> oauth_session::create(const std::string& url, oauth_client_options options) {
  oauth::session_context context;
  HONDANA_TRY(auto resource, oauth::canonical_resource(url));
  context.url = std::move(resource);
  if (context.url.starts_with("http://") && !oauth::is_on_this_machine(context.url))
    return invalid_options("tokens are not sent over plain http: to another machine; use an https: URL");
  HONDANA_TRY(check_options(options));
  if (options.private_key) {
    HONDANA_TRY(auto key, jose::signing_key::from_pem(*options.private_key));
    context.key = std::move(key);
  }
  if (!options.store) options.store = make_memory_token_store();
  call_policy guard{.trusted_hosts = allowed_hosts(context.url, options),
                    .ca_file = options.ca_file.value_or(std::string()),
                    .proxy = options.proxy == "none" ? std::string() : options.proxy.value_or(std::string()),
                    .uses_environment_proxy = !options.proxy,
                    .certificate_file = options.certificate_file.value_or(std::string()),
                    .key_file = options.key_file.value_or(std::string()),
                    .certificate_origin = origin_of(context.url).value_or("")};
  context.http.call = [guard = std::move(guard)](const auto& request, const std::stop_token& stop) {
    return call_guarded(request, guard, stop);
  };
  context.http.timeout = options.request_timeout;
  context.now = [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
  context.options = std::move(options);
  return std::shared_ptr<oauth_session>(new oauth_session(std::make_unique<inner>(std::move(context))));
}

std::optional<std::string> oauth_session::token() { return inner_->session.token(); }
result<void> oauth_session::obtain(const rejected_token& rejection, const std::stop_token& stop) {
  return inner_->session.obtain(rejection, stop);
}
result<void> oauth_session::log_in(const std::stop_token& stop) { return inner_->session.log_in(stop); }
result<bool> oauth_session::log_out(bool registrations, const std::stop_token& stop) {
  return inner_->session.log_out(registrations, stop);
}
const std::string& oauth_session::resource() const noexcept { return inner_->session.url(); }
std::optional<token_record> oauth_session::current_tokens() const { return inner_->session.current(); }

}  // namespace hondana::inline v0
