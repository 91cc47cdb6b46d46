/// Whole conversations: every message is answered exactly once, in time, with sound JSON-RPC that belongs to it.
///
/// The first byte says how: over HTTP or not, which version header, whether each answer is awaited, whether the peer leaves
/// early. Then come messages, one a line.
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "base/json/reader.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_body.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"

namespace {

using namespace hondana;

constexpr std::chrono::seconds patience{15};
constexpr std::size_t most_messages = 64;
constexpr std::string_view private_text = "for the log";

void require(bool holds) {
  if (!holds) std::abort();
}

/// Gives `size` letters in small pieces.
class letters final : public byte_reader {
 public:
  explicit letters(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  result<std::size_t> read(std::span<char> into) override {
    std::size_t count = 0;
    while (count < into.size() && count < 3000 && at_ < size_) {
      into[count++] = 'x';
      ++at_;
    }
    return count;
  }
  result<void> rewind() override {
    at_ = 0;
    return {};
  }

 private:
  std::uint64_t size_;
  std::uint64_t at_ = 0;
};

result<read_result> stream(const read_request&) {
  resource_content one;
  one.data = std::make_shared<letters>(10'000);
  read_result all;
  all.contents.push_back(std::move(one));
  return all;
}

result<read_result> report_steps(const read_request& request) {
  for (int i = 1; i <= 3 && request.report_progress; ++i) request.report_progress({static_cast<double>(i), 3, "step"});
  return text_read_result("done");
}

/// Waits to be cancelled, but not long.
result<read_result> hold(const read_request& request) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, request.stop, std::chrono::milliseconds(2), [] { return false; });
  if (request.stop.stop_requested()) return fail(errc::cancelled, "Cancelled");
  return text_read_result("held");
}

/// The same entries below `prefix`, on pool threads or inline.
class source final : public memory_provider {
 public:
  source(const std::string& prefix, bool is_inline) : memory_provider(prefix.substr(0, 4), prefix), is_inline_(is_inline) {
    const auto entry = [&prefix](std::string_view name) {
      resource one;
      one.uri = prefix + std::string(name);
      one.name = name;
      return one;
    };
    require(add(entry("text"), std::string("hello \"\\\n\x01 \xe6\x9c\xac")).has_value());
    require(add(entry("blob"), std::string("\x00\xff\xfe", 3)).has_value());
    require(add(entry("empty"), std::string()).has_value());
    require(add(entry("large"), std::string(70'000, '\x01')).has_value());
    require(add(entry("stream"), stream).has_value());
    require(add(entry("steps"), report_steps).has_value());
    require(add(entry("held"), hold).has_value());
    require(add(entry("broken"), [](const read_request&) -> result<read_result> {
              throw std::runtime_error("broken");
            }).has_value());
    require(add(entry("denied"), [](const read_request&) -> result<read_result> {
              return fail(errc::access_denied, "No", std::string(private_text));
            }).has_value());
    resource_template pages;
    pages.uri_template = prefix + "page/{name}{?lines}";
    pages.name = "pages";
    require(add_template(
                pages, [](const read_request& request) -> result<read_result> { return text_read_result(request.uri); },
                [](const complete_request& request) -> result<complete_result> {
                  return complete_result{{request.value + "1", request.value + "2"}, 2, false};
                })
                .has_value());
  }
  provider_traits traits() const noexcept override { return {.never_blocks = is_inline_}; }

 private:
  bool is_inline_;
};

/// Takes the answer to one message; a second one, or a notification behind it, is a defect.
class answer_slot final : public rpc::response_writer {
 public:
  void answer(rpc::outgoing_response what) override {
    const std::lock_guard lock(mutex_);
    require(!answer_);
    answer_ = std::move(what);
    arrived_.notify_all();
  }
  void stream(std::shared_ptr<rpc::message_source>) override {}
  rpc::send_outcome send(std::string message) override {
    const auto document = json::document::parse(message);
    require(document.has_value());
    require(std::holds_alternative<rpc::notification>(rpc::read_message(document->root())));
    const std::lock_guard lock(mutex_);
    require(!answer_);
    return hondana::rpc::send_outcome::accepted;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    require(arrived_.wait_for(lock, patience, [this] { return answer_.has_value(); }));
  }
  rpc::outgoing_response& arrived() { return *answer_; }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<rpc::outgoing_response> answer_;
};

/// The answer's text; nothing when there is none.
std::optional<std::string> text_of(rpc::outgoing_response& what) {
  require(what.http_status >= 200 && what.http_status < 600);
  if (!what.content) return {};
  const auto body = std::make_shared<rpc::body>(std::move(*what.content));
  std::string text;
  for (;;) {
    const auto more = rpc::pull_until(body, text, std::chrono::steady_clock::now() + patience);
    require(more.has_value());
    if (!*more) return text;
  }
}

/// The id of a sound answer; nothing for none and null.
std::optional<rpc::request_id> check_answer(json::value answer) {
  const auto object = answer.as_object("");
  require(object.has_value());
  const auto version = object->get_string("jsonrpc");
  require(version && *version == "2.0");
  const auto result = object->find("result");
  const auto error = object->find("error");
  require(result && error && result->has_value() != error->has_value());
  if (error->has_value()) {
    const auto inside = (*error)->as_object("error");
    require(inside && inside->get("code") && inside->get("code")->as_integer("code") && inside->get_string("message"));
  }
  const auto id = object->find("id");
  require(id.has_value());
  if (!id->has_value() || (*id)->is_null()) {
    require(error->has_value());
    return {};
  }
  if (const auto number = (*id)->as_integer("id")) return *number;
  const auto text = (*id)->as_string("id");
  require(text.has_value());
  return std::string(*text);
}

/// Checks one answer against its message. `may_be_silent`: requests may have been cancelled.
void check(std::string_view message, const std::optional<std::string>& answer, bool may_be_silent, bool over_http) {
  const auto asked = json::document::parse(message);
  const auto given = answer ? json::document::parse(*answer) : decltype(asked)(json::document());
  require(given.has_value());
  // What is for the log alone is in no answer, unless the peer said it first.
  require(!answer || answer->find(private_text) == std::string::npos || message.find(private_text) != std::string_view::npos);
  if (!asked) {
    require(answer && !check_answer(given->root()));
    return;
  }
  if (asked->root().type() == json::kind::array) {
    if (!answer || given->root().type() != json::kind::array) {
      if (answer) check_answer(given->root());
      return;
    }
    const auto elements = given->root().as_array("");
    require(elements->size() > 0 && elements->size() <= asked->root().as_array("")->size());
    for (const auto& one : elements->elements()) check_answer(one);
    return;
  }
  const auto what = rpc::read_message(asked->root());
  if (const auto* request = std::get_if<rpc::request>(&what)) {
    require(answer || may_be_silent);
    if (answer) require(check_answer(given->root()) == request->id);
  } else if (std::holds_alternative<rpc::response>(what)) {
    // Over HTTP the headers alone may be wrong.
    require(!answer || (over_http && !check_answer(given->root())));
  } else if (answer) {
    check_answer(given->root());
  }
}

std::optional<std::string> chosen_version(unsigned which) {
  static const std::array<const char*, 7> known{
      "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01", ""};
  if (which >= known.size()) return {};
  return known.at(which);
}

/// Headers that say what the body says, as far as it can be read.
rpc::http_headers headers_for(std::string_view message, unsigned version) {
  rpc::http_headers out;
  out.protocol_version = chosen_version(version);
  const auto document = json::document::parse(message);
  if (!document || document->root().type() != json::kind::object) return out;
  const auto what = rpc::read_message(document->root());
  if (const auto* request = std::get_if<rpc::request>(&what)) {
    out.method = request->method;
    if (const auto uri = request->params.find_string("uri"); uri && *uri) out.name = std::string(**uri);
  }
  return out;
}

server& engine() {
  static server made = [] {
    server_options options;
    options.page_size = 4;
    auto one = server::create(options);
    require(one.has_value());
    require(one->add(std::make_shared<source>("pool:///", false)).has_value());
    require(one->add(std::make_shared<source>("here:///", true)).has_value());
    return std::move(*one);
  }();
  return made;
}

struct manner {
  bool over_http;
  unsigned version;
  bool waits;
  bool leaves;
};

void converse(std::string_view bytes, const manner how) {
  struct turn {
    std::string_view message;
    std::shared_ptr<answer_slot> slot;
  };
  std::vector<turn> turns;
  std::vector<std::shared_ptr<session::session>> sessions;
  while (!bytes.empty() && turns.size() < most_messages) {
    const auto end = bytes.find('\n');
    const auto message = bytes.substr(0, end);
    bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
    // HTTP keeps no peers apart: a session a message.
    if (sessions.empty() || how.over_http) sessions.push_back(session::session::open(engine().core()));
    rpc::request_info facts;
    facts.caller.identity = "fuzz";
    if (how.over_http) facts.http = headers_for(message, how.version);
    const auto slot = std::make_shared<answer_slot>();
    sessions.back()->receive(message, facts, slot);
    turns.push_back({message, slot});
    if (how.waits) slot->wait();
  }
  if (how.leaves) {
    for (const auto& one : sessions) one->close();
  }
  for (const auto& one : turns) {
    one.slot->wait();
    check(one.message, text_of(one.slot->arrived()), how.leaves || (!how.waits && !how.over_http), how.over_http);
  }
  for (const auto& one : sessions) require(one->in_progress() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned first = data[0];
  const manner how{(first & 1u) != 0, (first >> 1) & 7u, (first & 16u) != 0, (first & 32u) != 0};
  converse({reinterpret_cast<const char*>(data) + 1, size - 1}, how);
  return 0;
}
