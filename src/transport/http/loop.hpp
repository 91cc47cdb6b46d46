/// One I/O thread's belongings. Included only where Asio is.
#pragma once

#include <array>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <unordered_set>
#include <utility>

#include "transport/http/body_budget.hpp"

namespace hondana::transport::http {

class connection;

using executor = boost::asio::io_context::executor_type;
using socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, executor>;
using timer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, executor>;

/// Shared with the outlets of its connections, which may answer after its thread has ended; such answers are dropped.
struct loop {
  explicit loop(std::shared_ptr<body_budget> shared) : bodies(std::move(shared)) {}

  const std::shared_ptr<body_budget> bodies;  // all loops' and thread-safe
  boost::asio::io_context io{1};
  // Only the loop's own thread touches what follows.
  std::array<char, 64u << 10> scratch;
  std::unordered_set<std::shared_ptr<connection>> connections;
};

}  // namespace hondana::transport::http
