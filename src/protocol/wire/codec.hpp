/// The vocabulary of one revision, which decodes requests and encodes answers, and errors about messages.
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

/// A JSON-RPC error with the HTTP status it travels under.
struct protocol_error {
  int code = -32603;
  std::string message;
  std::string data;  ///< JSON; empty: absent.
  int http_status = 200;
};

template <class T>
using decoded = tl::expected<T, protocol_error>;

/// One revision's codec. Immutable; threads: any. Results are the inside of `"result":`, without the envelope.
class codec {
 public:
  codec() = default;
  codec(const codec&) = delete;
  codec& operator=(const codec&) = delete;
  virtual ~codec() = default;

  [[nodiscard]] virtual std::string_view revision() const noexcept = 0;
  /// Whether an array of messages is a message of this revision.
  [[nodiscard]] virtual bool has_batches() const noexcept = 0;
  /// Whether errors to unreadable requests say `"id":null` (else they have no id).
  [[nodiscard]] virtual bool writes_null_ids() const noexcept = 0;
  /// Whether peers take an event without data, and come back for the rest of a stream that was closed on purpose.
  [[nodiscard]] virtual bool may_poll() const noexcept = 0;

  /// The same revision with the members of the versioned dialect, for peers that know it; may be this codec.
  [[nodiscard]] virtual const codec& versioned() const noexcept = 0;

  /// Errors: method not found, wrong parameters (naming the member's path), and disagreement with the facts.
  [[nodiscard]] virtual decoded<model::request> decode(const rpc::request& from, const rpc::facts& facts) const = 0;
  /// Unknown notifications are no operations. Errors: malformed parameters; they are logged, never answered.
  [[nodiscard]] virtual decoded<model::operation> decode(const rpc::notification& from) const = 0;

  /// Why `what` is not there on a server like `self`: its method lies behind a capability that `self` does not declare.
  [[nodiscard]] virtual std::optional<protocol_error> refuse_undeclared(const model::operation& what,
                                                                        const model::self_description& self) const = 0;

  /// Answers `initialize`, `server/discover`.
  [[nodiscard]] virtual std::string encode_greeting(const model::self_description& self) const = 0;
  /// Answers `ping`.
  [[nodiscard]] virtual std::string encode_empty(const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const model::resource_page& page, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const model::template_page& page, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const complete_result& values, const model::self_description& self) const = 0;
  /// These three answer the Skills extension; eras without it are never asked.
  [[nodiscard]] virtual std::string encode(const model::directory_page& page, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const model::skill_page& page, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const model::skill_answer& one, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const model::tool_page& page, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const model::prompt_page& page, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const tool_result& result, const model::self_description& self) const = 0;
  [[nodiscard]] virtual std::string encode(const prompt_result& result, const model::self_description& self) const = 0;
  [[nodiscard]] virtual rpc::body encode(bytes::prepared_reading reading, const std::shared_ptr<executor::lane>& home,
                                         const model::cache_hint& cache, const model::self_description& self) const = 0;
  /// The versioned dialect: a resource with its entry, and that there is nothing newer than `version`.
  [[nodiscard]] virtual rpc::body encode_got(const resource& entry, bytes::prepared content,
                                             const std::shared_ptr<executor::lane>& home, const model::cache_hint& cache,
                                             const model::self_description& self) const = 0;
  [[nodiscard]] virtual protocol_error encode_unmodified(std::string_view uri, std::string_view version) const = 0;
  /// The notification about a change, as a whole message; tagged with the stream's id where the era has such streams.
  [[nodiscard]] virtual std::string encode_change(const model::change& what,
                                                  const std::optional<rpc::request_id>& stream) const = 0;
  /// The first message of a stream of changes, with what of the wishes is honoured; empty in eras without such streams.
  [[nodiscard]] virtual std::string encode_acknowledged(const model::interests& honoured,
                                                        const rpc::request_id& stream) const = 0;
  /// The result that ends such a stream.
  [[nodiscard]] virtual std::string encode_listened(const rpc::request_id& stream,
                                                    const model::self_description& self) const = 0;
  /// `uri` is what the failed request asked for; empty when it asked for none.
  [[nodiscard]] virtual protocol_error encode_failure(const failure& why, std::string_view uri) const = 0;

  /// Whether arguments that do not fit a tool's schema are a result for the model, and not an error.
  [[nodiscard]] virtual bool misfits_are_results() const noexcept = 0;
  /// Why the headers that repeat a tool's arguments cannot be taken; nothing where the era has none.
  [[nodiscard]] virtual std::optional<protocol_error> refuse_mirrored(const std::vector<model::mirrored_argument>& mirrored,
                                                                      const value& arguments,
                                                                      const rpc::http_headers& headers) const = 0;

  /// Whether input is asked for by requests of ours while the peer's own waits; else it gets `encode_required` as its answer.
  [[nodiscard]] virtual bool asks_by_requests() const noexcept = 0;
  /// Which requests there are in this revision.
  [[nodiscard]] virtual bool has_request(const input_request& what) const noexcept = 0;
  /// One request of ours, whole.
  [[nodiscard]] virtual std::string encode_request(std::string_view id, const input_request& what) const = 0;
  /// An answer that asks for input. `sealed_state` may be empty.
  [[nodiscard]] virtual std::string encode_required(const input_required& what, std::string_view sealed_state,
                                                    const model::self_description& self) const = 0;
  /// The error for a client that did not declare what `requests` need; `lacking` is JSON.
  [[nodiscard]] virtual protocol_error encode_lacking(std::string lacking) const = 0;
};

/// -32700: no JSON. `why` names the place.
[[nodiscard]] protocol_error not_json(std::string_view why);
/// -32600: "Invalid request: WHY".
[[nodiscard]] protocol_error invalid_request(std::string_view why, int http_status = 400);
/// What `rpc::read_message` could not take.
[[nodiscard]] protocol_error of_malformed(const rpc::malformed& what);
/// -32603, which says nothing of the reason; that is for the log.
[[nodiscard]] protocol_error internal_error();
/// The peer waits for `limit` requests already.
[[nodiscard]] protocol_error too_many_under_way(std::size_t limit);
/// An answer for which there is no room among those of its batch.
[[nodiscard]] protocol_error too_much_for_a_batch(std::size_t limit);
/// What HTTP refuses by itself: `text` as it is, with the number for `http_status`.
[[nodiscard]] protocol_error refused_by_http(int http_status, std::string_view text);

}  // namespace hondana::wire
