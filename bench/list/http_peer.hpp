/// A peer that asks for pages over HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace list_bench {

/// One connection that stays open. Threads: one.
class http_peer {
 public:
  /// Connects to a port of 127.0.0.1; throws when it cannot.
  explicit http_peer(std::uint16_t port);
  ~http_peer();
  http_peer(const http_peer&) = delete;
  http_peer& operator=(const http_peer&) = delete;

  /// Asks for the page at `cursor` (empty: the first) and reads all of it; throws for a refusal and for an empty page.
  void list(const std::string& cursor);

 private:
  int socket_;
  std::vector<char> buffer_ = std::vector<char>(1u << 18);
};

}  // namespace list_bench
