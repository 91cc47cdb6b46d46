/// How much and how long one HTTP peer may ask of the server; tests use smaller ones.
#pragma once

#include <chrono>
#include <cstddef>

namespace hondana::transport::http {

struct limits {
  std::size_t header_bytes = 16u << 10;  ///< Request line and fields; also the trailer of a chunked body.
  std::size_t body_bytes = 16u << 20;    ///< One message.
  /// Unfinished messages of all peers together, as received (a growing buffer may be twice as large); beyond this they are
  /// answered 503.
  std::size_t unfinished_bytes = 256u << 20;
  /// Of each unfinished message, not counted: small messages still pass when large ones have used everything up.
  std::size_t uncounted_bytes = 64u << 10;
  std::size_t pipelined_bytes = 64u << 10;  ///< Input kept while an earlier request is worked on.
  std::size_t linger_bytes = 32u << 20;     ///< Input thrown away after the last answer, so that the peer can read it.
  std::size_t connections = 1024;           ///< Beyond this a connection is answered 503 and closed.
  std::size_t turned_away = 64;             ///< Connections being told 503 at once; beyond this they are closed without a word.
  unsigned loops = 0;                       ///< Threads; 0: as many as there are processors, at most 4.

  std::chrono::milliseconds header_time{10'000};  ///< From a header's first byte (or the accept) to its end.
  std::chrono::milliseconds body_idle{30'000};    ///< Between two pieces of a body.
  std::chrono::milliseconds body_time{300'000};   ///< For the whole body.
  std::chrono::milliseconds keep_alive{60'000};   ///< Between two requests.
  std::chrono::milliseconds linger{2'000};        ///< For the peer to close after the last answer.
  std::chrono::milliseconds stall{60'000};        ///< Without the peer taking a byte of an answer.
  std::chrono::milliseconds pull_time{30'000};    ///< For one piece of a streamed answer to come from its source.
  std::chrono::milliseconds accept_pause{100};    ///< Before accepting again when the process is out of descriptors.
};

}  // namespace hondana::transport::http
