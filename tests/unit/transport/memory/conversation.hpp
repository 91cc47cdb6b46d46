/// A whole conversation with a server in memory, answer by answer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"

namespace hondana_test {

struct conversation {
  explicit conversation(hondana::server& with) : peer(std::make_unique<hondana::memory_peer>(with)) {}

  void open(std::string_view capabilities = "{}", std::string_view revision = "2025-03-26") const {
    send(R"({"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":")" + std::string(revision) +
         R"(","capabilities":)" + std::string(capabilities) + R"(,"clientInfo":{"name":"t","version":"1"}}})");
    EXPECT_NE(next().find("result"), nullptr);
    send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  void send(std::string_view message) const { peer->send(message); }
  void ask(int id, std::string_view method, std::string_view params = "{}") const {
    send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + "}");
  }
  /// The next message; null when none comes in time.
  [[nodiscard]] hondana::value next() const {
    const auto text = peer->receive(hondana::monotonic_clock::now() + event_deadline);
    return text ? hondana::value::parse(*text).value_or(hondana::value()) : hondana::value();
  }

  std::unique_ptr<hondana::memory_peer> peer;
};

}  // namespace hondana_test
