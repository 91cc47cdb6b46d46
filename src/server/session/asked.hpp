/// Requests of ours that a legacy peer has not answered yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <hondana/value.hpp>

#include "protocol/rpc/envelope.hpp"

namespace hondana::session {

/// What a peer answered: a result, or the text of its error.
struct peer_answer {
  std::optional<value> result;
  std::string error;
};

/// One peer's table. Threads: any; takers are called without the table's lock.
class asked {
 public:
  using taker = std::function<void(peer_answer)>;
  asked();

  /// Registers a request; the id is unique and not to be guessed. Nothing when too many wait already.
  [[nodiscard]] std::optional<std::string> open(taker take);
  /// Hands an answer to whoever waits for it; false when nobody does.
  bool answer(const rpc::request_id& id, peer_answer what);
  /// Forgets a request; what comes for it later is nobody's.
  void drop(const std::string& id);
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::string prefix_;
  std::uint64_t next_ = 1;
  std::map<std::string, taker> waiting_;
};

/// Text that nobody guesses: 128 random bits in hexadecimal digits.
[[nodiscard]] std::string random_name();

}  // namespace hondana::session
