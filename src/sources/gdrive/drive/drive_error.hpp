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

/// Kinds of errors, each with its own remedy. Numbers are HTTP statuses, and names such as `notFound` are Drive's reasons.
enum class error_kind : std::uint8_t {
  not_found,  ///< No such file or drive, or it is not shared with this account: 404, notFound, fileNotFound.
  /// This account has no access to the file: insufficientFilePermissions, teamDriveMembershipRequired, domainPolicy,
  /// appNotAuthorizedToFile, cannotDownloadFile, or 403 with an unknown reason.
  forbidden,
  insufficient_scope,  ///< The token's scopes are too narrow: insufficientPermissions, ACCESS_TOKEN_SCOPE_INSUFFICIENT.
  unauthorized,        ///< No token is available, or it was rejected: 401, revoked, deleted.
  not_enabled,         ///< The Google Cloud project has not enabled the API, or has no billing: accessNotConfigured.
  export_too_large,    ///< exportSizeLimitExceeded: more than 10 MB. An export link may still work.
  not_downloadable,    ///< The file has no bytes of its own: fileNotDownloadable. Export it.
  not_exportable,      ///< Drive does not convert the file to that type: fileNotExportable, or 400 of an export.
  abusive,             ///< cannotDownloadAbusiveFile: Google classifies it as malware or spam. It is never read.
  page_token_gone,     ///< The page token of a list or change log is no longer valid. Start again without it.
  rate_limited,        ///< Google's rate limit was exceeded: 429, userRateLimitExceeded. `details.retry_after` is set.
  daily_limit,         ///< dailyLimitExceeded, quotaExceeded: the quota of the day is used up. `details.retry_after` is set.
  /// The client's own limits (`request_budget`, number of requests at once) allow no request before the deadline. No request
  /// was sent. `details.retry_after` says when the `request_budget` allows one.
  busy,
  bad_range,  ///< 416: the range starts after the end.
  /// 400 with any other reason: a defect of hondana, or an invalid `query::custom_term`.
  bad_request,
  gone,         ///< 410 that is not about a page token: the file was deleted.
  unavailable,  ///< 500 and above, 408, no connection, or another network error.
  stalled,      ///< A content arrived too slowly or ended early. Only a part was passed to the sink.
  timed_out,    ///< The deadline has passed.
  cancelled,
  too_large,  ///< The answer exceeds a size limit.
  malformed,  ///< The answer is not a valid Drive answer.
  sink,       ///< The caller's `content_sink` returned an error.
};

/// The enumerator's name, such as "page_token_gone", for logs and metrics.
[[nodiscard]] std::string_view name_of(error_kind kind) noexcept;

/// The error of a Drive call.
struct drive_error {
  error_kind kind = error_kind::unavailable;
  failure details{};     ///< The texts and, where it is known, `retry_after`. The public text says what to do.
  int status = 0;        ///< HTTP status. 0: no answer of Drive caused the error.
  std::string reason{};  ///< Drive's reason, such as "userRateLimitExceeded", without unusual characters. Empty: none.

  /// Whether the error concerns only this file, so that calls for other files may succeed.
  [[nodiscard]] bool is_file_specific() const noexcept;
  /// Whether the same call may succeed later without any action of the user.
  [[nodiscard]] bool is_transient() const noexcept;
};

template <class T>
using api_result = tl::expected<T, drive_error>;

/// The context of a call, for its error texts.
struct error_context {
  std::string operation{};      ///< "list the changes of the drive": a verb phrase for error texts.
  std::string account{};        ///< `client::account`.
  bool has_page_token = false;  ///< The request contains a page token.
  bool is_export = false;       ///< The request is an export.
};

/// Makes the error of an HTTP error answer. If the body is not a Drive error, the status decides. Only the private text
/// contains Google's message, cleaned and cut. `retry_after`: the value of that header. Spec: Google Drive API, "Resolve
/// errors".
[[nodiscard]] drive_error classify_error(int status, std::string_view body,
                                         std::optional<std::chrono::milliseconds> retry_after, const error_context& context);

}  // namespace hondana::drive
