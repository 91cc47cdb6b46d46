/// Asking the client for input: a handler returns what it needs, and is called again with the answers.
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

/// What may be said of a form's field; members that are not set are not sent.
struct form_field {
  std::string title{};
  std::string description{};
  bool is_required = false;
  std::optional<value> preset{};  ///< The default.
  std::optional<double> least{};  ///< Of a number: its minimum; of a text: its length; of choices: how many.
  std::optional<double> most{};   ///< The other end.
  std::string format{};           ///< Of a text: email, uri, date or date-time.
};

/// A choice with the title people see; an empty title means the value itself.
struct form_choice {
  std::string value;
  std::string title{};
};

/// The fields of a form, as the restricted JSON Schema of elicitation: flat, of primitive values and choices.
class form {
 public:
  form& text(std::string name, const form_field& what = {});
  form& number(std::string name, const form_field& what = {});
  form& integer(std::string name, const form_field& what = {});
  form& boolean(std::string name, const form_field& what = {});
  /// One of several.
  form& one_of(std::string name, const std::vector<form_choice>& choices, const form_field& what = {});
  /// Any number of several, at least `least` and at most `most`. From 2025-11-25.
  form& some_of(std::string name, const std::vector<form_choice>& choices, const form_field& what = {});

  /// The `requestedSchema`.
  [[nodiscard]] value schema() const;

 private:
  form& add(std::string name, value::object schema, const form_field& what);
  value::object properties_;
  value::array required_;
};

/// Asks the user to fill in a form. Never for secrets: use `link_request` for those.
/// Spec: client/elicitation, from 2025-06-18.
struct form_request {
  std::string message{};
  value requestedSchema{};  ///< `form::schema()`, or one written by hand.
};

/// Asks the user to open a URL; what happens there never passes the client. Spec: client/elicitation, from 2025-11-25.
struct link_request {
  std::string message{};
  std::string url{};
  std::string elicitationId{};  ///< Names the interaction to 2025-11-25 peers; one is made when it is empty.
};

/// Asks the client's model to continue a conversation. Spec: client/sampling.
struct sampling_request {
  std::vector<message> messages{};
  std::int64_t maxTokens = 1000;
  std::string systemPrompt{};
  std::optional<double> temperature{};
  std::vector<std::string> stopSequences{};
  std::optional<value> modelPreferences{};
  std::optional<value> metadata{};
  std::string includeContext{};       ///< Empty: not sent. Other than "none" needs the capability `sampling.context`.
  std::optional<value> tools{};       ///< Tool definitions the model may call; needs `sampling.tools`. From 2025-11-25.
  std::optional<value> toolChoice{};  ///< Needs `sampling.tools`.
};

/// Asks which folders the client works in. Spec: client/roots.
struct roots_request {};

using input_request = std::variant<form_request, link_request, sampling_request, roots_request>;

/// What a handler returns instead of a result when it cannot go on without the client.
struct input_required {
  /// By a key of the handler's own, under which the answer comes back. Keys are unique.
  std::vector<std::pair<std::string, input_request>> requests{};
  /// What the handler wants to find again. The client sees it and cannot change it; at most 16 KiB as JSON.
  std::optional<value> state{};
};

/// The user's reaction to a form or link.
struct form_answer {
  std::string action;  ///< "accept", "decline" or "cancel".
  value content;       ///< The fields; null unless accepted.
};

/// The model's continuation.
struct sampling_answer {
  value content;  ///< A block, or an array of blocks, as the protocol spells them.
  std::string model;
  std::string stopReason;
  /// The text of the first text block; empty when there is none.
  [[nodiscard]] std::string text() const;
};

struct root {
  std::string uri;
  std::string name;
};

/// The answers of one round, by key. A key that is not here was not answered: ask again or do without.
class input_answers {
 public:
  input_answers() = default;
  /// `answers` by key: what the client sent. `refusals` by key: why it could not answer.
  explicit input_answers(value::object answers, std::vector<std::pair<std::string, std::string>> refusals = {})
      : answers_(std::move(answers)), refusals_(std::move(refusals)) {}

  [[nodiscard]] bool empty() const noexcept { return answers_.empty() && refusals_.empty(); }
  /// As the client sent it, unread; null when the key was not answered.
  [[nodiscard]] const value* find(std::string_view key) const noexcept;
  /// Why the client answered the key with an error; null when it did not. Only legacy clients can.
  [[nodiscard]] const std::string* refusal(std::string_view key) const noexcept;

  /// Typed answers. Nothing when the key was not answered, or not with an answer of this sort.
  [[nodiscard]] std::optional<form_answer> filled_form(std::string_view key) const;
  [[nodiscard]] std::optional<sampling_answer> sampled(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<root>> roots(std::string_view key) const;
  /// A text field of an accepted form.
  [[nodiscard]] std::optional<std::string> text(std::string_view key, std::string_view field) const;

  [[nodiscard]] const value::object& all() const noexcept { return answers_; }

 private:
  value::object answers_;
  std::vector<std::pair<std::string, std::string>> refusals_;
};

/// What a client declared that it can be asked for.
struct client_abilities {
  bool forms = false;
  bool links = false;
  bool sampling = false;
  bool sampling_tools = false;
  bool sampling_context = false;
  bool roots = false;

  /// Whether everything one request needs is there.
  [[nodiscard]] bool can(const input_request& what) const noexcept;
  bool operator==(const client_abilities&) const = default;
};

/// Severities of RFC 5424, lowest first.
enum class log_level : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

/// What every call of a handler carries besides its arguments.
struct handler_call : call {
  client_abilities client{};
  input_answers answers{};       ///< To what the call before asked for; empty in a first round.
  std::optional<value> state{};  ///< `input_required::state` of the call before.
  std::function<void(log_level level, const value& data, std::string_view logger)> send_log{};  ///< See `log`; may be empty.
  std::function<void(std::chrono::milliseconds retry)> let_go{};  ///< See `release`; may be empty.

  /// Sends a log message to the peer that asked for this, if it wants messages of this level. Threads: any.
  void log(log_level level, const value& data, std::string_view logger = {}) const {
    if (send_log) send_log(level, data, logger);
  }
  /// Lets go of the connection that waits for the answer, where the peer knows to come back for it after `retry` (2025-11-25
  /// over HTTP), so that work of minutes holds no connection open. Does nothing anywhere else. Threads: any.
  void release(std::chrono::milliseconds retry) const {
    if (let_go) let_go(retry);
  }
};

}  // namespace hondana::inline v0
