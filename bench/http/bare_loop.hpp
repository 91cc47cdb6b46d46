/// The limit of answering over HTTP: an epoll loop that writes the same buffer for every request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace http_bench {

/// Listens on a loopback port and answers every `request_bytes` bytes of a connection with `answer`, head and body, without
/// looking at them. Never returns; throws what the system refuses.
void serve_bare(std::uint16_t port, std::size_t request_bytes, const std::string& answer);

/// An answer with a body of `size` bytes.
[[nodiscard]] std::string fixed_answer(std::size_t size);

}  // namespace http_bench
