/// Bodies that come compressed, as they were before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::endpoint {

/// Unpacks gzip piece by piece, several members one after the other too. libcurl would not say that one is cut off. Threads:
/// one at a time.
class unpacker {
 public:
  /// Takes what was unpacked, at most 64 KiB at once. False: no more is wanted.
  using taker = std::function<bool(std::string_view)>;

  unpacker();
  ~unpacker();
  unpacker(const unpacker&) = delete;
  unpacker& operator=(const unpacker&) = delete;

  /// False when the taker wants no more. Errors: broken_protocol for what is no gzip; source_unavailable without memory or
  /// zlib. The texts are without a subject: "it is no gzip".
  [[nodiscard]] result<bool> take(std::string_view packed, const taker& to);
  /// Everything that was begun has ended; also when there was nothing at all.
  [[nodiscard]] bool is_whole() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::endpoint
