/// Expected failures as values: every fallible call of hondana returns `result<T>`.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace hondana::inline v0 {

/// Why an operation failed, independent of any protocol revision. Only the wire codecs translate codes into JSON-RPC numbers.
enum class errc {
  resource_not_found = 1,  ///< No provider serves this URI, or the resource has been removed.
  access_denied,           ///< The caller may not see it. Answered as not found where its existence is secret.
  invalid_argument,        ///< A URI, range, cursor or argument is malformed. The text names the member and the defect.
  fetch_directly,          ///< An https:// link: the client must fetch it itself; this server does not.
  response_too_large,      ///< The content exceeds the read limit. The text names its size, the limit and an alternative.
  content_changed,         ///< The content kept changing while it was read. A retry may succeed.
  timed_out,               ///< The deadline passed before the source answered.
  cancelled,               ///< The client cancelled the request or disconnected.
  overloaded,              ///< A bounded queue or buffer pool is full. A later retry may succeed.
  source_unavailable,      ///< The source hangs, was removed, or rejected the call. The text names it.
  unsupported,             ///< The provider does not implement this operation.
  internal,                ///< A bug in hondana, or out of memory. Only the log has details.
  server_error,            ///< Client calls: the server answered with an error of its own, see `failure::server_error`.
  unauthorized,            ///< Client calls: the server requires authentication, or rejects the credentials.
  protocol_error,          ///< Client calls: the server's answer violates the protocol. The text says how.
  insufficient_scope,      ///< The caller is authenticated, but lacks scopes; see `failure::scopes`.
  part_not_found,  ///< The resource exists, but not the requested section, page, key or layer. The text names some that exist.
  unreadable,      ///< The resource exists, but its content is encrypted, damaged, or not in its declared format.
  too_many_requests,  ///< The caller exceeded its rate limits; see `failure::retry_after`.
};

struct rpc_error;

/// A failure with two texts: one that is safe to send to any client, and one for our log only.
struct failure {
  errc code = errc::internal;
  /// What was attempted, why it failed, and what to do. Never contains a path that the caller did not name.
  std::string public_text;
  std::string private_text;                         ///< For the log: errno texts, host paths, exception messages. May be empty.
  std::shared_ptr<const rpc_error> server_error{};  ///< Client calls: the error that the server answered with. Null: none.
  /// With `insufficient_scope`: all scopes that the operation requires.
  std::shared_ptr<const std::vector<std::string>> scopes{};
  /// With `too_many_requests` and `overloaded`: how long to wait before a retry, if known.
  std::optional<std::chrono::milliseconds> retry_after{};
  /// For programs, not for people: the member, key or state that the failure is about, such as "issuer" or "damaged". May be
  /// empty.
  std::string subject{};
};

/// A value of `T`, or the `failure` that explains why there is none.
template <class T>
using result = tl::expected<T, failure>;

/// Shorthand for returning a failure from a function that returns `result<T>`.
[[nodiscard]] inline tl::unexpected<failure> fail(errc code, std::string public_text, std::string private_text = {}) {
  return tl::unexpected<failure>(failure{code, std::move(public_text), std::move(private_text)});
}

/// Extracts the value of a `result`, or returns its failure from the enclosing function. That function's result may have
/// another type.
///
///     HONDANA_TRY(auto page, read_page(id));  // `page` is the value, not the `result`
///     HONDANA_TRY(check(page));               // for a `result<void>`, or a value that is not needed
///
/// The form with a declaration expands to several statements: an enclosing `if` or loop needs braces.
#define HONDANA_TRY(first, ...)                     \
  HONDANA_TRY_JOIN(HONDANA_TRY_, __VA_OPT__(VALUE)) \
  (HONDANA_TRY_JOIN(hondana_tried_, __COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)

// Implementation details of `HONDANA_TRY`; do not use them directly.
#define HONDANA_TRY_JOIN(a, b) HONDANA_TRY_JOIN_NOW(a, b)
#define HONDANA_TRY_JOIN_NOW(a, b) a##b
#define HONDANA_TRY_(tried, ...)                                                             \
  do {                                                                                       \
    if (auto tried = __VA_ARGS__; !tried) return ::tl::unexpected(std::move(tried.error())); \
  } while (false)
#define HONDANA_TRY_VALUE(tried, declared, ...)                  \
  auto tried = __VA_ARGS__;                                      \
  if (!tried) return ::tl::unexpected(std::move(tried.error())); \
  declared = *std::move(tried)

/// The enumerator's name, for logs. Never null.
[[nodiscard]] std::string_view name_of(errc code) noexcept;

}  // namespace hondana::inline v0
