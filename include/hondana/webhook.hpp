/// Notifications that an external service sends to a source over HTTP (webhooks).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::inline v0 {

/// One HTTP request to `/notify/NAME`. Its body, if any, is not read.
struct webhook_request {
  /// Header fields as received, with names in lower case; at most 100.
  std::vector<std::pair<std::string, std::string>> headers{};

  /// The value of the first header field with this name, which must be lower-case. Empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return {};
  }
};

/// An additional base class of a provider that receives webhook requests. The sender is not authenticated: any program that
/// knows the address can send one.
class webhook_receiver {
 public:
  webhook_receiver() = default;
  webhook_receiver(const webhook_receiver&) = delete;
  webhook_receiver& operator=(const webhook_receiver&) = delete;
  virtual ~webhook_receiver() = default;

  /// Whether the provider accepts webhook requests. If not, the address does not exist. Threads: any. Must not block.
  [[nodiscard]] virtual bool accepts_webhooks() const noexcept = 0;
  /// Handles a request if it proves its origin by a secret. False: it is answered as if the address did not exist. Threads:
  /// any, including those that serve other clients. Must not block: start the work and return.
  [[nodiscard]] virtual bool handle_webhook(const webhook_request& request) = 0;
};

}  // namespace hondana::inline v0
