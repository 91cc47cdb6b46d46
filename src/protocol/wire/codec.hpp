/// The interface of codecs, which decode requests and encode answers of one revision. Also errors about whole messages.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/tool.hpp>

#include "protocol/model/operations.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_body.hpp"

namespace hondana::wire {

/// A JSON-RPC error.
struct protocol_error {
  int code = -32603;
  std::string message;
  std::string data;       ///< JSON; empty: absent.
  int http_status = 200;  ///< The status of the response, if it is sent over HTTP.
};

template <class T>
using decoded = tl::expected<T, protocol_error>;

/// The codec of one revision. Immutable; threads: any.
/// Unless stated otherwise, an `encode` function returns the value of `"result":` for an answer, without the rest of the
/// message.
class codec {
 public:
  codec() = default;
  codec(const codec&) = delete;
  codec& operator=(const codec&) = delete;
  virtual ~codec() = default;

  [[nodiscard]] virtual std::string_view revision() const noexcept = 0;
  /// Whether this revision allows arrays of messages (batches).
  [[nodiscard]] virtual bool has_batches() const noexcept = 0;
  /// Whether errors about messages without a readable id contain `"id":null`; otherwise they have no id.
  [[nodiscard]] virtual bool writes_null_ids() const noexcept = 0;
  /// See `rpc::outgoing_response::supports_polling`.
  [[nodiscard]] virtual bool supports_polling() const noexcept = 0;

  /// The codec of the same revision with the versioned-resources extension, for clients that support it. May be this codec.
  [[nodiscard]] virtual const codec& versioned() const noexcept = 0;

  /// Decodes a request. Errors: unknown method; invalid parameters, with the path of the member; HTTP headers that contradict
  /// the request.
  [[nodiscard]] virtual decoded<model::request> decode(const rpc::request& request,
                                                       const rpc::request_info& request_info) const = 0;
  /// Decodes a notification. Unknown ones become `no_operation`. Errors: invalid parameters, to be logged and never answered.
  [[nodiscard]] virtual decoded<model::operation> decode(const rpc::notification& notification) const = 0;

  /// Returns an error if the method of `operation` needs a capability that `server` does not declare; otherwise nullopt.
  [[nodiscard]] virtual std::optional<protocol_error> reject_undeclared(const model::operation& operation,
                                                                        const model::server_info& server) const = 0;

  /// For `initialize` or `server/discover`.
  [[nodiscard]] virtual std::string encode_handshake(const model::server_info& server) const = 0;
  /// For requests whose result has no members of its own, such as `ping`.
  [[nodiscard]] virtual std::string encode_empty(const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::resource_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::template_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const complete_result& values, const model::server_info& server) const = 0;
  /// Must not be called for revisions without the Skills extension.
  [[nodiscard]] virtual std::string encode(const model::directory_page& page, const model::server_info& server) const = 0;
  /// Must not be called for revisions without the Skills extension.
  [[nodiscard]] virtual std::string encode(const model::skill_page& page, const model::server_info& server) const = 0;
  /// Must not be called for revisions without the Skills extension.
  [[nodiscard]] virtual std::string encode(const model::skill_answer& answer, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::tool_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const model::prompt_page& page, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const tool_result& result, const model::server_info& server) const = 0;
  [[nodiscard]] virtual std::string encode(const prompt_result& result, const model::server_info& server) const = 0;
  /// `reader_executor`: the executor on which streams among the contents are read later.
  [[nodiscard]] virtual rpc::body encode(bytes::prepared_read_result reading,
                                         const std::shared_ptr<executor::executor>& reader_executor,
                                         const model::cache_hint& cache, const model::server_info& server) const = 0;
  /// For `resources/get` (versioned-resources extension): a resource with its entry.
  [[nodiscard]] virtual rpc::body encode_resource(const resource& entry, bytes::prepared_content content,
                                                  const std::shared_ptr<executor::executor>& reader_executor,
                                                  const model::cache_hint& cache, const model::server_info& server) const = 0;
  /// Makes the error that the client's version is still current (versioned-resources extension).
  [[nodiscard]] virtual protocol_error encode_unmodified(std::string_view uri, std::string_view version) const = 0;
  /// Returns the complete notification about a change.
  /// `stream`: the id of the request that opened the stream of changes; unused in revisions without such streams.
  [[nodiscard]] virtual std::string encode_change(const model::change& change,
                                                  const std::optional<rpc::request_id>& stream) const = 0;
  /// Returns the complete first message of a stream of changes; empty in revisions without such streams.
  [[nodiscard]] virtual std::string encode_acknowledgement(const model::subscription_filter& accepted,
                                                           const rpc::request_id& stream) const = 0;
  /// For the request that opened a stream of changes: the result that ends the stream.
  [[nodiscard]] virtual std::string encode_stream_end(const rpc::request_id& stream,
                                                      const model::server_info& server) const = 0;
  /// Makes the error for a failure. `uri`: the URI in the failed request; may be empty.
  [[nodiscard]] virtual protocol_error encode_failure(const failure& failure, std::string_view uri) const = 0;

  /// Whether arguments that do not match a tool's schema give a result for the model instead of an error.
  [[nodiscard]] virtual bool validation_errors_are_results() const noexcept = 0;
  /// Returns an error if HTTP headers do not repeat a tool's arguments; otherwise, and in revisions without such headers,
  /// nullopt.
  [[nodiscard]] virtual std::optional<protocol_error> reject_mismatched_headers(
      const std::vector<model::mirrored_argument>& mirrored, const value& arguments,
      const rpc::http_headers& headers) const = 0;

  /// Whether the server requests input with `encode_request`, while the client's request is pending.
  /// Otherwise it answers the client's request with `encode_input_required`.
  [[nodiscard]] virtual bool sends_input_requests() const noexcept = 0;
  /// Whether this revision can express `request`.
  [[nodiscard]] virtual bool supports_request(const input_request& request) const noexcept = 0;
  /// Returns a complete request for input. Only if `sends_input_requests` is true.
  [[nodiscard]] virtual std::string encode_request(std::string_view id, const input_request& request) const = 0;
  /// For a request that needs input. Only if `sends_input_requests` is false. `sealed_state` may be empty.
  [[nodiscard]] virtual std::string encode_input_required(const input_required& input, std::string_view sealed_state,
                                                          const model::server_info& server) const = 0;
  /// Makes the error for a client that lacks capabilities for `input_required::requests`. `missing`: these, as JSON.
  [[nodiscard]] virtual protocol_error encode_missing_capabilities(std::string missing) const = 0;
};

/// -32700, for invalid JSON: "Parse error: REASON".
[[nodiscard]] protocol_error parse_error(std::string_view reason);
/// -32600: "Invalid request: REASON".
[[nodiscard]] protocol_error invalid_request(std::string_view reason, int http_status = 400);
/// The error for a message that `rpc::read_message` rejected.
[[nodiscard]] protocol_error malformed_error(const rpc::malformed& malformed);
/// -32603: "Internal error". The caller logs the reason.
[[nodiscard]] protocol_error internal_error();
/// The error for a client that already has `limit` pending requests.
[[nodiscard]] protocol_error too_many_pending(std::size_t limit);
/// The error in place of an answer in a batch whose answers have more than `limit` bytes together.
[[nodiscard]] protocol_error batch_too_large(std::size_t limit);
/// The error for a request that HTTP rejects: `text`, and -32600 (for a status of 500 or more: -32603).
[[nodiscard]] protocol_error rejected_by_http(int http_status, std::string_view text);

}  // namespace hondana::wire
