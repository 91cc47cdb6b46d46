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

/// A part of a content: lines, counted from 1, or bytes, counted from 0. Includes `first` and `last`; without `last`, extends
/// to the end.
struct content_range {
  bool is_lines = false;  ///< False: bytes.
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
};
/// Parses `lines=10-40`, `lines=10-` (to the end) and `lines=10` (one line), and the same with `bytes`. Errors:
/// invalid_argument with the expected form.
[[nodiscard]] result<content_range> parse_range(const std::string& text);

/// The extracted bytes, and their position in the content.
struct extracted_bytes {
  std::string bytes;
  std::uint64_t begin = 0;  ///< Offset of `bytes` in the content.
  std::uint64_t end = 0;    ///< End of the requested part (exclusive). Greater than the end of `bytes` if they were cut.
  std::uint64_t total = 0;  ///< Size of the content.
};

/// A range of bytes: from `begin` to `end` (exclusive).
struct byte_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
/// Extracts a part of a content, up to `max_bytes` bytes; blocks. `range`: the part; nullopt: all. `continuation`: the rest of
/// a part that a previous call has cut, instead of `range`. `executor`: reads streams. Precondition: `content` is not in
/// encoded form (see `catalog::read_options::as_bytes`).
///
/// A stream is read to its end and compared with the digest of the first pass, so the result never mixes two versions. In text,
/// no code point is cut, and cut bytes end after a line if possible. Errors: invalid_argument for a part that begins behind the
/// end; content_changed; those of the reader; cancelled, timed_out.
[[nodiscard]] result<extracted_bytes> extract(const request_context& context, const tool_services& services,
                                              const bytes::prepared_content& content,
                                              const std::shared_ptr<executor::executor>& executor,
                                              const std::optional<content_range>& range,
                                              const std::optional<byte_range>& continuation, std::size_t max_bytes);

}  // namespace hondana::tools
