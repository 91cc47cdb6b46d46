/// Cuts a part out of a content, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/executor/thread_pool.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::tools {

/// A range of lines, counted from 1, or of bytes, counted from 0. Both ends are included; without `last` it extends to the end.
struct content_range {
  bool is_lines = false;
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
};
/// Parses `lines=10-40`, `lines=10-`, `lines=10`, and the same with `bytes`. Errors: invalid_argument with the expected form.
[[nodiscard]] result<content_range> parse_range(const std::string& text);

/// The extracted bytes, and their position in the content.
struct extracted_bytes {
  std::string bytes;
  std::uint64_t begin = 0;  ///< Offset of `bytes` in the content.
  std::uint64_t end = 0;    ///< End of the requested part (exclusive), which may be behind the end of `bytes`.
  std::uint64_t total = 0;  ///< Size of the content.
};

/// A range of bytes: from `begin` to `end` (exclusive).
struct byte_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
/// Extracts up to `max_bytes` bytes of the part `range`, or of `continuation`, where a previous page ended.
///
/// A stream is read to its end and compared with the digest of the first pass, so the result never mixes two versions. In text,
/// no code point is cut, and a full page ends after a line if possible. Errors: invalid_argument for a part that begins behind
/// the end; content_changed; those of the reader; cancelled, timed_out.
[[nodiscard]] result<extracted_bytes> extract(const request_context& context, const tool_services& services,
                                              const bytes::prepared_content& content,
                                              const std::shared_ptr<executor::executor>& executor,
                                              const std::optional<content_range>& range,
                                              const std::optional<byte_range>& continuation, std::size_t max_bytes);

}  // namespace hondana::tools
