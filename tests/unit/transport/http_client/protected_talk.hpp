/// A channel to a server that wants tokens.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "transport/http_client/http_channel.hpp"
#include "unit/transport/http_client/scripted_server.hpp"
#include "unit/transport/http_client/scripted_tokens.hpp"

namespace hondana_test {

inline constexpr const char* wants_login =
    "WWW-Authenticate: Bearer resource_metadata=\"https://a.example/m\", scope=\"read\"\r\n";
inline constexpr const char* wants_scope =
    "WWW-Authenticate: Basic realm=\"x, y\", Bearer error=\"insufficient_scope\", scope=\"read write\"\r\n";

inline scripted_tokens::script gives(std::vector<std::string> tokens) {
  return [left = std::make_shared<std::vector<std::string>>(std::move(tokens))](
             const hondana::rejected_token&, const std::stop_token&) -> hondana::result<std::string> {
    if (left->empty()) return hondana::fail(hondana::errc::unauthorized, "nobody logs in any more");
    auto out = left->front();
    left->erase(left->begin());
    return out;
  };
}

inline std::uint64_t id_in(const heard_request& asked) { return std::stoul(asked.body.substr(asked.body.find("\"id\":") + 5)); }

/// A server that lets in whoever has `accepted`.
inline scripted_server::script guarded_by(std::string accepted, std::string body = "no") {
  return [=](const heard_request& asked, scripted_connection& to) {
    if (asked.field("authorization") != "Bearer " + accepted) return to.answer(401, "text/plain", body, wants_login);
    return to.answer(200, "application/json", answering(id_in(asked)));
  };
}

/// A server, a channel to it and the tokens it has.
struct protected_talk {
  protected_talk(scripted_server::script plays, std::optional<std::string> first, scripted_tokens::script obtains,
                 bool is_older = false, const std::optional<std::string>& through = "none")
      : tokens(std::make_shared<scripted_tokens>(std::move(first), std::move(obtains))), server(std::move(plays)) {
    hondana::http_target target;
    target.url = server.url();
    target.proxy = through;
    target.tokens = tokens;
    const auto log = [this](std::string_view line) {
      const std::lock_guard lock(mutex);
      logged += std::string(line) + '\n';
      changed.notify_all();
    };
    auto made = is_older ? hondana::transport::http_client::make_http_sse(target, heard, {}, log)
                         : hondana::transport::http_client::make_http(target, heard, {}, log);
    if (made) channel = std::move(*made);
  }
  /// Waits until a line of the log holds `words`.
  bool has_logged(std::string_view words, std::chrono::seconds patience = event_deadline) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return logged.find(words) != std::string::npos; });
  }
  kept_words heard;
  std::mutex mutex;
  std::condition_variable changed;
  std::string logged;
  std::shared_ptr<scripted_tokens> tokens;
  scripted_server server;
  std::unique_ptr<hondana::channel::channel> channel;
};

}  // namespace hondana_test
