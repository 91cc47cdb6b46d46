/// A peer of a server in this process that is whoever a test says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "protocol/rpc/message_body.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "transport/memory/memory_channel.hpp"

namespace hondana::transport {

class asker {
 public:
  /// One that keeps a session, once it has shaken hands.
  asker(server& of, caller_info who) : session_(session::session::open(of.core())) {
    facts_.caller = std::move(who);
    inbox_->stream(session_->notification_stream());
  }
  ~asker() {
    session_->close();
    inbox_->close();
  }
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;

  void send(std::string_view message) { session_->receive(message, facts_, inbox_); }
  /// The next message; nothing when none comes in time.
  std::optional<std::string> receive() {
    const auto deadline = monotonic_clock::now() + hondana_test::event_deadline;
    const auto message = inbox_->pop(deadline);
    if (!message) return {};
    std::string text;
    for (;;) {
      const auto more = rpc::pull_until(message, text, deadline);
      if (!more) return {};
      if (!*more) return text;
    }
  }
  /// What comes until something holds `mark`, with it.
  std::vector<std::string> receive_until(std::string_view mark) {
    std::vector<std::string> all;
    while (auto one = receive()) {
      all.push_back(std::move(*one));
      if (all.back().find(mark) != std::string::npos) return all;
    }
    all.emplace_back("nothing with " + std::string(mark));
    return all;
  }
  std::string ask(std::string_view message) {
    send(message);
    return receive().value_or("nothing");
  }
  void shake_hands(const std::string& revision = "2025-11-25") {
    (void)ask(R"({"jsonrpc":"2.0","id":"hands","method":"initialize","params":{"protocolVersion":")" + revision +
              R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})");
    send(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  }
  /// From now on somebody else, or the same with another proof.
  void become(caller_info who) { facts_.caller = std::move(who); }

  static std::string request(const std::string& method, const std::string& parameters, const std::string& id = "1") {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{)" + parameters + "}}";
  }
  static std::string about(const std::string& method, const std::string& uri, const std::string& id = "1") {
    return request(method, R"("uri":")" + uri + '"', id);
  }
  /// A request of the era without sessions.
  static std::string modern(const std::string& method, const std::string& parameters, const std::string& id = "1") {
    return request(method,
                   parameters + (parameters.empty() ? "" : ",") +
                       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{}})",
                   id);
  }

 private:
  std::shared_ptr<session::session> session_;
  std::shared_ptr<mailbox> inbox_ = std::make_shared<mailbox>();
  rpc::request_info facts_;
};

inline caller_info named(std::string identity) { return {std::move(identity), {}, nullptr}; }

inline access_rule rule(std::vector<std::string> identities, std::vector<std::string> uris,
                        access_level gives = access_level::read) {
  access_rule made;
  made.identities = std::move(identities);
  made.uris = std::move(uris);
  made.level = gives;
  return made;
}

inline server_options with_rules(std::vector<access_rule> rules) {
  server_options options;
  options.access.rules = std::move(rules);
  return options;
}

}  // namespace hondana::transport
