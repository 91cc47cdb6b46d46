/// Caches responses for the time that their servers allow.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>

#include "protocol/wire/asking/results.hpp"

namespace hondana {

/// Cached results by request. Removes the least recently used ones when full. Threads: any.
class client_cache::store {
 public:
  explicit store(std::size_t bytes) : most_(bytes) {}

  /// The cache key: server, identity and request.
  struct question {
    std::string server;
    std::string identity;
    std::string method;
    std::string params;
    std::string uri;  ///< The resource that the request is about; empty for lists.
  };
  using text = std::shared_ptr<const std::string>;

  /// The result as JSON and its remaining time to live. Empty if it is missing or expired.
  [[nodiscard]] std::optional<std::pair<text, std::chrono::milliseconds>> find(const question& what);
  /// Returns a mark for `keep`; take it before the request is sent. If anything is invalidated meanwhile, `keep` stores
  /// nothing.
  [[nodiscard]] std::uint64_t mark() const;
  /// Caches a result for its TTL. Ignores results larger than a quarter of the cache.
  void keep(const question& what, std::string result, const wire::asking::freshness& how, std::uint64_t since);
  /// Removes the resource `uri`, its parts, and the resources that contain it, in any spelling. An empty `uri` removes all
  /// resources.
  void forget_resource(const std::string& server, std::string_view uri);
  /// Removes lists: the results of all methods that begin with one of `prefixes`.
  void forget_lists(const std::string& server, std::initializer_list<std::string_view> prefixes);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct kept {
    std::string key;
    std::string server;
    std::string method;
    std::string uri;
    std::string canonical;  // of `uri`
    text result;
    std::chrono::steady_clock::time_point until;
    std::size_t bytes = 0;
  };
  [[nodiscard]] static std::string key_of(const question& what, bool is_public);
  void drop(std::list<kept>::iterator which);  // with the mutex held

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<kept> order_;  // the most recently used first
  std::map<std::string, std::list<kept>::iterator, std::less<>> by_key_;
  std::size_t bytes_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace hondana
