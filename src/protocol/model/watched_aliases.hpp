/// Resources that are watched by another spelling of their URI than lists have.
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

/// For a source that reads a resource by several spellings of its URI, and tells of changes by one. As many are kept as are
/// watched. Threads: any.
class watched_spellings : public std::enable_shared_from_this<watched_spellings> {
 public:
  /// Equal for spellings of one resource.
  using key_of = std::function<std::string(std::string_view uri)>;
  /// Whether a URI is what something is listed by, and so no other spelling of anything else. Threads: that which tells.
  using is_listed_as = std::function<bool(std::string_view uri)>;
  /// `is_listed` may be empty, where spellings that are listed never have one key.
  explicit watched_spellings(key_of key, is_listed_as is_listed = {})
      : key_(std::move(key)), is_listed_(std::move(is_listed)) {}

  /// As `provider::attach` and `detach` hear of them.
  void add(const std::string& uri);
  void remove(const std::string& uri);
  /// Tells `to` of everything, and of other spellings of it that are watched as of other names. Null where `to` is.
  [[nodiscard]] std::shared_ptr<change_listener> telling(std::shared_ptr<change_listener> to);
  /// Those of the same resource that are watched.
  [[nodiscard]] std::vector<std::string> others(std::string_view uri) const;

 private:
  const key_of key_;
  const is_listed_as is_listed_;
  mutable std::mutex mutex_;
  std::unordered_multimap<std::string, std::string> by_key_;
};

}  // namespace hondana::model
