/// Very many connections to the program at once, from several loopback addresses, since one has ports for 28 000 only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace load_test {

/// How much to do: a tenth in the normal run, everything when HONDANA_LOAD=full.
[[nodiscard]] bool is_full();
[[nodiscard]] inline std::size_t scaled(std::size_t full) { return is_full() ? full : full / 10; }

/// Raises this process's own descriptor limit; throws when fewer than `count` more can be opened.
void make_room_for(std::size_t count);

/// Connections to one port of 127.0.0.1, all open until the end. Threads: one.
class crowd {
 public:
  explicit crowd(std::uint16_t port) : port_(port) {}
  ~crowd();
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  /// Connects one more and sends `text`; throws when it cannot. `receive_buffer`: bytes the kernel may keep; 0: as usual.
  int join(std::string_view text, int receive_buffer = 0);
  /// Reads from every connection until it has had `end`; throws when one ends or has had nothing for `patience`.
  void await_each(std::string_view end, std::chrono::seconds patience);
  /// Waits until every connection has been closed or reset by the program; false when some are left after `patience`.
  [[nodiscard]] bool is_sent_away(std::chrono::seconds patience);
  [[nodiscard]] const std::vector<int>& sockets() const noexcept { return sockets_; }

 private:
  std::uint16_t port_;
  std::vector<int> sockets_;
};

/// The median time of a request and its answer in milliseconds: of `count`, each on a connection of its own.
[[nodiscard]] double median_of_requests(std::uint16_t port, std::string_view message, std::string_view method, int count,
                                        std::string_view name = {});

/// The port in the program's greeting. Throws when `line` has none.
[[nodiscard]] std::uint16_t port_in(const std::string& line);

}  // namespace load_test
