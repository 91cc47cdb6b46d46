/// The channels by which Drive sends change notifications, and the check of notifications against them.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/webhook.hpp>

#include "sources/gdrive/drive/client.hpp"

namespace hondana::gdrive {

/// The notification channels of all homes (see `follower`), and the secrets that authenticate their notifications. Sends no
/// requests itself. A notification says only that something in the home has changed. Threads: any. Spec: Google, "Notifications
/// for resource changes".
class channel_registry {
 public:
  using clock = std::chrono::system_clock;

  /// Makes the request for a channel of a home, with a new id and secret. `address`: this server's URL for notifications.
  /// Errors: internal: the system has no random bytes.
  [[nodiscard]] static result<drive::watch_request> make_request(const std::string& home, const std::string& page_token,
                                                                 const std::string& address);

  /// Whether a home needs a channel: it has none, or its channel expires within an hour. False for 30 minutes after a rejected
  /// request, and for a minute after `activate`.
  [[nodiscard]] bool needs_channel(const std::string& home, clock::time_point now) const;
  /// Registers a channel. Call it before the request is sent, since notifications may arrive before the answer.
  void add_pending(const std::string& home, const drive::watch_request& request, clock::time_point now);
  /// Records Drive's answer to the pending request. Returns the channel that it replaces, which the caller must stop. nullopt:
  /// there was none.
  [[nodiscard]] std::optional<drive::channel> activate(const std::string& home, const drive::channel& granted,
                                                       clock::time_point now);
  /// Records that Drive rejected the pending request.
  void record_rejection(const std::string& home, clock::time_point now);
  /// Removes the channels of a home. Their notifications are then unauthenticated.
  void remove(const std::string& home);
  /// Removes all channels. Returns the open ones, which the caller must stop.
  [[nodiscard]] std::vector<drive::channel> close_all();

  enum class notification_kind {
    unauthenticated,  ///< The channel is unknown, or the secret is wrong.
    sync,             ///< Drive's first message over a new channel.
    change
  };
  /// Classifies a notification. Compares secrets in constant time.
  [[nodiscard]] notification_kind classify(const webhook_request& notification) const;
  /// Number of open channels.
  [[nodiscard]] std::size_t open_count() const;

 private:
  struct channel_entry {
    std::string id{};
    std::string secret{};
    std::string resource_id{};
    std::optional<clock::time_point> expires_at{};
  };
  struct home_channels {
    std::optional<channel_entry> active{};   ///< Granted by Drive.
    std::optional<channel_entry> pending{};  ///< Requested.
    clock::time_point retry_at{};            ///< Until then, `needs_channel` is false.
  };

  mutable std::mutex mutex_;
  std::map<std::string, home_channels> homes_;  // by home
};

}  // namespace hondana::gdrive
