/// The vocabulary of one revision: decodes requests into operations and encodes answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "model/answers.hpp"
#include "model/operation.hpp"
#include "rpc/body.hpp"
#include "rpc/envelope.hpp"
#include "rpc/facts.hpp"

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
  [[nodiscard]] virtual rpc::body encode(bytes::prepared_reading reading, const std::shared_ptr<work::lane>& home,
                                         const model::cache_hint& cache, const model::self_description& self) const = 0;
  /// `uri` is what the failed request asked for; empty when it asked for none.
  [[nodiscard]] virtual protocol_error encode_failure(const failure& why, std::string_view uri) const = 0;
};

}  // namespace hondana::wire
