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

/// Which of them are open, and what their notices show that they are ours. Notices say that there is something new, and nothing
/// else. Threads: any. Spec: Google, "Notifications for resource changes".
class channels {
 public:
  using clock = std::chrono::system_clock;

  /// What may be asked for a home: a new id and a new secret. Errors: internal, where the system has no random bytes.
  [[nodiscard]] static result<drive::watch_request> request_for(const std::string& home, const std::string& page_token,
                                                                const std::string& address);

  /// Whether a home needs a channel: it has none, or one that ends within `margin`. What was refused is not needed before then.
  [[nodiscard]] bool needs_one(const std::string& home, clock::time_point now) const;
  /// Notices that come before the answer to `asked` does are good, too: said before it is asked.
  void expect(const std::string& home, const drive::watch_request& asked, clock::time_point now);
  /// The answer. The one that it replaces, to be stopped; nothing: there was none.
  [[nodiscard]] std::optional<drive::channel> opened(const std::string& home, const drive::channel& answer,
                                                     clock::time_point now);
  /// None will be, for a while.
  void refused(const std::string& home, clock::time_point now);
  /// No notice of these is good any more.
  void forget(const std::string& home);
  /// The same of all; those that are open, to be stopped.
  [[nodiscard]] std::vector<drive::channel> close_all();

  enum class verdict { foreign, greeting, news };
  /// Whether a notice is one of ours; secrets are compared in constant time.
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
