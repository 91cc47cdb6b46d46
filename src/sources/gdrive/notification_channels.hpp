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

#include <hondana/notice.hpp>

#include "sources/gdrive/drive/client.hpp"

namespace hondana::gdrive {

/// The open channels, and the secrets that authenticate their notifications. A notification says only that something changed.
/// Threads: any. Spec: Google, "Notifications for resource changes".
class channels {
 public:
  using clock = std::chrono::system_clock;

  /// Makes the request for a channel of a home, with a new id and secret. Errors: internal, if the system has no random bytes.
  [[nodiscard]] static result<drive::watch_request> request_for(const std::string& home, const std::string& page_token,
                                                                const std::string& address);

  /// Whether a home needs a channel: it has none, or its channel expires within an hour. False for a while after a failed
  /// request.
  [[nodiscard]] bool needs_one(const std::string& home, clock::time_point now) const;
  /// Registers a channel before it is requested, since notifications may arrive before the answer.
  void expect(const std::string& home, const drive::watch_request& asked, clock::time_point now);
  /// Records Drive's answer. Returns the channel that it replaces, which the caller stops; empty: there was none.
  [[nodiscard]] std::optional<drive::channel> opened(const std::string& home, const drive::channel& answer,
                                                     clock::time_point now);
  /// Records that Drive denied a channel. No request is made for 30 minutes.
  void refused(const std::string& home, clock::time_point now);
  /// Invalidates the channels of a home.
  void forget(const std::string& home);
  /// Invalidates all channels. Returns the open ones, which the caller stops.
  [[nodiscard]] std::vector<drive::channel> close_all();

  enum class verdict { foreign, greeting, news };
  /// Classifies a notification: unauthenticated, Drive's first "sync" message, or a change. Compares secrets in constant time.
  [[nodiscard]] verdict judge(const notice& what) const;
  [[nodiscard]] std::size_t open() const;

 private:
  struct one {
    std::string id{};
    std::string secret{};
    std::string resource_id{};
    std::optional<clock::time_point> ends{};
  };
  struct home_channels {
    std::optional<one> now{};
    std::optional<one> coming{};
    clock::time_point not_before{};
  };

  mutable std::mutex mutex_;
  std::map<std::string, home_channels> all_;
};

}  // namespace hondana::gdrive
