/// Tokens in memory.
#include <algorithm>
#include <condition_variable>
#include <hondana/authorization.hpp>
#include <hondana/clock.hpp>
#include <map>
#include <mutex>
#include <set>
#include <utility>

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
  /// Outlives the store, as its locks may.
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

}  // namespace hondana::inline v0
