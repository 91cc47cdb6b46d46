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

/// The subscriptions that clients of this server need. The owner synchronizes access.
struct desired_subscriptions {
  std::set<std::string> uris;     ///< Local URIs.
  bool wants_lists = false;       ///< Also subscribe to changes of lists.
  bool retries_rejected = false;  ///< Retry subscriptions that were rejected before.
  std::uint64_t generation = 0;   ///< The owner increases it when another member requires an update.
};

/// Subscribes to many URIs with few watches of a client. URIs that are added together share a watch, and many small watches are
/// combined. Threads: one, which blocks during requests to the mounted server.
class subscription_manager {
 public:
  /// All must be set. `on_event` is called on a thread of the client, the others on the calling thread.
  struct callbacks {
    std::function<std::string(const std::string& uri)> to_remote_uri;  ///< Maps a local URI to the server's spelling.
    watch_handler on_event;                                            ///< Receives the server's changes.
    std::function<void(const std::string& uri)> on_watched;            ///< Called when a local URI begins to be watched.
    std::function<void(std::string_view)> log;
  };

  explicit subscription_manager(callbacks callback_set) : callbacks_(std::move(callback_set)) {}

  /// Adds and ends watches as `desired` says. Logs a rejected subscription once, and does not retry it unless
  /// `retries_rejected`. Errors: a temporary problem; the caller should retry later.
  result<void> update(client& server, const desired_subscriptions& desired, const call_options& options);
  /// Ends all watches. `on_event` is not called any more after this returns.
  void clear() { groups_.clear(); }
  /// Whether a watch includes changes of lists.
  [[nodiscard]] bool watches_lists() const;

 private:
  struct watch_group {
    std::set<std::string> uris;  // local
    bool has_lists = false;
    client::watch_handle handle;
    std::map<std::string, std::string> remote_uris;  // by local URI
  };
  /// Starts a watch. The server may accept only some of `uris`.
  [[nodiscard]] result<watch_group> create_group(client& server, std::set<std::string> uris, bool with_lists,
                                                 const call_options& options) const;
  /// Returns the desired URIs that are neither watched nor rejected.
  [[nodiscard]] std::set<std::string> missing_uris(const desired_subscriptions& desired) const;
  result<void> add(client& server, const std::set<std::string>& uris, bool with_lists, const call_options& options);
  /// Finds the accepted URIs one by one, and then watches them together.
  result<void> add_individually(client& server, const std::set<std::string>& uris, const call_options& options);
  /// Stores a group, and notes those of the `requested` URIs that it does not watch as rejected.
  void store_group(watch_group created, const std::set<std::string>& requested);
  /// Removes what the server does not accept (any more) from the members of `group`.
  static void remove_rejected(watch_group& group);
  void note_rejection(const std::string& uri, const std::string& reason);

  const callbacks callbacks_;
  std::vector<watch_group> groups_;
  std::set<std::string> rejected_;
  bool lists_rejected_ = false;
  bool has_logged_unsupported_ = false;
};

}  // namespace hondana::mcp
