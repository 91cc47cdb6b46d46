/// Messages that another service sends a source of its own accord.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::inline v0 {

/// One message: an HTTP request to `/notify/NAME`, whose content, if it has any, is not read.
struct notice {
  std::vector<std::pair<std::string, std::string>> fields{};  ///< Header fields as they came, names in lower case; at most 100.

  /// The first field of that name; empty: there is none. `name`: in lower case.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept {
    for (const auto& [known, value] : fields) {
      if (known == name) return value;
    }
    return {};
  }
};

/// What a provider is besides that takes notices. Nobody has found out who sends them: whoever knows the address can.
class takes_notices {
 public:
  takes_notices() = default;
  takes_notices(const takes_notices&) = delete;
  takes_notices& operator=(const takes_notices&) = delete;
  virtual ~takes_notices() = default;

  /// Whether it wants any; otherwise the address does not exist. Threads: any. Must not block.
  [[nodiscard]] virtual bool expects_notices() const noexcept = 0;
  /// Takes one, if it shows by a secret that it comes from whom it should. False: it is answered as if the address did not
  /// exist. Threads: any, such that serve other peers: must not block, and what it takes is done behind it.
  [[nodiscard]] virtual bool take_notice(const notice& what) = 0;
};

}  // namespace hondana::inline v0
