/// Cuts the bytes of an HTTP/1 connection into requests.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// One request at a time, fed in pieces of any size. Sans-IO. Threads: one at a time.
///
/// Refused besides plain nonsense: Content-Length together with Transfer-Encoding, and codings other than `chunked`, since
/// two readers that disagree about a request's end can be made to disagree about its meaning.
///
/// Clients repeat their heads on a connection: one that is the same as the one before, but for the digits of its
/// Content-Length, is known again without being read.
class request_parser {
 public:
  struct caps {
    std::size_t header_bytes;
    std::size_t body_bytes;
  };
  enum class progress { needs_more, head, complete, failed };
  enum class defect { none, malformed, header_too_large, body_too_large };
  struct step {
    std::size_t taken = 0;  ///< Bytes used up; offer the others again, with more behind them.
    progress now = progress::needs_more;
  };

  explicit request_parser(caps limits);
  ~request_parser();
  request_parser(const request_parser&) = delete;
  request_parser& operator=(const request_parser&) = delete;

  /// Takes what it can use. Says `head` once the head is complete, before looking at the body, and then `complete` at the
  /// request's end. A body over the cap fails with `body_too_large` after `head`. After `failed` or `complete`: `reset`.
  [[nodiscard]] step put(std::string_view bytes);
  /// Starts on the next request; memory is kept up to a bound.
  void reset();

  [[nodiscard]] const request_head& head() const noexcept;
  /// Whether this head is the one before it, so that whatever follows from a head (but its length) follows again.
  [[nodiscard]] bool is_repeated() const noexcept;
  /// After `complete` it may be a view of the bytes that were put last.
  [[nodiscard]] std::string_view body() const noexcept;
  /// Gives the body's memory back before `reset`, but for a bound.
  void forget_body();
  /// Gives all memory back, the head too; nothing but `reset` may follow.
  void rest() noexcept;
  /// What `failed` means.
  [[nodiscard]] defect what_failed() const noexcept;
  /// For people, safe to send.
  [[nodiscard]] std::string_view why_failed() const noexcept;

 private:
  struct state;
  const caps caps_;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::transport::http_server
