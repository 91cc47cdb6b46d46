/// Subscriptions at the mounted server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/error.hpp>

namespace hondana::mcp {

/// The subscriptions that this server needs. The owner guards it.
struct desired_subscriptions {
  std::set<std::string> uris;     ///< Our URIs.
  bool wants_lists = false;       ///< Also changes of lists.
  bool retries_rejected = false;  ///< Retry subscriptions that were rejected before.
  std::uint64_t generation = 0;   ///< Increases with each change of these members.
};

/// Uses few watches on a client for many URIs. URIs attached together share one, and many small watches are combined. Threads:
/// one; it blocks during requests to the other server.
class subscription_manager {
 public:
  struct callbacks {
    std::function<std::string(const std::string& uri)> to_remote_uri;  ///< Maps one of our URIs to the server's spelling.
    watch_handler on_event;                                            ///< Receives the server's changes.
    std::function<void(const std::string& uri)> on_watched;            ///< Called when a URI begins to be watched.
    std::function<void(std::string_view)> log;
  };

  explicit subscription_manager(callbacks callback_set) : callbacks_(std::move(callback_set)) {}

  /// Adapts the watches to `desired`. Errors: a temporary problem; retry later.
  result<void> update(client& server, const desired_subscriptions& desired, const call_options& options);
  /// Ends all watches; no notifications arrive after that.
  void clear() { groups_.clear(); }
  /// Whether changes of lists are notified.
  [[nodiscard]] bool watches_lists() const;

 private:
  struct watch_group {
    std::set<std::string> uris;  // ours
    bool has_lists = false;
    client::watch_handle handle;
    std::map<std::string, std::string> remote_uris;  // by our URIs
  };
  [[nodiscard]] result<watch_group> create_group(client& server, std::set<std::string> uris, bool with_lists,
                                                 const call_options& options) const;
  [[nodiscard]] std::set<std::string> missing_uris(const desired_subscriptions& desired) const;
  result<void> add(client& server, const std::set<std::string>& uris, bool with_lists, const call_options& options);
  result<void> add_individually(client& server, const std::set<std::string>& uris, const call_options& options);
  void store_group(watch_group created, const std::set<std::string>& requested);
  static void remove_rejected(watch_group& group);
  void note_rejection(const std::string& uri, const std::string& reason);

  const callbacks callbacks_;
  std::vector<watch_group> groups_;
  std::set<std::string> rejected_;
  bool lists_rejected_ = false;
  bool has_logged_unsupported_ = false;
};

}  // namespace hondana::mcp
