/// Subscribed URIs that are aliases: other spellings of the URI with which a source reports changes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

namespace hondana::model {

/// The subscribed URIs of a source that accepts several spellings of a URI, but reports changes with only one of them.
/// Threads: any.
class watched_aliases : public std::enable_shared_from_this<watched_aliases> {
 public:
  /// Returns the same key for all spellings of one resource's URI.
  using key_function = std::function<std::string(std::string_view uri)>;
  /// Whether lists contain a URI. It is then the URI of a resource and not an alias. Called on the notifying thread.
  using listed_predicate = std::function<bool(std::string_view uri)>;
  /// `is_listed` may be empty if no two listed URIs have the same key.
  explicit watched_aliases(key_function key, listed_predicate is_listed = {})
      : key_(std::move(key)), is_listed_(std::move(is_listed)) {}

  /// Adds a subscribed URI. To be called from `watch_source::watch`.
  void add(const std::string& uri);
  /// Removes a subscribed URI. To be called from `watch_source::unwatch`.
  void remove(const std::string& uri);
  /// Returns a listener that forwards everything to `listener`, and reports each changed URI's aliases with `alias_changed`.
  /// Returns null if `listener` is null.
  [[nodiscard]] std::shared_ptr<change_listener> wrap_listener(std::shared_ptr<change_listener> listener);
  /// The subscribed URIs with the key of `uri`, except `uri` itself and listed ones.
  [[nodiscard]] std::vector<std::string> aliases_of(std::string_view uri) const;

 private:
  const key_function key_;
  const listed_predicate is_listed_;
  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, std::string> by_key_;
};

}  // namespace hondana::model
