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

class store_in_memory final : public token_store {
 public:
  result<std::vector<kept_tokens>> find(const std::string& resource) override {
    const std::scoped_lock lock(mutex_);
    std::vector<kept_tokens> out;
    std::copy_if(kept_.begin(), kept_.end(), std::back_inserter(out),
                 [&resource](const kept_tokens& one) { return one.key.resource == resource; });
    return out;
  }
  result<void> put(const kept_tokens& what) override {
    const std::scoped_lock lock(mutex_);
    erase(what.key);
    kept_.push_back(what);
    return {};
  }
  result<void> remove(const token_key& key) override {
    const std::scoped_lock lock(mutex_);
    erase(key);
    return {};
  }
  result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds most,
                                     const std::stop_token& stop) override {
    std::unique_lock lock(locks_->mutex);
    const auto is_free = [&] { return !locks_->held.contains(resource); };
    if (!monotonic_clock::wait_for(locks_->freed, lock, stop, most, is_free))
      return stop.stop_requested() ? fail(errc::cancelled, "it was cancelled while another call was getting a token")
                                   : fail(errc::timed_out, "another call took too long to get a token");
    locks_->held.insert(resource);
    return std::make_shared<held_lock>(locks_, resource);
  }
  result<std::vector<client_registration>> registrations(const std::string& issuer) override {
    const std::scoped_lock lock(mutex_);
    const auto found = registrations_.find(issuer);
    return found == registrations_.end() ? std::vector<client_registration>() : found->second;
  }
  result<void> put_registration(const std::string& issuer, const client_registration& what) override {
    const std::scoped_lock lock(mutex_);
    erase_registration(issuer, what.client_id);
    registrations_[issuer].push_back(what);
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
    std::condition_variable_any freed;
    std::set<std::string> held;
  };
  class held_lock {
   public:
    held_lock(std::shared_ptr<locks> of, std::string resource) : of_(std::move(of)), resource_(std::move(resource)) {}
    ~held_lock() {
      const std::scoped_lock lock(of_->mutex);
      of_->held.erase(resource_);
      of_->freed.notify_all();
    }
    held_lock(const held_lock&) = delete;
    held_lock& operator=(const held_lock&) = delete;

   private:
    std::shared_ptr<locks> of_;
    std::string resource_;
  };

  void erase(const token_key& key) {
    std::erase_if(kept_, [&key](const kept_tokens& one) { return one.key == key; });
  }
  void erase_registration(const std::string& issuer, const std::string& client_id) {
    std::erase_if(registrations_[issuer], [&](const client_registration& one) { return one.client_id == client_id; });
  }

  const std::shared_ptr<locks> locks_ = std::make_shared<locks>();
  std::mutex mutex_;
  std::vector<kept_tokens> kept_;
  std::map<std::string, std::vector<client_registration>> registrations_;
};

}  // namespace

std::shared_ptr<token_store> make_token_store_in_memory() { return std::make_shared<store_in_memory>(); }

