/// The errors of the Drive API: their causes, and how the user can resolve each.
#include "sources/gdrive/drive/drive_error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <hondana/value.hpp>

#include "auth/oauth/code_request.hpp"

namespace hondana::drive {
namespace {

constexpr std::size_t max_error_body_bytes = 64u << 10;
constexpr std::size_t max_error_body_values = 1'000;
/// Daily quotas recover gradually, not necessarily at midnight.
constexpr std::chrono::milliseconds daily_limit_delay{3'600'000};

using named_kind = std::pair<std::string_view, error_kind>;

constexpr std::array kind_names{named_kind{"not_found", error_kind::not_found},
                                named_kind{"forbidden", error_kind::forbidden},
                                named_kind{"insufficient_scope", error_kind::insufficient_scope},
                                named_kind{"unauthorized", error_kind::unauthorized},
                                named_kind{"not_enabled", error_kind::not_enabled},
                                named_kind{"export_too_large", error_kind::export_too_large},
                                named_kind{"not_downloadable", error_kind::not_downloadable},
                                named_kind{"not_exportable", error_kind::not_exportable},
                                named_kind{"abusive", error_kind::abusive},
                                named_kind{"page_token_gone", error_kind::page_token_gone},
                                named_kind{"rate_limited", error_kind::rate_limited},
                                named_kind{"daily_limit", error_kind::daily_limit},
                                named_kind{"busy", error_kind::busy},
                                named_kind{"bad_range", error_kind::bad_range},
                                named_kind{"bad_request", error_kind::bad_request},
                                named_kind{"gone", error_kind::gone},
                                named_kind{"unavailable", error_kind::unavailable},
                                named_kind{"stalled", error_kind::stalled},
                                named_kind{"timed_out", error_kind::timed_out},
                                named_kind{"cancelled", error_kind::cancelled},
                                named_kind{"too_large", error_kind::too_large},
                                named_kind{"malformed", error_kind::malformed}};

/// Reasons that determine the error regardless of the status.
constexpr std::array known_reasons{named_kind{"userRateLimitExceeded", error_kind::rate_limited},
                                   named_kind{"rateLimitExceeded", error_kind::rate_limited},
                                   named_kind{"sharingRateLimitExceeded", error_kind::rate_limited},
                                   named_kind{"RATE_LIMIT_EXCEEDED", error_kind::rate_limited},
                                   named_kind{"dailyLimitExceeded", error_kind::daily_limit},
                                   named_kind{"quotaExceeded", error_kind::daily_limit},
                                   named_kind{"downloadQuotaExceeded", error_kind::daily_limit},
                                   named_kind{"insufficientFilePermissions", error_kind::forbidden},
                                   named_kind{"insufficientParentPermissions", error_kind::forbidden},
                                   named_kind{"teamDriveMembershipRequired", error_kind::forbidden},
                                   named_kind{"domainPolicy", error_kind::forbidden},
                                   named_kind{"appNotAuthorizedToFile", error_kind::forbidden},
                                   named_kind{"cannotDownloadFile", error_kind::forbidden},
                                   named_kind{"insufficientPermissions", error_kind::insufficient_scope},
                                   named_kind{"insufficientScopes", error_kind::insufficient_scope},
                                   named_kind{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", error_kind::insufficient_scope},
                                   named_kind{"accessNotConfigured", error_kind::not_enabled},
                                   named_kind{"SERVICE_DISABLED", error_kind::not_enabled},
                                   named_kind{"dailyLimitExceededUnreg", error_kind::not_enabled},
                                   named_kind{"cannotDownloadAbusiveFile", error_kind::abusive},
                                   named_kind{"exportSizeLimitExceeded", error_kind::export_too_large},
                                   named_kind{"fileNotDownloadable", error_kind::not_downloadable},
                                   named_kind{"fileNotExportable", error_kind::not_exportable},
                                   named_kind{"pageTokenExpired", error_kind::page_token_gone},
                                   named_kind{"invalidPageToken", error_kind::page_token_gone},
                                   named_kind{"notFound", error_kind::not_found},
                                   named_kind{"fileNotFound", error_kind::not_found},
                                   named_kind{"authError", error_kind::unauthorized},
                                   named_kind{"push.webhookUrlUnauthorized", error_kind::bad_request},
                                   named_kind{"push.webhookUrlNotHttps", error_kind::bad_request},
                                   named_kind{"requestedRangeNotSatisfiable", error_kind::bad_range}};

struct error_body {
  std::string reason{};    // of `errors[0]`
  std::string detail{};    // of the first of `details` that has one
  std::string location{};  // the parameter that the error is about
  std::string message{};
};

std::string error_text_member(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  return member == nullptr || member->as_string() == nullptr ? std::string() : oauth::sanitize(*member->as_string());
}

/// Parses an error body, in either of Drive's two formats.
error_body parse_error_body(std::string_view body) {
  const auto parsed = value::parse(body, {max_error_body_bytes, max_error_body_values});
  const auto* error = parsed ? parsed->find("error") : nullptr;
  if (error == nullptr) return {};
  if (error->as_string() != nullptr)
    return {error_text_member(*parsed, "error"), {}, {}, error_text_member(*parsed, "error_description")};
  error_body out;
  out.message = error_text_member(*error, "message");
  if (const auto* list = error->find("errors"); list != nullptr && list->as_array() != nullptr && !list->as_array()->empty()) {
    out.reason = error_text_member(list->as_array()->front(), "reason");
    out.location = error_text_member(list->as_array()->front(), "location");
  }
  if (const auto* list = error->find("details"); list != nullptr && list->as_array() != nullptr) {
    for (const auto& entry : *list->as_array()) {
      if (out.detail.empty()) out.detail = error_text_member(entry, "reason");
    }
  }
  return out;
}

std::optional<error_kind> kind_by_reason(std::string_view reason) noexcept {
  const auto* const match =
      std::find_if(known_reasons.begin(), known_reasons.end(), [reason](const auto& entry) { return entry.first == reason; });
  if (match == known_reasons.end()) return {};
  return match->second;
}

bool concerns_page_token(const error_body& body) noexcept {
  return body.location == "pageToken" || body.location.empty() || body.message.find("age token") != std::string::npos;
}

error_kind classify(int status, const error_body& body, const error_context& context) {
  // The detail is more specific: the reason of a disabled API and of missing scopes is "forbidden" in both cases.
  for (const auto* reason : {&body.detail, &body.reason}) {
    if (const auto kind = kind_by_reason(*reason)) {
      // Drive reports an expired change token as a missing file.
      if (*kind == error_kind::not_found && context.has_page_token && body.location == "pageToken")
        return error_kind::page_token_gone;
      return *kind;
    }
  }
  switch (status) {
    case 400:
      if (context.has_page_token && concerns_page_token(body)) return error_kind::page_token_gone;
      return context.is_export ? error_kind::not_exportable : error_kind::bad_request;
    case 401:
      return error_kind::unauthorized;
    case 403:
      return error_kind::forbidden;
    case 404:
      return error_kind::not_found;
    case 408:
      return error_kind::unavailable;
    case 410:
      return context.has_page_token ? error_kind::page_token_gone : error_kind::gone;
    case 416:
      return error_kind::bad_range;
    case 429:
      return error_kind::rate_limited;
    default:
      return status >= 500 ? error_kind::unavailable : status >= 400 ? error_kind::bad_request : error_kind::malformed;
  }
}

errc code_of(error_kind kind) noexcept {
  switch (kind) {
    case error_kind::not_found:
    case error_kind::gone:
      return errc::resource_not_found;
    case error_kind::forbidden:
    case error_kind::abusive:
      return errc::access_denied;
    case error_kind::insufficient_scope:
    case error_kind::unauthorized:
      return errc::unauthorized;
    case error_kind::export_too_large:
    case error_kind::too_large:
      return errc::response_too_large;
    case error_kind::not_downloadable:
    case error_kind::not_exportable:
      return errc::unsupported;
    case error_kind::page_token_gone:
      return errc::content_changed;
    case error_kind::rate_limited:
    case error_kind::daily_limit:
    case error_kind::busy:
      return errc::overloaded;
    case error_kind::bad_range:
    case error_kind::bad_request:
      return errc::invalid_argument;
    case error_kind::timed_out:
      return errc::timed_out;
    case error_kind::cancelled:
      return errc::cancelled;
    case error_kind::malformed:
      return errc::protocol_error;
    case error_kind::not_enabled:
    case error_kind::unavailable:
    case error_kind::stalled:
    case error_kind::sink:
      return errc::source_unavailable;
  }
  return errc::internal;
}

/// The public text of a `forbidden` error.
std::string forbidden_text(const std::string& reason, const std::string& account) {
  if (reason == "teamDriveMembershipRequired")
    return "only members of its shared drive have access; add " + account + " to the shared drive as a viewer";
  if (reason == "domainPolicy")
    return "the domain's administrator does not let applications use Drive; ask them to allow it under Apps, Google Workspace, "
           "Drive and Docs, Features and Applications";
  if (reason == "appNotAuthorizedToFile")
    return "the login covers only files that its application has opened; log in again with 'hondana login', which requests "
           "drive.readonly";
  if (reason == "cannotDownloadFile")
    return "its owner does not let viewers download, print or copy it; ask the owner to allow it in the file's sharing "
           "settings";
  return account + " has no access to it; share it with " + account + " as a viewer";
}

std::string error_text(error_kind kind, const std::string& reason, const error_context& context, std::string_view wait) {
  const auto account = context.account.empty() ? std::string("the account in use") : context.account;
  switch (kind) {
    case error_kind::not_found:
      return "it does not exist in Drive, or is not shared with " + account +
             "; check whether it was deleted, or share it with " + account + " as a viewer";
    case error_kind::forbidden:
      return forbidden_text(reason, account);
    case error_kind::insufficient_scope:
      return "the token lacks a scope; set scopes to drive.readonly and log in again (if a service account impersonates a "
             "user, the administrator must allow that scope, too)";
    case error_kind::unauthorized:
      return "Google rejects the token of " + account + "; log in again with 'hondana login', or check that the key is enabled";
    case error_kind::not_enabled:
      return "the Google Drive API is not enabled for the key's or client's project; enable it in the Google Cloud console "
             "under APIs & Services (drive.googleapis.com), and wait a few minutes";
    case error_kind::export_too_large:
      return "the converted file is larger than the 10 MB that Drive exports; read it by its export link, or as another type";
    case error_kind::not_downloadable:
      return "it is a document of a Google editor, which cannot be downloaded; export it as another type";
    case error_kind::not_exportable:
      return "Drive does not convert it to that type; use one of its export types";
    case error_kind::abusive:
      return "Google flagged it as malware or spam, and hondana never reads such files; its owner can ask Google for a review";
    case error_kind::page_token_gone:
      return "the page token has expired; all files must be listed again";
    case error_kind::rate_limited:
      return "too many requests to Drive in a short time; wait " + std::string(wait) +
             ", and lower requests_per_minute if it happens often";
    case error_kind::daily_limit:
      return reason == "downloadQuotaExceeded"
                 ? "the file has been downloaded too often today; wait until tomorrow, or make a copy of it"
                 : "the project's daily quota is used up; wait until tomorrow, or request more in the Google Cloud console";
    case error_kind::bad_range:
      return "the range starts after its end; request an earlier range";
    case error_kind::bad_request:
      if (reason.starts_with("push.webhookUrl"))
        return "Google does not send notifications to this address; set webhook_url to a public https: URL with a "
               "browser-trusted "
               "certificate (the Google Cloud project may have to own its domain)";
      return "Drive rejects the request as invalid; check the query terms of the source, if any (the log has Drive's message)";
    case error_kind::gone:
      return "it was deleted permanently";
    case error_kind::unavailable:
      return "Google Drive is unavailable; wait " + std::string(wait) + " and try again";
    case error_kind::malformed:
      return "the answer is not from Google Drive; check for a proxy or a login page of the network";
    default:
      return "the answer ended early";
  }
}

}  // namespace

std::string_view name_of(error_kind kind) noexcept {
  const auto* const match =
      std::find_if(kind_names.begin(), kind_names.end(), [kind](const auto& entry) { return entry.second == kind; });
  return match == kind_names.end() ? "sink" : match->first;
}

bool drive_error::is_file_specific() const noexcept {
  switch (kind) {
    case error_kind::not_found:
    case error_kind::forbidden:
    case error_kind::export_too_large:
    case error_kind::not_downloadable:
    case error_kind::not_exportable:
    case error_kind::abusive:
    case error_kind::bad_range:
    case error_kind::gone:
    case error_kind::too_large:
    case error_kind::sink:
      return reason != "domainPolicy";
    case error_kind::daily_limit:
      return reason == "downloadQuotaExceeded";
    default:
      return false;
  }
}

bool drive_error::is_transient() const noexcept {
  return kind == error_kind::rate_limited || kind == error_kind::daily_limit || kind == error_kind::busy ||
         kind == error_kind::unavailable || kind == error_kind::stalled || kind == error_kind::timed_out;
}

drive_error classify_error(int status, std::string_view body, std::optional<std::chrono::milliseconds> retry_after,
                           const error_context& context) {
  const auto parsed = parse_error_body(body);
  drive_error out;
  out.status = status;
  out.reason = parsed.reason.empty() ? parsed.detail : parsed.reason;
  out.kind = classify(status, parsed, context);
  out.details.code = code_of(out.kind);
  out.details.retry_after = retry_after;
  if (out.kind == error_kind::daily_limit && !retry_after) out.details.retry_after = daily_limit_delay;
  const auto wait = retry_after && retry_after->count() > 1'000
                        ? std::to_string(std::chrono::ceil<std::chrono::seconds>(*retry_after).count()) + " seconds"
                        : std::string("a minute");
  out.details.public_text = "cannot " + context.operation + ": " + error_text(out.kind, out.reason, context, wait);
  out.details.private_text = "status " + std::to_string(status) + (out.reason.empty() ? "" : ", " + out.reason) +
                             (parsed.detail.empty() || parsed.detail == out.reason ? "" : ", " + parsed.detail) +
                             (parsed.message.empty() ? "" : ": " + parsed.message);
  return out;
}

}  // namespace hondana::drive
