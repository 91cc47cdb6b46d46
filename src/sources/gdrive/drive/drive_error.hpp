/// The errors of the Drive API: their causes, and what the user can do about each.
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

/// What a caller can do about it.
enum class trouble : std::uint8_t {
  not_found,         ///< There is no such file or drive, or it is not shared with us: 404 notFound, fileNotFound.
  forbidden,         ///< It is there, and not for us: insufficientFilePermissions, teamDriveMembershipRequired, domainPolicy,
                     ///< appNotAuthorizedToFile, cannotDownloadFile.
  scope_missing,     ///< The token is for less: insufficientPermissions, ACCESS_TOKEN_SCOPE_INSUFFICIENT.
  unauthorized,      ///< No token is to be had, or it is refused: 401, revoked, deleted.
  not_enabled,       ///< The project has not switched the API on, or has no billing: accessNotConfigured.
  export_too_large,  ///< exportSizeLimitExceeded: more than 10 MB; the export links may give it.
  not_downloadable,  ///< It has no bytes of its own: fileNotDownloadable. Export it.
  not_exportable,    ///< It cannot be converted to that type: badRequest of files.export.
  abusive,           ///< cannotDownloadAbusiveFile: Google calls it malware or spam, and it is never read.
  page_token_gone,   ///< The token of a list or of changes is not taken any more: begin anew.
  rate_limited,      ///< Too much for now, after all attempts; `why.retry` says for how long.
  daily_limit,       ///< dailyLimitExceeded, quotaExceeded: for today. `why.retry` is set.
  busy,              ///< Our own budget or seats have no turn in time; `why.retry` says when there is one. Nothing was asked.
  bad_range,         ///< 416: the range begins behind the end.
  bad_request,       ///< Drive does not understand it: 400 of any other reason. A defect of ours, or a bad `also` of a query.
  gone,              ///< 410 that is about no page token.
  unavailable,       ///< 500, 502, 503, 504 after all attempts; no connection; the network.
  stalled,           ///< The answer came too slowly, or its end never: what was passed on is a part.
  timed_out,         ///< The deadline.
  cancelled,
  too_large,  ///< An answer beyond our caps.
  malformed,  ///< An answer that is none of Drive's.
  sink,       ///< What the caller's own sink said.
};

/// "page_token_gone": the enumerator's own spelling, for logs and figures.
[[nodiscard]] std::string_view name_of(trouble what) noexcept;

struct refusal {
  trouble what = trouble::unavailable;
  failure why{};         ///< Both texts; `retry` where it is known. The public one says what to do.
  int status = 0;        ///< 0: there was no answer.
  std::string reason{};  ///< As Drive spells it, cleaned: "userRateLimitExceeded". Empty: it gave none.

  /// Whether it concerns this file alone, so that a crawl goes on with the next.
  [[nodiscard]] bool is_of_one_file() const noexcept;
  /// Whether the same may succeed later without anybody doing anything.
  [[nodiscard]] bool may_pass() const noexcept;
};

template <class T>
using answer = tl::expected<T, refusal>;

/// For callers that have only `result`.
template <class T>
[[nodiscard]] result<T> plain(answer<T> from) {
  if (!from) return tl::unexpected(std::move(from.error().why));
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*from);
  }
}

/// What is known where an error is told.
struct circumstances {
  std::string doing{};    ///< "list the changes of the drive", without a subject; for people.
  std::string account{};  ///< Whom files would be shared with; empty: not known.
  bool has_page_token = false;
  bool is_export = false;
};

/// What an answer that is no success means. `retry_after` is what the header said. Never fails: a body that is none of Drive's
/// goes by the status. Google's own words go, cleaned and cut, into the private text alone.
/// Spec: Google Drive API, "Resolve errors".
[[nodiscard]] refusal refusal_of(int status, std::string_view body, std::optional<std::chrono::milliseconds> retry_after,
                                 const circumstances& in);

}  // namespace hondana::drive
