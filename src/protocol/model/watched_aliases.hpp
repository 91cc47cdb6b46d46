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
class watched_aliases : public std::enable_shared_from_this<watched_aliases> {
 public:
  /// Returns the same key for all spellings of one resource.
  using key_function = std::function<std::string(std::string_view uri)>;
  /// Whether a URI is used in lists. It is then not an alias of another resource. Called on the notifying thread.
  using listed_predicate = std::function<bool(std::string_view uri)>;
  /// `is_listed` may be empty if no two listed URIs have the same key.
  explicit watched_aliases(key_function key, listed_predicate is_listed = {})
      : key_(std::move(key)), is_listed_(std::move(is_listed)) {}

  /// Call these from `provider::watch` and `provider::unwatch`.
  void add(const std::string& uri);
  void remove(const std::string& uri);
  /// Returns a listener that forwards everything to `listener`, and also reports the subscribed other spellings as aliases.
  /// Null if `listener` is null.
  [[nodiscard]] std::shared_ptr<change_listener> wrap_listener(std::shared_ptr<change_listener> listener);
  /// The subscribed other spellings of the same resource.
  [[nodiscard]] std::vector<std::string> aliases_of(std::string_view uri) const;

 private:
  const key_function key_;
  const listed_predicate is_listed_;
  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, std::string> by_key_;
};

}  // namespace hondana::model
