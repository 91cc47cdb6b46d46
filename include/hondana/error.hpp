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

/// Why an operation failed, free of any protocol revision; only the wire codecs turn these into JSON-RPC numbers.
enum class errc {
  resource_not_found = 1,  ///< No provider serves this URI, or it has gone.
  access_denied,           ///< The caller may not see it; answered as not found where existence is secret.
  invalid_argument,        ///< A URI, range, cursor or argument is malformed; the text names the member and what is wrong.
  fetch_directly,          ///< An https:// link: the client fetches it itself, this server never does.
  response_too_large,      ///< The content exceeds the read limit; the text names size, limit and a way round it.
  content_changed,         ///< The content kept changing while it was read; asking again may succeed.
  timed_out,               ///< The deadline passed before the source answered.
  cancelled,               ///< The peer cancelled or left.
  overloaded,              ///< A bounded queue or buffer set is full; asking again later may succeed.
  source_unavailable,      ///< The source is stuck, gone or refused; the text names it.
  unsupported,             ///< The provider does not do this.
  internal,                ///< A defect of ours or no memory; details are in the log only.
  refused,                 ///< Another server answered a client's request with an error of its own; see `failure::answer`.
  unauthorized,            ///< Another server wants to know who asks, or refuses whoever does.
  broken_protocol,         ///< Another server answered with what is no answer; the text says what is wrong with it.
  scope_missing,           ///< The caller is known and what it has proved is not enough; see `failure::scopes`.
  part_not_found,     ///< The resource exists, but not the section, page, key or layer asked for; the text names some that do.
  unreadable,         ///< The resource exists, but its content is encrypted, damaged or not of its format.
  too_many_requests,  ///< This caller asks for more than its limits allow; see `failure::retry`.
};

struct error_answer;

/// A failure with two texts: one that is safe to send to any peer and one that only our log sees.
struct failure {
  errc code = errc::internal;
  std::string public_text;   ///< Says what was tried, why not, and what to do; never a path the caller did not name.
  std::string private_text;  ///< For the log: errno texts, host paths, exception messages. May be empty.
  std::shared_ptr<const error_answer> answer{};  ///< Of a client's calls: the error that the server answered. Null: none did.
  /// With `scope_missing`: all scopes that the operation needs.
  std::shared_ptr<const std::vector<std::string>> scopes{};
  /// With `too_many_requests` and `overloaded`: after how long asking again may succeed, where that is known.
  std::optional<std::chrono::milliseconds> retry{};
  /// For programs, not for people: which member, key or state the failure is about, such as "client_authorities" or "damaged".
  /// May be empty.
  std::string about{};
};

template <class T>
using result = tl::expected<T, failure>;

/// Shorthand for returning a failure from a function that returns `result<T>`.
[[nodiscard]] inline tl::unexpected<failure> fail(errc code, std::string public_text, std::string private_text = {}) {
  return tl::unexpected<failure>(failure{code, std::move(public_text), std::move(private_text)});
}

/// Takes the value of a `result`, or returns its failure from the function around it, whose result may be of another type:
///
///     HONDANA_TRY(auto page, read_page(id));  // `page` is the value, not the `result`
///     HONDANA_TRY(check(page));               // for a `result<void>`, or a value that is not needed
///
/// With a declaration it becomes several statements: an `if` or a loop around it needs braces.
#define HONDANA_TRY(first, ...)                     \
  HONDANA_TRY_JOIN(HONDANA_TRY_, __VA_OPT__(VALUE)) \
  (HONDANA_TRY_JOIN(hondana_tried_, __COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)

// Parts of `HONDANA_TRY`; use that.
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

/// The enumerator's own spelling, for logs. Never null.
[[nodiscard]] std::string_view name_of(errc code) noexcept;

}  // namespace hondana::inline v0
