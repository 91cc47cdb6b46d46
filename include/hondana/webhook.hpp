/// Notifications that an external service sends to a provider over HTTP (webhooks).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::inline v0 {

/// One HTTP request to `/notify/NAME`, where NAME is `provider::name`. Its body, if any, is not read.
struct webhook_request {
  /// Header fields as received, with names in lower case; at most 100.
  std::vector<std::pair<std::string, std::string>> headers{};

  /// Returns the value of the first header field with this name. `name`: in lower case. Empty: none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

/// An additional base class for a class that derives from `provider` and receives webhook requests. The server does not
/// authenticate the sender: any program that reaches the address can send one.
class webhook_receiver {
 public:
  webhook_receiver() = default;
  webhook_receiver(const webhook_receiver&) = delete;
  webhook_receiver& operator=(const webhook_receiver&) = delete;
  virtual ~webhook_receiver() = default;

  /// Returns whether the provider accepts webhook requests now. If not, they are answered with 404. Threads: any. Must not
  /// block.
  [[nodiscard]] virtual bool accepts_webhooks() const noexcept = 0;
  /// Handles a request. The provider must verify the sender, for example by a secret in a header. Returns false to reject the
  /// request, which is then answered with 404. Threads: any, including those that serve clients. Must not block: start the work
  /// and return.
  [[nodiscard]] virtual bool handle_webhook(const webhook_request& request) = 0;
};

}  // namespace hondana::inline v0
