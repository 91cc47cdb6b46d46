/// Failures as values: every call of hondana that can fail returns `result<T>`.
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

/// Why an operation failed, in a server or in a client.
enum class errc {
  resource_not_found = 1,  ///< The resource or item does not exist, or is hidden from the caller.
  access_denied,           ///< Access is not permitted. The server answers reads as `resource_not_found`.
  invalid_argument,        ///< An argument, option or file is invalid. The text says which one and why.
  fetch_directly,          ///< An https:// link: the client must fetch it itself; this server does not.
  response_too_large,      ///< The content exceeds a limit. The text names the size, the limit and an alternative.
  content_changed,         ///< The content kept changing while it was read. A retry may succeed.
  timed_out,               ///< A deadline or timeout passed.
  cancelled,               ///< The operation was cancelled, the client disconnected, or the object was closed.
  overloaded,              ///< Too many operations, waiting calls or bytes, here or at a remote server. Retry later.
  source_unavailable,      ///< A source, store, server or file cannot be used now. The text names it.
  unsupported,             ///< The provider, server or data does not support this operation.
  internal,                ///< A defect of hondana or of an application's handler, or a lack of memory. The log has details.
  server_error,            ///< A remote server answered with an error without a code here; see `failure::server_error`.
  unauthorized,            ///< A remote server requires authentication, or rejects the credentials.
  protocol_error,          ///< The answer of a remote server or service is invalid. The text says how.
  insufficient_scope,      ///< The caller is authenticated, but lacks scopes; see `failure::scopes`.
  part_not_found,  ///< The resource exists, but not the requested section, page, key or layer. The text names some that exist.
  unreadable,      ///< The resource exists, but its content is encrypted, damaged, or not in its declared format.
  too_many_requests,  ///< The caller exceeded its rate limits; see `failure::retry_after`.
};

struct rpc_error;

/// A failure with two texts: one that is safe to send to any client, and one for our log only.
struct failure {
  errc code = errc::internal;
  /// What was attempted, why it failed, and what to do. Must not contain paths that the caller did not name.
  std::string public_text;
  std::string private_text;                         ///< For the log: errno texts, host paths, exception messages. May be empty.
  std::shared_ptr<const rpc_error> server_error{};  ///< The error that a remote server answered with. Null: none.
  /// With `insufficient_scope` and `unauthorized`: the scopes that the operation requires. Null: unknown.
  std::shared_ptr<const std::vector<std::string>> scopes{};
  /// How long to wait before a retry, mostly with `too_many_requests` and `overloaded`. nullopt: unknown.
  std::optional<std::chrono::milliseconds> retry_after{};
  /// For programs, not for people: the member, key or state that the failure is about, such as "issuer" or "damaged". May be
  /// empty.
  std::string subject{};
};

/// A value of `T`, or the `failure` that explains why there is none.
template <class T>
using result = tl::expected<T, failure>;

/// Makes a failure to return from a function with the type `result<T>`, for any T.
[[nodiscard]] inline tl::unexpected<failure> fail(errc code, std::string public_text, std::string private_text = {}) {
  return tl::unexpected<failure>(failure{code, std::move(public_text), std::move(private_text)});
}

/// Extracts the value of a `result`, or returns its failure from the enclosing function, which must return a `result` of any
/// type.
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

/// Returns the name of the enumerator: "timed_out".
[[nodiscard]] std::string_view name_of(errc code) noexcept;

}  // namespace hondana::inline v0
