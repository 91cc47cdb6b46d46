/// What messages of one place in a program have in common.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::logs {

inline constexpr std::size_t longest_template = 256;

/// The first line of a record with what differs from one record to the next replaced: `<time>`, `<num>` (what follows a number
/// without a blank stays: `<num>ms`), `<hex>`, `<uuid>`, `<ip>`, `<url>`, `<path>`, `<email>`, `<id>`, `<str>` for what stands
/// in quotes, `<masked>`. A time stamp in front is left out. Of records that are JSON or logfmt the message alone is taken, by
/// the members `msg`, `message`, `event`, `error`; of requests in access logs method and status stay. Looks at the first KiB.
/// Linear time; `text` is well-formed UTF-8, and so is the answer, of `longest_template` bytes at most.
[[nodiscard]] std::string template_of(std::string_view text);

}  // namespace hondana::logs
