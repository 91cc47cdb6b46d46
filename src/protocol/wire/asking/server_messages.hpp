/// Requests and notifications from servers, and the replies to their requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"
#include "protocol/rpc/message.hpp"

namespace hondana::wire::asking {

enum class question_kind : std::uint8_t { elicitation, sampling, roots };
/// Returns nothing for a method that clients do not have.
[[nodiscard]] std::optional<question_kind> kind_of_question(std::string_view method) noexcept;

/// A reply to send: a result as JSON, or an error.
struct reply {
  std::string result{};
  int code = 0;  ///< The error code; 0: a result.
  std::string text{};
};
/// -32601: this client does not support the method.
[[nodiscard]] reply unanswered(std::string text);
/// -32603: the handler of the request failed.
[[nodiscard]] reply failed(std::string text);

struct roots_request {};
using question = std::variant<form_request, link_request, sampling_request, roots_request>;
/// Parses a request. Errors: the reply to send, with -32601 or -32602.
/// Spec: client/elicitation, client/sampling, client/roots.
[[nodiscard]] tl::expected<question, reply> question_of(std::string_view method, const value& params);

/// Encode replies. A failure becomes -32603. In an accepted form, missing fields get their defaults.
[[nodiscard]] reply reply_of(const result<form_answer>& given, const form_request& to);
[[nodiscard]] reply reply_of(const result<form_answer>& given, const link_request& to);
[[nodiscard]] reply reply_of(const result<sampling_answer>& given);
[[nodiscard]] reply reply_of(const result<std::vector<root>>& given);
/// The complete message.
[[nodiscard]] std::string spelled(const rpc::request_id& id, const reply& with);

/// An answer with which the server requests input first. Spec: 2026-07-28 basic/patterns/mrtr.
struct input_wanted {
  struct one {
    std::string key;
    std::string method;
    value params = value::object{};
  };
  std::vector<one> questions{};
  std::string state{};  ///< JSON, exactly as received; empty when there is none.
};
enum class result_kind : std::uint8_t { complete, input_required, unknown };
[[nodiscard]] result_kind kind_of_result(const json::object& result);
/// Errors: broken_protocol, also for more than 64 questions.
[[nodiscard]] result<input_wanted> input_wanted_by(const json::object& result);
/// The response to `one` for the repeated request. A form or link that failed counts as cancelled.
/// Errors: refused, broken_protocol.
[[nodiscard]] result<std::string> response_to(const input_wanted::one& one, const reply& with);
/// The parameters that carry the responses, as members without braces. `all`: keys with responses.
[[nodiscard]] std::string responses(const input_wanted& to, const std::vector<std::pair<std::string, std::string>>& all);

/// A stream of changes is open; the server sends these changes.
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

/// A notification. `std::monostate`: unknown or unreadable.
struct news {
  std::uint64_t stream = 0;  ///< The request whose stream it belongs to; 0: not stated.
  std::variant<std::monostate, change, stream_begun, stream_ended, log_message, call_progress> what{};
};

[[nodiscard]] news news_of(const rpc::notification& from);

}  // namespace hondana::wire::asking
