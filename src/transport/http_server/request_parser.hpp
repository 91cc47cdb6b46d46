/// Splits the bytes of an HTTP/1 connection into requests.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// Parses one request at a time, from pieces of any size. Performs no I/O. Threads: one at a time.
///
/// Besides malformed requests it rejects Content-Length together with Transfer-Encoding, codings other than `chunked`, and
/// folded header lines. Otherwise two parsers could disagree about the end of a request (request smuggling).
///
/// Clients repeat their headers on a connection. A header that equals the previous one, apart from the digits of its
/// Content-Length, is recognized without parsing.
class request_parser {
 public:
  struct caps {
    std::size_t max_header_bytes;
    std::size_t max_body_bytes;
  };
  enum class progress {
    needs_more,
    head,      ///< The header is complete; call `feed` again for the body.
    complete,  ///< The request is complete.
    failed     ///< See `current_defect`.
  };
  enum class defect { none, malformed, header_too_large, body_too_large };
  struct step {
    std::size_t consumed = 0;  ///< Number of bytes used. Pass the others again, followed by more.
    progress status = progress::needs_more;
  };

  explicit request_parser(caps limits);
  ~request_parser();
  request_parser(const request_parser&) = delete;
  request_parser& operator=(const request_parser&) = delete;

  /// Parses a piece of input. Returns `head` once for each request, even without body, and then `complete`. A body over the
  /// limit fails with `body_too_large`, usually after `head`. After `failed` or `complete`, call `reset`.
  [[nodiscard]] step feed(std::string_view bytes);
  /// Prepares for the next request; keeps memory up to a limit.
  void reset();

  /// The header, from `head` to `reset`.
  [[nodiscard]] const request_head& head() const noexcept;
  /// Whether this header equals the previous one, apart from the digits of Content-Length, so that decisions can be reused.
  [[nodiscard]] bool is_repeated() const noexcept;
  /// The part of the body that has arrived. After `complete` it may be a view into the bytes passed last.
  [[nodiscard]] std::string_view body() const noexcept;
  /// Frees the memory of the body before `reset`, except a small part.
  void release_body();
  /// Frees all memory, including the header; only `reset` may follow.
  void release_memory() noexcept;
  /// The kind of error after `failed`.
  [[nodiscard]] defect current_defect() const noexcept;
  /// The reason after `failed`, as a text for the client without secrets.
  [[nodiscard]] std::string_view defect_reason() const noexcept;

 private:
  struct state;
  const caps caps_;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::transport::http_server
