/// Tokens in memory.
#include <algorithm>
#include <hondana/authorization.hpp>
#include <map>
#include <mutex>

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
  result<std::optional<client_registration>> registration(const std::string& issuer) override {
    const std::scoped_lock lock(mutex_);
    const auto found = registrations_.find(issuer);
    if (found == registrations_.end()) return std::nullopt;
    return found->second;
  }
  result<void> put_registration(const std::string& issuer, const client_registration& what) override {
    const std::scoped_lock lock(mutex_);
    registrations_[issuer] = what;
    return {};
  }
  result<void> remove_registration(const std::string& issuer) override {
    const std::scoped_lock lock(mutex_);
    registrations_.erase(issuer);
    return {};
  }

 private:
  void erase(const token_key& key) {
    std::erase_if(kept_, [&key](const kept_tokens& one) { return one.key == key; });
  }

  std::mutex mutex_;
  std::vector<kept_tokens> kept_;
  std::map<std::string, client_registration> registrations_;
};

}  // namespace

std::shared_ptr<token_store> make_token_store_in_memory() { return std::make_shared<store_in_memory>(); }

}  // namespace hondana::inline v0
