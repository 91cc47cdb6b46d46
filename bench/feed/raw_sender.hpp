/// What is compared with: a process that does nothing but send given bytes to its peers.
#pragma once

#include <string>
#include <vector>

namespace feed_bench {

/// Listens on a loopback port, which it writes to `out` as a line; accepts as many peers as there are texts; then, for every
/// byte that comes on `in`, sends each its text from an epoll loop. Returns when `in` ends. Throws what the system refuses.
void send_raw(int in, int out, const std::vector<std::string>& texts);

}  // namespace feed_bench
