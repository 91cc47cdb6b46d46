/// Limits for slow answers.
#pragma once

#include <chrono>
#include <cstddef>

namespace hondana::transport::http_client {

/// Limits for slow answers, in addition to the timeout of a request. Time in the receiver of the body does not count.
struct progress_limits {
  std::chrono::milliseconds header_timeout{0};  ///< Until the header is complete; 0: only the timeout applies.
  std::chrono::milliseconds interval{0};        ///< In each interval of this length of the body,
  std::size_t min_bytes = 0;                    ///< so many bytes must arrive, before decompression; 0: no limit.
  std::chrono::milliseconds max_silence{0};     ///< Between two pieces of the answer; 0: no limit.
};

}  // namespace hondana::transport::http_client
