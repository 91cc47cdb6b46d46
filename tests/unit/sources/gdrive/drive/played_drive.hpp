/// A Drive that says what a test wants, and a client of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "auth/google/access_tokens.hpp"
#include "deadline.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace hondana_test {

/// Tokens that are simply there: "t-1" until it is refused, then "t-2", and so on.
class played_tokens final : public hondana::google::access_token_source {
 public:
  hondana::result<std::string> token(const std::stop_token&, clock::time_point) override {
    const std::lock_guard lock(mutex_);
    if (failing_) return tl::unexpected(*failing_);
    return "t-" + std::to_string(number_);
  }
  void invalidate(std::string_view token) override {
    const std::lock_guard lock(mutex_);
    if (token == "t-" + std::to_string(number_)) ++number_;
  }
  std::string account() override { return account_name; }
  [[nodiscard]] const hondana::google::scopes& requested_scopes() const noexcept override { return scopes_; }
  void fail_with(hondana::failure why) {
    const std::lock_guard lock(mutex_);
    failing_ = std::move(why);
  }
  std::string account_name = "reader@team.iam.gserviceaccount.com";

 private:
  std::mutex mutex_;
  int number_ = 1;
  std::optional<hondana::failure> failing_;
  hondana::google::scopes scopes_{hondana::google::scope::drive_readonly};
};

struct drive_reply {
  int status = 200;
  std::string body = "{}";
  std::string more{};  ///< Header lines.
  std::string type = "application/json; charset=UTF-8";
};

/// As Drive spells an error.
inline drive_reply drive_error(int status, const std::string& reason, const std::string& message = "said so",
                               const std::string& more = {}, const std::string& location = {}) {
  return {status,
          R"({"error":{"code":)" + std::to_string(status) + R"(,"message":")" + message +
              R"(","errors":[{"domain":"global","reason":")" + reason + R"(","message":")" + message + '"' +
              (location.empty() ? "" : R"(,"locationType":"parameter","location":")" + location + '"') + "}]}}",
          more, "application/json; charset=UTF-8"};
}

/// Answers with `replies` one after the other, the last for ever.
class played_drive {
 public:
  explicit played_drive(std::vector<drive_reply> replies)
      : replies_(std::move(replies)), server_([this](const heard_request&, scripted_connection& to) {
          const auto one = next();
          return to.answer(one.status, one.type, one.body, one.more);
        }) {}
  explicit played_drive(scripted_server::script plays) : server_(std::move(plays)) {}

  [[nodiscard]] hondana::drive::client_settings settings() const {
    hondana::drive::client_settings out;
    out.base_url = server_.url("");
    out.quota = {1'000, 60'000};
    out.initial_delay = std::chrono::milliseconds(2);
    out.max_delay = std::chrono::milliseconds(20);
    out.request_timeout = event_deadline;
    out.stall_timeout = event_deadline;
    return out;
  }
  [[nodiscard]] std::shared_ptr<hondana::drive::client> client(hondana::drive::client_settings with) const {
    auto out = hondana::drive::client::create(std::move(with), tokens);
    EXPECT_TRUE(out) << out.error().public_text;
    return out ? *out : nullptr;
  }
  [[nodiscard]] std::shared_ptr<hondana::drive::client> client() const { return client(settings()); }
  [[nodiscard]] scripted_server& server() noexcept { return server_; }
  /// Of the first that was asked.
  [[nodiscard]] heard_request asked(std::size_t number = 0) { return server_.requests(number + 1).at(number); }

  std::shared_ptr<played_tokens> tokens = std::make_shared<played_tokens>();

 private:
  drive_reply next() {
    const std::lock_guard lock(mutex_);
    return replies_[std::min(said_++, replies_.size() - 1)];
  }

  std::mutex mutex_;
  std::vector<drive_reply> replies_;
  std::size_t said_ = 0;
  scripted_server server_;
};

/// Keeps a content.
struct kept_content {
  std::string bytes{};
  std::vector<hondana::drive::content_head> heads{};
  [[nodiscard]] hondana::drive::content_sink sink() {
    hondana::drive::content_sink out;
    out.on_begin = [this](const hondana::drive::content_head& head) {
      heads.push_back(head);
      return hondana::result<void>{};
    };
    out.on_data = [this](std::string_view piece) {
      bytes += piece;
      return hondana::result<void>{};
    };
    return out;
  }
};

inline hondana::drive::call_options within(std::chrono::seconds so_long = event_deadline) {
  hondana::drive::call_options out;
  out.deadline = hondana::monotonic_clock::now() + so_long;
  return out;
}

}  // namespace hondana_test
