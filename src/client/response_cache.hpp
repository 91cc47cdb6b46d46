/// The cache of results, for the time that servers allow.
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

/// Results by request. If it is full, the least recently used ones are removed. Threads: any.
class client_cache::store {
 public:
  explicit store(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Identifies a request.
  struct request_key {
    std::string server;    ///< The server and its revision.
    std::string identity;  ///< The user. Public results ignore it.
    std::string method;
    std::string params;  ///< JSON.
    std::string uri;     ///< The resource that the request is about. Empty: a list.
  };
  using shared_text = std::shared_ptr<const std::string>;

  /// Returns the result as JSON, and its remaining time to live. nullopt: missing or expired.
  [[nodiscard]] std::optional<std::pair<shared_text, std::chrono::milliseconds>> find(const request_key& key);
  /// Returns a number that changes with each invalidation; get it before the request is sent, for `insert`.
  [[nodiscard]] std::uint64_t generation() const;
  /// Caches a result for its TTL. Does nothing if it is larger than a quarter of the cache, or if anything was invalidated
  /// since `generation` returned `expected_generation`.
  void insert(const request_key& key, std::string result, const wire::asking::freshness& freshness,
              std::uint64_t expected_generation);
  /// Removes the results for the resource `uri`, everything below it, and the folders that contain it, in any spelling. Empty
  /// `uri`: for all resources.
  void invalidate_resource(const std::string& server, std::string_view uri);
  /// Removes the results of lists whose method begins with one of `prefixes`.
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
