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
  explicit store(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The cache key: server, identity and request.
  struct request_key {
    std::string server;
    std::string identity;
    std::string method;
    std::string params;
    std::string uri;  ///< The resource that the request is about; empty for lists.
  };
  using shared_text = std::shared_ptr<const std::string>;

  /// The result as JSON and its remaining time to live. Empty if it is missing or expired.
  [[nodiscard]] std::optional<std::pair<shared_text, std::chrono::milliseconds>> find(const request_key& key);
  /// The current generation, for `insert`; get it before the request is sent. If anything is invalidated meanwhile, `insert`
  /// stores nothing.
  [[nodiscard]] std::uint64_t generation() const;
  /// Caches a result for its TTL. Ignores results larger than a quarter of the cache.
  void insert(const request_key& key, std::string result, const wire::asking::freshness& freshness,
              std::uint64_t expected_generation);
  /// Removes the resource `uri`, its parts, and the resources that contain it, in any spelling. An empty `uri` removes all
  /// resources.
  void invalidate_resource(const std::string& server, std::string_view uri);
  /// Removes lists: the results of all methods that begin with one of `prefixes`.
  void invalidate_lists(const std::string& server, std::initializer_list<std::string_view> prefixes);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct cached_response {
    std::string key;
    std::string server;
    std::string method;
    std::string uri;
    std::string canonical;  // of `uri`
    shared_text result;
    std::chrono::steady_clock::time_point expires_at;
    std::size_t bytes = 0;
  };
  [[nodiscard]] static std::string map_key(const request_key& key, bool is_public);
  void erase(std::list<cached_response>::iterator position);  // with the mutex held

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<cached_response> lru_;  // the most recently used first
  std::map<std::string, std::list<cached_response>::iterator, std::less<>> by_key_;
  std::size_t bytes_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace hondana
