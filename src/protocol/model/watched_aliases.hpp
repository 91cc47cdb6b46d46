/// Subscribed URIs that are other spellings of a listed resource's URI.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::model {

/// For sources that accept several spellings of a URI, but report changes with only one of them.
/// Stores only the subscribed spellings. Threads: any.
class watched_spellings : public std::enable_shared_from_this<watched_spellings> {
 public:
  /// Returns the same key for all spellings of one resource.
  using key_of = std::function<std::string(std::string_view uri)>;
  /// Whether a URI is used in lists. It is then not an alias of another resource. Called on the notifying thread.
  using is_listed_as = std::function<bool(std::string_view uri)>;
  /// `is_listed` may be empty if no two listed URIs have the same key.
  explicit watched_spellings(key_of key, is_listed_as is_listed = {})
      : key_(std::move(key)), is_listed_(std::move(is_listed)) {}

  /// Call these from `provider::attach` and `provider::detach`.
  void add(const std::string& uri);
  void remove(const std::string& uri);
  /// Returns a listener that forwards everything to `to`, and also reports the subscribed other spellings as aliases.
  /// Null if `to` is null.
  [[nodiscard]] std::shared_ptr<change_listener> telling(std::shared_ptr<change_listener> to);
  /// The subscribed other spellings of the same resource.
  [[nodiscard]] std::vector<std::string> others(std::string_view uri) const;

 private:
  const key_of key_;
  const is_listed_as is_listed_;
  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, std::string> by_key_;
};

}  // namespace hondana::model
