/// Questions to the client: a handler returns what it needs, and is called again with the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/message.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Options of a form field. Members that are not set are not sent.
struct form_field_options {
  std::string title{};
  std::string description{};
  bool is_required = false;
  std::optional<value> default_value{};
  std::optional<double> min{};  ///< Minimum of a number, length of a text, or number of choices.
  std::optional<double> max{};  ///< The corresponding maximum.
  std::string format{};         ///< Of a text: email, uri, date or date-time.
};

/// A choice, and the title that users see. An empty title means the value itself.
struct form_choice {
  std::string value;
  std::string title{};
};

/// The fields of a form, in the restricted JSON Schema of elicitation: flat, with primitive values and choices.
class form_builder {
 public:
  form_builder& text(std::string name, const form_field_options& options = {});
  form_builder& number(std::string name, const form_field_options& options = {});
  form_builder& integer(std::string name, const form_field_options& options = {});
  form_builder& boolean(std::string name, const form_field_options& options = {});
  /// A choice of one value.
  form_builder& single_select(std::string name, const std::vector<form_choice>& choices,
                              const form_field_options& options = {});
  /// A choice of several values, from `min` to `max`. From revision 2025-11-25 on.
  form_builder& multi_select(std::string name, const std::vector<form_choice>& choices, const form_field_options& options = {});

  /// The schema, for `form_request::requested_schema`.
  [[nodiscard]] value schema() const;

 private:
  form_builder& add(std::string name, value::object schema, const form_field_options& options);
  value::object properties_;
  value::array required_;
};

/// Asks the user to fill in a form. Do not ask for secrets this way; use `url_request`.
/// Spec: client/elicitation, from 2025-06-18.
struct form_request {
  std::string message{};
  value requested_schema{};  ///< A `form_builder::schema()`, or a schema written manually.
};

/// Asks the user to open a URL. The interaction there does not pass through the client. Spec: client/elicitation, from
/// 2025-11-25.
struct url_request {
  std::string message{};
  std::string url{};
  std::string elicitation_id{};  ///< Identifies the interaction for clients of 2025-11-25. Empty: one is generated.
};

/// Asks the client's model to continue a conversation. Spec: client/sampling.
struct sampling_request {
  std::vector<message> messages{};
  std::int64_t max_tokens = 1000;
  std::string system_prompt{};
  std::optional<double> temperature{};
  std::vector<std::string> stop_sequences{};
  std::optional<value> model_preferences{};
  std::optional<value> metadata{};
  std::string include_context{};  ///< Empty: not sent. Other values than "none" require the capability `sampling.context`.
  /// Tool definitions that the model may call. Requires `sampling.tools`. From revision 2025-11-25 on.
  std::optional<value> tools{};
  std::optional<value> tool_choice{};  ///< Requires `sampling.tools`.
};

/// Asks for the folders that the client works in. Spec: client/roots.
struct roots_request {};

using input_request = std::variant<form_request, url_request, sampling_request, roots_request>;

/// What a handler returns when it needs answers from the client first.
struct input_required {
  /// Questions by key. The handler chooses the keys, which must be unique; the answers have the same keys.
  std::vector<std::pair<std::string, input_request>> requests{};
  /// Data for the next call of the handler. The client can read it but not change it. At most 16 KiB as JSON.
  std::optional<value> state{};
};

/// The user's reaction to a form or URL.
struct elicitation_response {
  std::string action;  ///< "accept", "decline" or "cancel".
  value content;       ///< The fields; null unless accepted.
};

/// The model's continuation of the conversation.
struct sampling_response {
  value content;  ///< A block, or an array of blocks, as in the protocol.
  std::string model;
  std::string stop_reason;
  /// The text of the first text block; empty if there is none.
  [[nodiscard]] std::string text() const;
};

/// A folder that the client works in.
struct root {
  std::string uri;
  std::string name;
};

/// The answers of one round, by key. If a key is missing, the client did not answer it: ask again, or continue without it.
class input_responses {
 public:
  input_responses() = default;
  /// `responses`: what the client sent, by key. `errors`: why it could not answer, by key.
  explicit input_responses(value::object responses, std::vector<std::pair<std::string, std::string>> errors = {})
      : responses_(std::move(responses)), errors_(std::move(errors)) {}

  [[nodiscard]] bool empty() const noexcept { return responses_.empty() && errors_.empty(); }
  /// The answer as the client sent it, not validated. Null if the key was not answered.
  [[nodiscard]] const value* find(std::string_view key) const noexcept;
  /// The error that the client answered the key with; null if it did not. Only legacy clients can answer with an error.
  [[nodiscard]] const std::string* error(std::string_view key) const noexcept;

  /// Typed answers. nullopt if the key was not answered, or the answer has another type.
  [[nodiscard]] std::optional<elicitation_response> elicitation(std::string_view key) const;
  [[nodiscard]] std::optional<sampling_response> sampling(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<root>> roots(std::string_view key) const;
  /// A text field of an accepted form. nullopt if there is none.
  [[nodiscard]] std::optional<std::string> text(std::string_view key, std::string_view field) const;

  [[nodiscard]] const value::object& raw() const noexcept { return responses_; }

 private:
  value::object responses_;
  std::vector<std::pair<std::string, std::string>> errors_;
};

/// The kinds of questions that a client has declared to support.
struct client_capabilities {
  bool form_elicitation = false;
  bool url_elicitation = false;
  bool sampling = false;
  bool sampling_tools = false;
  bool sampling_context = false;
  bool roots = false;

  /// Whether the client supports everything that this question requires.
  [[nodiscard]] bool supports(const input_request& input) const noexcept;
  bool operator==(const client_capabilities&) const = default;
};

/// Severities of RFC 5424, lowest first.
enum class log_level : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

/// What every call of a handler carries besides its arguments.
struct handler_call : request_context {
  client_capabilities capabilities{};
  input_responses responses{};   ///< Answers to the questions of the previous call; empty in the first round.
  std::optional<value> state{};  ///< `input_required::state` of the previous call.
  std::function<void(log_level level, const value& data, std::string_view logger)>
      log_callback{};                                                                  ///< See `log`; may be empty.
  std::function<void(std::chrono::milliseconds retry_delay)> close_stream_callback{};  ///< See `close_stream`; may be empty.

  /// Sends a log message to the client that sent this request, if it wants messages of this level. Threads: any.
  void log(log_level level, const value& data, std::string_view logger = {}) const {
    if (log_callback) log_callback(level, data, logger);
  }
  /// Closes the HTTP connection that waits for the answer, if the client can resume (2025-11-25 over HTTP). The client returns
  /// after `retry_delay`, so a long call holds no connection open. Does nothing for other clients. Threads: any.
  void close_stream(std::chrono::milliseconds retry_delay) const {
    if (close_stream_callback) close_stream_callback(retry_delay);
  }
};

}  // namespace hondana::inline v0
