/// The errors of the Drive API: their causes, and how the user can resolve each.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hondana/error.hpp>

namespace hondana::drive {

/// Error classes. Each has a different remedy.
enum class error_kind : std::uint8_t {
  not_found,  ///< No such file or drive, or it is not shared with this account: 404 notFound, fileNotFound.
  /// It exists, but this account has no access: insufficientFilePermissions, teamDriveMembershipRequired, domainPolicy,
  /// appNotAuthorizedToFile, cannotDownloadFile.
  forbidden,
  insufficient_scope,  ///< The token's scopes are too narrow: insufficientPermissions, ACCESS_TOKEN_SCOPE_INSUFFICIENT.
  unauthorized,        ///< No token is available, or it was rejected: 401, revoked, deleted.
  not_enabled,         ///< The Google Cloud project has not enabled the API, or has no billing: accessNotConfigured.
  export_too_large,    ///< exportSizeLimitExceeded: more than 10 MB. An export link may still work.
  not_downloadable,    ///< The file has no bytes of its own: fileNotDownloadable. Export it.
  not_exportable,      ///< The file cannot be converted to that type: badRequest of files.export.
  abusive,             ///< cannotDownloadAbusiveFile: Google classifies it as malware or spam. It is never read.
  page_token_gone,     ///< The page token of a list or change log is no longer valid. Start again without it.
  rate_limited,        ///< Rate limit exceeded, after all retries. `details.retry_after` says for how long.
  daily_limit,         ///< dailyLimitExceeded, quotaExceeded: the quota of the day is used up. `details.retry_after` is set.
  /// The client's own rate limit or slots allow no request before the deadline. No request was sent. With the rate limit,
  /// `details.retry_after` says when one is possible.
  busy,
  bad_range,  ///< 416: the range starts after the end.
  /// 400 with any other reason: a defect of hondana, or an invalid `query::custom_term`.
  bad_request,
  gone,         ///< 410 that is not about a page token.
  unavailable,  ///< 500, 502, 503, 504 after all retries, no connection, or another network error.
  stalled,      ///< The answer arrived too slowly or ended early. Only a part was passed to the sink.
  timed_out,    ///< The deadline has passed.
  cancelled,
  too_large,  ///< The answer exceeds a size limit.
  malformed,  ///< The answer is not a valid Drive answer.
  sink,       ///< The caller's own sink returned an error.
};

/// "page_token_gone": the enumerator's spelling, for logs and metrics.
[[nodiscard]] std::string_view name_of(error_kind kind) noexcept;

/// The error of a Drive call.
struct drive_error {
  error_kind kind = error_kind::unavailable;
  failure details{};     ///< Both texts; `retry_after` where it is known. The public text says what to do.
  int status = 0;        ///< 0 if there was no answer.
  std::string reason{};  ///< Drive's own spelling, cleaned: "userRateLimitExceeded". Empty if it gave none.

  /// Whether the error concerns this file only, so that a listing can continue with the next.
  [[nodiscard]] bool is_file_specific() const noexcept;
  /// Whether the same call may succeed later without any action.
  [[nodiscard]] bool is_transient() const noexcept;
};

template <class T>
using api_result = tl::expected<T, drive_error>;

/// The context of a call, for its error texts.
struct error_context {
  std::string operation{};  ///< "list the changes of the drive": a verb phrase for error texts.
  std::string account{};    ///< The account that files would have to be shared with; empty if unknown.
  bool has_page_token = false;
  bool is_export = false;
};

/// Classifies an HTTP error answer. Never fails: if the body is not a Drive error, the status decides. Google's own text goes,
/// cleaned and truncated, into the private text only. `retry_after`: the value of that header.
/// Spec: Google Drive API, "Resolve errors".
[[nodiscard]] drive_error classify_error(int status, std::string_view body,
                                         std::optional<std::chrono::milliseconds> retry_after, const error_context& context);

}  // namespace hondana::drive
