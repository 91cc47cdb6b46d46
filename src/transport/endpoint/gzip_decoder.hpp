/// Decompresses bodies.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::endpoint {

/// Decompresses gzip data piece by piece; it may have several members. libcurl is not used for this, because it does not report
/// truncated data. Threads: one at a time.
class gzip_decoder {
 public:
  /// Receives decompressed data, at most 64 KiB at once. Returns false to stop.
  using output_callback = std::function<bool(std::string_view)>;

  gzip_decoder();
  ~gzip_decoder();
  gzip_decoder(const gzip_decoder&) = delete;
  gzip_decoder& operator=(const gzip_decoder&) = delete;

  /// Decompresses a piece. False if `on_output` returned false. Errors: protocol_error for invalid gzip; source_unavailable
  /// without memory. After an error or false, do not call it again.
  [[nodiscard]] result<bool> decode(std::string_view compressed, const output_callback& on_output);
  /// Whether the data so far ends with a complete member, or is empty.
  [[nodiscard]] bool is_complete() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::endpoint