namespace {

using transport::http_client::call_guard;
using transport::http_client::call_guarded;
using transport::http_client::host_of;
using transport::http_client::origin_of;

tl::unexpected<failure> cannot_be(const std::string& what) { return fail(errc::invalid_argument, what); }

result<void> check(const oauth_settings& settings) {
  if (!settings.client_secret.empty() && !settings.private_key.empty())
    return cannot_be("a client secret and a private key are configured; configure one of them");
  if (!settings.client_secret.empty() && settings.client_id.empty())
    return cannot_be("a client secret is configured without a client id");
  // A signed assertion is valid for one audience only. A secret can be used by any server that receives it.
  if (!settings.client_secret.empty() && settings.issuer.empty() && !settings.any_issuer)
    return cannot_be(
        "a client secret is configured without an issuer (--issuer URL), so the MCP server could choose who gets the secret; "
        "name the authorization server that issued it");
  if (settings.grant == oauth_grant::client_credentials && settings.client_secret.empty() && settings.private_key.empty())
    return cannot_be("a machine's login requires a client secret or a private key (--client-secret-file FILE)");
  if (settings.grant == oauth_grant::client_credentials && settings.client_id.empty() && settings.metadata_url.empty())
    return cannot_be("a machine's login requires a client id (--client-id ID)");
  // Spec: basic/authorization/client-registration#implementation-requirements.
  if (!settings.metadata_url.empty() &&
      (!oauth::check_endpoint(settings.metadata_url, "it") || !settings.metadata_url.starts_with("https://") ||
       settings.metadata_url.find('/', 8) == std::string::npos))
    return cannot_be("the URL of the client's metadata document must be https: and have a path");
  if (!settings.issuer.empty()) {
    if (auto checked = oauth::check_issuer(settings.issuer); !checked) return cannot_be(checked.error().public_text);
  }
  for (const auto& one : settings.scopes) {
    if (!oauth::is_scope(one)) return cannot_be("a scope is empty or contains blanks, quotes or control characters");
  }
  return {};
}

/// Hosts that may be on private networks. Names of this machine are allowed only if the MCP server is on this machine, too.
std::vector<std::string> hosts_for(const std::string& url, const oauth_settings& settings) {
  auto out = settings.hosts;
  out.push_back(host_of(url));
  if (!settings.issuer.empty()) out.push_back(host_of(settings.issuer));
  if (oauth::is_on_this_machine(url)) out.insert(out.end(), {"localhost", "127.0.0.1", "[::1]"});
  return out;
}

}  // namespace

struct oauth_session::inner {
  explicit inner(oauth::means with) : session(std::move(with)) {}
  oauth::session session;
};

oauth_session::oauth_session(std::unique_ptr<inner> of) noexcept : inner_(std::move(of)) {}
oauth_session::~oauth_session() = default;

result<std::shared_ptr<oauth_session>> oauth_session::of(const std::string& url, oauth_settings settings) {
  oauth::means with;
  HONDANA_TRY(auto resource, oauth::canonical_resource(url));
  with.url = std::move(resource);
  if (with.url.starts_with("http://") && !oauth::is_on_this_machine(with.url))
    return cannot_be("tokens are not sent over plain http: to another machine; use an https: URL");
  HONDANA_TRY(check(settings));
  if (!settings.private_key.empty()) {
    HONDANA_TRY(auto key, jose::signing_key::of_pem(settings.private_key));
    with.key = std::move(key);
  }
  if (!settings.store) settings.store = make_token_store_in_memory();
  call_guard guard{.hosts = hosts_for(with.url, settings),
                   .authorities = settings.authorities,
                   .proxy = settings.proxy == "none" ? std::string() : settings.proxy,
                   .uses_environment = settings.proxy.empty(),
                   .certificate = settings.certificate,
                   .key = settings.certificate_key,
                   .shown_to = origin_of(with.url).value_or("")};
  with.http.call = [guard = std::move(guard)](const auto& what, const std::stop_token& stop) {
    return call_guarded(what, guard, stop);
  };
  with.http.time = settings.call_time;
  with.now = [] { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); };
  with.settings = std::move(settings);
  return std::shared_ptr<oauth_session>(new oauth_session(std::make_unique<inner>(std::move(with))));
}

std::optional<std::string> oauth_session::token() { return inner_->session.token(); }
result<void> oauth_session::obtain(const refused_token& why, const std::stop_token& stop) {
  return inner_->session.obtain(why, stop);
}
result<void> oauth_session::log_in(const std::stop_token& stop) { return inner_->session.log_in(stop); }
result<bool> oauth_session::log_out(bool registrations, const std::stop_token& stop) {
  return inner_->session.log_out(registrations, stop);
}
const std::string& oauth_session::resource() const noexcept { return inner_->session.url(); }
std::optional<kept_tokens> oauth_session::current() const { return inner_->session.current(); }

}  // namespace hondana::inline v0
