/// The clients: very many streams to one port, and what reaches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feed_bench {

/// How a stream is opened: every text is sent when the answer to the one before it has come, up to `until`.
struct opening {
  struct step {
    std::string text;   ///< `{session}` stands for the id the first answer gave.
    std::string until;  ///< What the answer ends with, at the latest.
  };
  std::vector<step> steps;
};

/// When an event reached the streams, as clock counts of nanoseconds, and how many bytes all had of it.
struct arrival {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::uint64_t bytes = 0;
};

/// Connections to one port of 127.0.0.1, from several addresses since one has ports for 28 000 only. Threads: one.
class crowd {
 public:
  explicit crowd(std::uint16_t port);
  ~crowd();
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  /// Connects `count` more, each with its opening, `at_once` at a time.
  void join(std::size_t count, const opening& how);
  /// Reads until every stream has had an event that contains `mark`. `texts`: also keeps what each had.
  [[nodiscard]] arrival await_event(std::string_view mark, std::vector<std::string>* texts = nullptr);

 private:
  [[nodiscard]] int connect_one();
  std::uint16_t port_;
  int poll_;
  std::vector<int> sockets_;
};

}  // namespace feed_bench
