/// Caches answers for as long as their servers allow.
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

/// Messages of results by what was asked; the least recently used goes first. Threads: any.
class client_cache::store {
 public:
  explicit store(std::size_t bytes) : most_(bytes) {}

  /// What is asked: of which server, as whom, what.
  struct question {
    std::string server;
    std::string identity;
    std::string method;
    std::string params;
    std::string uri;  ///< Of what it is about; empty for lists.
  };
  using text = std::shared_ptr<const std::string>;

  /// The result as JSON when it is still fresh.
  [[nodiscard]] std::optional<std::pair<text, std::chrono::milliseconds>> find(const question& what);
  /// A mark to give to `keep`, taken before the request is sent: what is invalidated meanwhile is not kept.
  [[nodiscard]] std::uint64_t mark() const;
  void keep(const question& what, std::string result, const wire::asking::freshness& how, std::uint64_t since);
  /// What `uri` is or what is part of it has changed, however it is spelled; an empty one: everything has.
  void forget_resource(const std::string& server, std::string_view uri);
  /// Lists have changed: those of every method that begins with one of `prefixes`.
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
