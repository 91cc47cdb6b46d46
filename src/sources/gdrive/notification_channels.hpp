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

/// The open channels, and the secrets that authenticate their notifications. A notification says only that something changed.
/// Threads: any. Spec: Google, "Notifications for resource changes".
class channel_registry {
 public:
  using clock = std::chrono::system_clock;

  /// Makes the request for a channel of a home, with a new id and secret. Errors: internal, if the system has no random bytes.
  [[nodiscard]] static result<drive::watch_request> make_request(const std::string& home, const std::string& page_token,
                                                                 const std::string& address);

  /// Whether a home needs a channel: it has none, or its channel expires within an hour. False for a while after a failed
  /// request.
  [[nodiscard]] bool needs_channel(const std::string& home, clock::time_point now) const;
  /// Registers a channel before it is requested, since notifications may arrive before the answer.
  void add_pending(const std::string& home, const drive::watch_request& request, clock::time_point now);
  /// Records Drive's answer. Returns the channel that it replaces, which the caller stops; empty: there was none.
  [[nodiscard]] std::optional<drive::channel> activate(const std::string& home, const drive::channel& granted,
                                                       clock::time_point now);
  /// Records that Drive denied a channel. No request is made for 30 minutes.
  void record_rejection(const std::string& home, clock::time_point now);
  /// Invalidates the channels of a home.
  void remove(const std::string& home);
  /// Invalidates all channels. Returns the open ones, which the caller stops.
  [[nodiscard]] std::vector<drive::channel> close_all();

  enum class notification_kind { unauthenticated, sync, change };
  /// Classifies a notification: unauthenticated, Drive's first "sync" message, or a change. Compares secrets in constant time.
  [[nodiscard]] notification_kind classify(const webhook_request& notification) const;
  [[nodiscard]] std::size_t open_count() const;

 private:
  struct channel_entry {
    std::string id{};
    std::string secret{};
    std::string resource_id{};
    std::optional<clock::time_point> expires_at{};
  };
  struct home_channels {
    std::optional<channel_entry> active{};
    std::optional<channel_entry> pending{};
    clock::time_point retry_at{};
  };

  mutable std::mutex mutex_;
  std::map<std::string, home_channels> homes_;
};

}  // namespace hondana::gdrive
