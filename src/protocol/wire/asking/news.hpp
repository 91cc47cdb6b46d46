/// What a server says by itself.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <hondana/client.hpp>

#include "protocol/rpc/envelope.hpp"

namespace hondana::wire::asking {

/// A stream of changes stands; the server tells these.
struct stream_begun {
  watch_request honoured{};
};
/// The server has ended a stream of changes.
struct stream_ended {};
struct log_message {
  log_level level = log_level::info;
  std::string logger{};
  value data{};
};
struct call_progress {
  std::uint64_t call = 0;
  progress now{};
};

/// `std::monostate`: nothing that this client knows, or nothing that can be read.
struct news {
  std::uint64_t stream = 0;  ///< The request whose stream it belongs to; 0: it does not say.
  std::variant<std::monostate, change, stream_begun, stream_ended, log_message, call_progress> what{};
};

[[nodiscard]] news news_of(const rpc::notification& from);

}  // namespace hondana::wire::asking
