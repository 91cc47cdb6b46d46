/// Questions of a tool or prompt handler to the client: the handler returns them, and is called again with the answers.
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
  /// Minimum of a number, of the length of a text, or of the number of choices in `multi_select`. Other fields ignore it.
  std::optional<double> min{};
  std::optional<double> max{};  ///< The maximum of the same.
  std::string format{};         ///< "email", "uri", "date" or "date-time". Only for `text`.
};

/// One choice of a form field.
struct form_choice {
  std::string value;
  std::string title{};  ///< What users see. Empty: `value`.
};

/// Builds the schema of a form, in the restricted JSON Schema of elicitation: flat, with primitive values and choices. Each
/// function adds a field.
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

  /// Returns the schema, for `form_request::requested_schema`.
  [[nodiscard]] value schema() const;

 private:
  form_builder& add(std::string name, value::object schema, const form_field_options& options);
  value::object properties_;
  value::array required_;
};

/// Asks the user to fill in a form. Do not ask for secrets this way; use `url_request`.
/// Spec: client/elicitation, from 2025-06-18.
struct form_request {
  std::string message{};     ///< The question and its reason, for the user.
  value requested_schema{};  ///< A `form_builder::schema()`, or a schema written manually.
};

/// Asks the user to open a URL. The interaction there does not pass through the client. Spec: client/elicitation, from
/// 2025-11-25.
struct url_request {
  std::string message{};  ///< Why to open the URL, for the user.
  std::string url{};
  /// Identifies the interaction for clients of 2025-11-25. nullopt: one is generated.
  std::optional<std::string> elicitation_id{};
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
  /// Empty: not sent. Values other than "none" require `client_capabilities::sampling_context`.
  std::string include_context{};
  /// Definitions of tools that the model may call. Requires `client_capabilities::sampling_tools`. From revision 2025-11-25 on.
  std::optional<value> tools{};
  std::optional<value> tool_choice{};  ///< Requires `client_capabilities::sampling_tools`.
};

/// Asks for the folders that the client works in. Spec: client/roots.
struct roots_request {};

/// A question to the client.
using input_request = std::variant<form_request, url_request, sampling_request, roots_request>;

/// What a handler returns to be called again with answers of the client. One of the members must be set. With a legacy client,
/// a handler can return it 15 times for one request.
struct input_required {
  /// Up to 64 questions. The handler chooses their keys, which must be unique; `input_responses` has the answers by these keys.
  std::vector<std::pair<std::string, input_request>> requests{};
  /// Data for `handler_call::state` of the next call. The client can read it but not change it. At most 16 KiB as JSON.
  std::optional<value> state{};
};

/// The user's reaction to a form or URL.
struct elicitation_response {
  std::string action;            ///< "accept", "decline" or "cancel".
  std::optional<value> content;  ///< With "accept" of a form: the fields, an object.
};

/// The model's continuation of the conversation.
struct sampling_response {
  value content;  ///< A content block, or an array of them, as JSON.
  std::string model;
  std::string stop_reason;
  /// Returns the text of the first text block; empty if there is none.
  [[nodiscard]] std::string text() const;
};

/// A folder that the client works in.
struct root {
  std::string uri;
  std::string name;
};

/// The client's answers to the questions of one `input_required`, by key. The client may leave questions unanswered: ask again,
/// or continue without the answer.
class input_responses {
 public:
  input_responses() = default;
  /// `responses`: the answers by key. `errors`: keys, and why the client could not answer them.
  explicit input_responses(value::object responses, std::vector<std::pair<std::string, std::string>> errors = {})
      : responses_(std::move(responses)), errors_(std::move(errors)) {}

  [[nodiscard]] bool empty() const noexcept { return responses_.empty() && errors_.empty(); }
  /// Returns the answer as the client sent it, not validated. Null: none.
  [[nodiscard]] const value* find(std::string_view key) const noexcept;
  /// Returns the error that the client answered with. Null: none. Only legacy clients can answer with an error.
  [[nodiscard]] const std::string* error(std::string_view key) const noexcept;

  /// Returns the answer to a `form_request` or `url_request`. nullopt: none, or malformed. The fields of a form are not
  /// validated against its schema.
  [[nodiscard]] std::optional<elicitation_response> elicitation(std::string_view key) const;
  /// Returns the answer to a `sampling_request`. nullopt: none, or malformed. Content blocks are not validated.
  [[nodiscard]] std::optional<sampling_response> sampling(std::string_view key) const;
  /// Returns the answer to a `roots_request`. nullopt: none, or malformed.
  [[nodiscard]] std::optional<std::vector<root>> roots(std::string_view key) const;
  /// Returns a text field of an accepted form. nullopt: the form was not accepted, or the field is missing or not a text.
  [[nodiscard]] std::optional<std::string> text(std::string_view key, std::string_view field) const;

  /// Returns all answers as the client sent them, not validated.
  [[nodiscard]] const value::object& raw() const noexcept { return responses_; }

 private:
  value::object responses_;
  std::vector<std::pair<std::string, std::string>> errors_;
};

/// The kinds of questions that a client declares to support.
struct client_capabilities {
  bool form_elicitation = false;
  bool url_elicitation = false;
  bool sampling = false;
  bool sampling_tools = false;
  bool sampling_context = false;
  bool roots = false;

  /// Returns whether the client supports everything that this question requires.
  [[nodiscard]] bool supports(const input_request& input) const noexcept;
  bool operator==(const client_capabilities&) const = default;
};

/// Severities of RFC 5424, lowest first.
enum class log_level : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

/// What every call of a tool or prompt handler carries besides its arguments.
struct handler_call : request_context {
  client_capabilities capabilities{};
  input_responses responses{};   ///< Answers to the `input_required` that the previous call returned; empty in the first call.
  std::optional<value> state{};  ///< `input_required::state` of the previous call.
  std::function<void(log_level level, const value& data, std::string_view logger)>
      log_callback{};                                                                  ///< See `log`; may be empty.
  std::function<void(std::chrono::milliseconds retry_delay)> close_stream_callback{};  ///< See `close_stream`; may be empty.

  /// Sends a log message to the client of this request, if it wants messages of this level. Threads: any.
  void log(log_level level, const value& data, std::string_view logger = {}) const {
    if (log_callback) log_callback(level, data, logger);
  }
  /// Closes the HTTP connection that waits for the answer, so that a long call does not occupy it. The client connects again
  /// after `retry_delay`. Does nothing unless the client can resume (2025-11-25 over HTTP). Threads: any.
  void close_stream(std::chrono::milliseconds retry_delay) const {
    if (close_stream_callback) close_stream_callback(retry_delay);
  }
};

}  // namespace hondana::inline v0
