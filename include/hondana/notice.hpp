/// Notifications that an external service sends to a source over HTTP (webhooks).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::inline v0 {

/// One HTTP request to `/notify/NAME`. Its body, if any, is not read.
struct notice {
  /// Header fields as received, with names in lower case; at most 100.
  std::vector<std::pair<std::string, std::string>> fields{};

  /// The first field with this name, which must be lower-case. Empty if there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept {
    for (const auto& [known, value] : fields) {
      if (known == name) return value;
    }
    return {};
  }
};

/// An additional base class of a provider that receives notices. The sender is not authenticated: any program that knows the
/// address can send one.
class takes_notices {
 public:
  takes_notices() = default;
  takes_notices(const takes_notices&) = delete;
  takes_notices& operator=(const takes_notices&) = delete;
  virtual ~takes_notices() = default;

  /// Whether the provider wants notices. If not, the address does not exist. Threads: any. Must not block.
  [[nodiscard]] virtual bool expects_notices() const noexcept = 0;
  /// Handles a notice if it proves its origin by a secret. False: it is answered as if the address did not exist. Threads: any,
  /// including those that serve other clients. Must not block: start the work and return.
  [[nodiscard]] virtual bool take_notice(const notice& what) = 0;
};

}  // namespace hondana::inline v0
