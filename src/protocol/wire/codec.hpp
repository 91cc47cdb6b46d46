/// The interface of a revision's codec, which decodes requests and encodes answers; and errors about messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/tool.hpp>

#include "protocol/model/operations.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_body.hpp"

namespace hondana::wire {

/// A JSON-RPC error with the HTTP status of its response.
struct protocol_error {
  int code = -32603;
  std::string message;
  std::string data;  ///< JSON; empty: absent.
  int http_status = 200;
};

template <class T>
using decoded = tl::expected<T, protocol_error>;

/// The codec of one revision. Immutable; threads: any. Results are the value of `"result":`, without the envelope.
class codec {
 public:
  codec() = default;
  codec(const codec&) = delete;
  codec& operator=(const codec&) = delete;
  virtual ~codec() = default;

  [[nodiscard]] virtual std::string_view revision() const noexcept = 0;
  /// Whether this revision allows arrays of messages (batches).
  [[nodiscard]] virtual bool has_batches() const noexcept = 0;
  /// Whether errors for unreadable requests contain `"id":null`; otherwise they have no id.
  [[nodiscard]] virtual bool writes_null_ids() const noexcept = 0;
  /// Whether clients accept an event without data, and reconnect for the rest of a stream that was closed on purpose.
  [[nodiscard]] virtual bool supports_polling() const noexcept = 0;

  /// The codec of the same revision with the versioned-resources extension, for clients that support it. May be this codec.
  [[nodiscard]] virtual const codec& versioned() const noexcept = 0;

  /// Decodes a request. Errors: method not found, invalid parameters (with the path of the member), conflicts with
  /// `request_info`.
  [[nodiscard]] virtual decoded<model::request> decode(const rpc::request& request,
                                                       const rpc::request_info& request_info) const = 0;
  /// Decodes a notification. Unknown ones become `no_operation`. Errors: malformed parameters; they are logged, never answered.
  [[nodiscard]] virtual decoded<model::operation> decode(const rpc::notification& notification) const = 0;

  /// The error if the method of `operation` needs a capability that `server` does not declare.
  [[nodiscard]] virtual std::optional<protocol_error> reject_undeclared(const model::operation& operation,
                                                                        const model::server_info& server) const = 0;

  /// Answers `initialize` or `server/discover`.
  [[nodiscard]] virtual std::string encode_handshake(const model::server_info& server) const = 0;
  /// Answers `ping`.
  [[nodiscard]] virtual std::string encode_empty(const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::resource_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::template_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const complete_result& values, const model::server_info& server) const = 0;
  /// These three answer the Skills extension. They are never called for revisions without it.
  [[nodiscard]] virtual std::string encode(const model::directory_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::skill_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::skill_answer& answer, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::tool_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::prompt_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const tool_result& result, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const prompt_result& result, const model::server_info& server) const = 0;
  [[nodiscard]] virtual rpc::body encode(bytes::prepared_read_result reading,
                                         const std::shared_ptr<executor::executor>& reader_executor,
                                         const model::cache_hint& cache, const model::server_info& server) const = 0;
  /// Versioned-resources extension: a resource with its entry, and the error that `version` is current.
  [[nodiscard]] virtual rpc::body encode_resource(const resource& entry, bytes::prepared_content content,
                                                  const std::shared_ptr<executor::executor>& reader_executor,
                                                  const model::cache_hint& cache, const model::server_info& server) const = 0;
  [[nodiscard]] virtual protocol_error encode_unmodified(std::string_view uri, std::string_view version) const = 0;
  /// The complete notification about a change. Contains the id of the stream in revisions that have streams of changes.
  [[nodiscard]] virtual std::string encode_change(const model::change& change,
                                                  const std::optional<rpc::request_id>& stream) const = 0;
  /// The first message of a stream of changes, with the accepted subscriptions; empty in revisions without such streams.
  [[nodiscard]] virtual std::string encode_acknowledgement(const model::subscription_filter& accepted,
                                                           const rpc::request_id& stream) const = 0;
  /// The result that ends such a stream.
  [[nodiscard]] virtual std::string encode_stream_end(const rpc::request_id& stream,
                                                      const model::server_info& server) const = 0;
  /// `uri`: the URI in the failed request; empty when it has none.
  [[nodiscard]] virtual protocol_error encode_failure(const failure& failure, std::string_view uri) const = 0;

  /// Whether arguments that do not match a tool's schema give a result for the model instead of an error.
  [[nodiscard]] virtual bool validation_errors_are_results() const noexcept = 0;
  /// The error if headers do not repeat a tool's arguments; nothing in revisions without such headers.
  [[nodiscard]] virtual std::optional<protocol_error> reject_mismatched_headers(
      const std::vector<model::mirrored_argument>& mirrored, const value& arguments,
      const rpc::http_headers& headers) const = 0;

  /// Whether the server asks for input by sending requests while the client's request is pending.
  /// Otherwise the client gets `encode_input_required` as the answer.
  [[nodiscard]] virtual bool sends_input_requests() const noexcept = 0;
  /// Whether this revision has such a request.
  [[nodiscard]] virtual bool supports_request(const input_request& request) const noexcept = 0;
  /// A complete request to a client.
  [[nodiscard]] virtual std::string encode_request(std::string_view id, const input_request& request) const = 0;
  /// An answer that asks for input. `sealed_state` may be empty.
  [[nodiscard]] virtual std::string encode_input_required(const input_required& input, std::string_view sealed_state,
                                                          const model::server_info& server) const = 0;
  /// The error for a client that lacks capabilities for `input_required::requests`. `missing`: the capabilities as JSON.
  [[nodiscard]] virtual protocol_error encode_missing_capabilities(std::string missing) const = 0;
};

/// -32700: invalid JSON. `reason` names the position.
[[nodiscard]] protocol_error parse_error(std::string_view reason);
/// -32600: "Invalid request: WHY".
[[nodiscard]] protocol_error invalid_request(std::string_view reason, int http_status = 400);
/// The error for a message that `rpc::read_message` rejected.
[[nodiscard]] protocol_error malformed_error(const rpc::malformed& malformed);
/// -32603, without the reason, which is only logged.
[[nodiscard]] protocol_error internal_error();
/// The error when the client already has `limit` pending requests.
[[nodiscard]] protocol_error too_many_pending(std::size_t limit);
/// The error in place of an answer that exceeds the limit for the answers of its batch.
[[nodiscard]] protocol_error batch_too_large(std::size_t limit);
/// The error for a request that HTTP rejects: `text` unchanged, and the code for `http_status`.
[[nodiscard]] protocol_error rejected_by_http(int http_status, std::string_view text);

}  // namespace hondana::wire
