/// Cuts a part out of a content that has been read, in bounded memory.
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

/// Lines counted from 1 or bytes from 0, both ends included; without `last` to the end.
struct part {
  bool is_lines = false;
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;
};
/// Reads `lines=10-40`, `lines=10-`, `lines=10` and the same of `bytes`. Errors: invalid_argument, saying what is expected.
[[nodiscard]] result<part> parse_part(const std::string& text);

/// What was wanted of a content, and what there is.
struct pulled {
  std::string bytes;
  std::uint64_t begin = 0;  ///< Where `bytes` begin in the content;
  std::uint64_t end = 0;    ///< where what was asked for ends (not included), which may be further than `bytes` go,
  std::uint64_t total = 0;  ///< and how many bytes the content has.
};

/// Takes up to `most` bytes of the part, or from `begin` up to `end` where that is given, which a page before has told.
///
/// A stream is gone through to its end and compared with the digest of the first pass, so that what is taken is never a mix.
/// Of text no code point is cut, and where a page is full it ends after a line if it can.
/// Errors: invalid_argument for a part that begins beyond the end; content_changed; the reader's; cancelled, timed_out.
struct extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
[[nodiscard]] result<pulled> pull(const call& by, const surroundings& in, const bytes::prepared& from,
                                  const std::shared_ptr<executor::lane>& home, const std::optional<part>& wanted,
                                  const std::optional<extent>& goes_on, std::size_t most);

}  // namespace hondana::tools
