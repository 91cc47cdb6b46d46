/// The errors of the Drive API: their causes, and how the user can resolve each.
#include "sources/gdrive/drive/drive_error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <hondana/value.hpp>

#include "auth/oauth/code_request.hpp"

namespace hondana::drive {
namespace {

constexpr std::size_t longest_refusal_body = 64u << 10;
constexpr std::size_t most_refusal_values = 1'000;
/// Daily quotas recover gradually, not necessarily at midnight.
constexpr std::chrono::milliseconds until_more_of_the_day{3'600'000};

using named_trouble = std::pair<std::string_view, trouble>;

constexpr std::array trouble_names{named_trouble{"not_found", trouble::not_found},
                                   named_trouble{"forbidden", trouble::forbidden},
                                   named_trouble{"scope_missing", trouble::scope_missing},
                                   named_trouble{"unauthorized", trouble::unauthorized},
                                   named_trouble{"not_enabled", trouble::not_enabled},
                                   named_trouble{"export_too_large", trouble::export_too_large},
                                   named_trouble{"not_downloadable", trouble::not_downloadable},
                                   named_trouble{"not_exportable", trouble::not_exportable},
                                   named_trouble{"abusive", trouble::abusive},
                                   named_trouble{"page_token_gone", trouble::page_token_gone},
                                   named_trouble{"rate_limited", trouble::rate_limited},
                                   named_trouble{"daily_limit", trouble::daily_limit},
                                   named_trouble{"busy", trouble::busy},
                                   named_trouble{"bad_range", trouble::bad_range},
                                   named_trouble{"bad_request", trouble::bad_request},
                                   named_trouble{"gone", trouble::gone},
                                   named_trouble{"unavailable", trouble::unavailable},
                                   named_trouble{"stalled", trouble::stalled},
                                   named_trouble{"timed_out", trouble::timed_out},
                                   named_trouble{"cancelled", trouble::cancelled},
                                   named_trouble{"too_large", trouble::too_large},
                                   named_trouble{"malformed", trouble::malformed}};

/// Reasons that determine the error regardless of the status.
constexpr std::array known_reasons{named_trouble{"userRateLimitExceeded", trouble::rate_limited},
                                   named_trouble{"rateLimitExceeded", trouble::rate_limited},
                                   named_trouble{"sharingRateLimitExceeded", trouble::rate_limited},
                                   named_trouble{"RATE_LIMIT_EXCEEDED", trouble::rate_limited},
                                   named_trouble{"dailyLimitExceeded", trouble::daily_limit},
                                   named_trouble{"quotaExceeded", trouble::daily_limit},
                                   named_trouble{"downloadQuotaExceeded", trouble::daily_limit},
                                   named_trouble{"insufficientFilePermissions", trouble::forbidden},
                                   named_trouble{"insufficientParentPermissions", trouble::forbidden},
                                   named_trouble{"teamDriveMembershipRequired", trouble::forbidden},
                                   named_trouble{"domainPolicy", trouble::forbidden},
                                   named_trouble{"appNotAuthorizedToFile", trouble::forbidden},
                                   named_trouble{"cannotDownloadFile", trouble::forbidden},
                                   named_trouble{"insufficientPermissions", trouble::scope_missing},
                                   named_trouble{"insufficientScopes", trouble::scope_missing},
                                   named_trouble{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", trouble::scope_missing},
                                   named_trouble{"accessNotConfigured", trouble::not_enabled},
                                   named_trouble{"SERVICE_DISABLED", trouble::not_enabled},
                                   named_trouble{"dailyLimitExceededUnreg", trouble::not_enabled},
                                   named_trouble{"cannotDownloadAbusiveFile", trouble::abusive},
                                   named_trouble{"exportSizeLimitExceeded", trouble::export_too_large},
                                   named_trouble{"fileNotDownloadable", trouble::not_downloadable},
                                   named_trouble{"fileNotExportable", trouble::not_exportable},
                                   named_trouble{"pageTokenExpired", trouble::page_token_gone},
                                   named_trouble{"invalidPageToken", trouble::page_token_gone},
                                   named_trouble{"notFound", trouble::not_found},
                                   named_trouble{"fileNotFound", trouble::not_found},
                                   named_trouble{"authError", trouble::unauthorized},
                                   named_trouble{"push.webhookUrlUnauthorized", trouble::bad_request},
                                   named_trouble{"push.webhookUrlNotHttps", trouble::bad_request},
                                   named_trouble{"requestedRangeNotSatisfiable", trouble::bad_range}};

struct drive_words {
  std::string reason{};    // of `errors[0]`
  std::string detail{};    // of the first of `details` that has one
  std::string location{};  // the parameter that the error is about
  std::string message{};
};

std::string text_of(const value& from, std::string_view name) {
  const auto* member = from.find(name);
  return member == nullptr || member->as_string() == nullptr ? std::string() : oauth::cleaned(*member->as_string());
}

/// Parses an error body, in either of Drive's two formats.
drive_words words_of(std::string_view body) {
  const auto said = value::parse(body, {longest_refusal_body, most_refusal_values});
  const auto* error = said ? said->find("error") : nullptr;
  if (error == nullptr) return {};
  if (error->as_string() != nullptr) return {text_of(*said, "error"), {}, {}, text_of(*said, "error_description")};
  drive_words out;
  out.message = text_of(*error, "message");
  if (const auto* list = error->find("errors"); list != nullptr && list->as_array() != nullptr && !list->as_array()->empty()) {
    out.reason = text_of(list->as_array()->front(), "reason");
    out.location = text_of(list->as_array()->front(), "location");
  }
  if (const auto* list = error->find("details"); list != nullptr && list->as_array() != nullptr) {
    for (const auto& one : *list->as_array()) {
      if (out.detail.empty()) out.detail = text_of(one, "reason");
    }
  }
  return out;
}

std::optional<trouble> by_reason(std::string_view reason) noexcept {
  const auto* const found =
      std::find_if(known_reasons.begin(), known_reasons.end(), [reason](const auto& one) { return one.first == reason; });
  if (found == known_reasons.end()) return {};
  return found->second;
}

bool is_of_page_token(const drive_words& said) noexcept {
  return said.location == "pageToken" || said.location.empty() || said.message.find("age token") != std::string::npos;
}

trouble trouble_of(int status, const drive_words& said, const circumstances& in) {
  // The detail is more specific: the reason of a disabled API and of missing scopes is "forbidden" in both cases.
  for (const auto* one : {&said.detail, &said.reason}) {
    if (const auto known = by_reason(*one)) {
      // Drive reports an expired change token as a missing file.
      if (*known == trouble::not_found && in.has_page_token && said.location == "pageToken") return trouble::page_token_gone;
      return *known;
    }
  }
  switch (status) {
    case 400:
      if (in.has_page_token && is_of_page_token(said)) return trouble::page_token_gone;
      return in.is_export ? trouble::not_exportable : trouble::bad_request;
    case 401:
      return trouble::unauthorized;
    case 403:
      return trouble::forbidden;
    case 404:
      return trouble::not_found;
    case 408:
      return trouble::unavailable;
    case 410:
      return in.has_page_token ? trouble::page_token_gone : trouble::gone;
    case 416:
      return trouble::bad_range;
    case 429:
      return trouble::rate_limited;
    default:
      return status >= 500 ? trouble::unavailable : status >= 400 ? trouble::bad_request : trouble::malformed;
  }
}

errc code_of(trouble what) noexcept {
  switch (what) {
    case trouble::not_found:
    case trouble::gone:
      return errc::resource_not_found;
    case trouble::forbidden:
    case trouble::abusive:
      return errc::access_denied;
    case trouble::scope_missing:
    case trouble::unauthorized:
      return errc::unauthorized;
    case trouble::export_too_large:
    case trouble::too_large:
      return errc::response_too_large;
    case trouble::not_downloadable:
    case trouble::not_exportable:
      return errc::unsupported;
    case trouble::page_token_gone:
      return errc::content_changed;
    case trouble::rate_limited:
    case trouble::daily_limit:
    case trouble::busy:
      return errc::overloaded;
    case trouble::bad_range:
    case trouble::bad_request:
      return errc::invalid_argument;
    case trouble::timed_out:
      return errc::timed_out;
    case trouble::cancelled:
      return errc::cancelled;
    case trouble::malformed:
      return errc::broken_protocol;
    case trouble::not_enabled:
    case trouble::unavailable:
    case trouble::stalled:
    case trouble::sink:
      return errc::source_unavailable;
  }
  return errc::internal;
}

/// The public text of a `forbidden` error.
std::string forbidden_text(const std::string& reason, const std::string& whom) {
  if (reason == "teamDriveMembershipRequired")
    return "only members of its shared drive have access; add " + whom + " to the shared drive as a viewer";
  if (reason == "domainPolicy")
    return "the domain's administrator does not let applications use Drive; ask them to allow it under Apps, Google Workspace, "
           "Drive and Docs, Features and Applications";
  if (reason == "appNotAuthorizedToFile")
    return "the login covers only files that its application has opened; log in again with 'hondana login', which requests "
           "drive.readonly";
  if (reason == "cannotDownloadFile")
    return "its owner does not let viewers download, print or copy it; ask the owner to allow it in the file's sharing "
           "settings";
  return whom + " has no access to it; share it with " + whom + " as a viewer";
}

std::string text_for(trouble what, const std::string& reason, const circumstances& in, std::string_view wait) {
  const auto whom = in.account.empty() ? std::string("the account in use") : in.account;
  switch (what) {
    case trouble::not_found:
      return "it does not exist in Drive, or is not shared with " + whom + "; check whether it was deleted, or share it with " +
             whom + " as a viewer";
    case trouble::forbidden:
      return forbidden_text(reason, whom);
    case trouble::scope_missing:
      return "the token lacks a scope; set scopes to drive.readonly and log in again (if a service account impersonates a "
             "user, the administrator must allow that scope, too)";
    case trouble::unauthorized:
      return "Google rejects the token of " + whom + "; log in again with 'hondana login', or check that the key is enabled";
    case trouble::not_enabled:
      return "the Google Drive API is not enabled for the key's or client's project; enable it in the Google Cloud console "
             "under APIs & Services (drive.googleapis.com), and wait a few minutes";
    case trouble::export_too_large:
      return "the converted file is larger than the 10 MB that Drive exports; read it by its export link, or as another type";
    case trouble::not_downloadable:
      return "it is a document of a Google editor, which cannot be downloaded; export it as another type";
    case trouble::not_exportable:
      return "Drive does not convert it to that type; use one of its export types";
    case trouble::abusive:
      return "Google flagged it as malware or spam, and hondana never reads such files; its owner can ask Google for a review";
    case trouble::page_token_gone:
      return "the page token has expired; all files must be listed again";
    case trouble::rate_limited:
      return "too many requests to Drive in a short time; wait " + std::string(wait) +
             ", and lower requests_per_minute if it happens often";
    case trouble::daily_limit:
      return reason == "downloadQuotaExceeded"
                 ? "the file has been downloaded too often today; wait until tomorrow, or make a copy of it"
                 : "the project's daily quota is used up; wait until tomorrow, or request more in the Google Cloud console";
    case trouble::bad_range:
      return "the range starts after its end; request an earlier range";
    case trouble::bad_request:
      if (reason.starts_with("push.webhookUrl"))
        return "Google does not send notifications to this address; set notices to a public https: URL with a browser-trusted "
               "certificate (the Google Cloud project may have to own its domain)";
      return "Drive rejects the request as invalid; check the query terms of the source, if any (the log has Drive's message)";
    case trouble::gone:
      return "it was deleted permanently";
    case trouble::unavailable:
      return "Google Drive is unavailable; wait " + std::string(wait) + " and try again";
    case trouble::malformed:
      return "the answer is not from Google Drive; check for a proxy or a login page of the network";
    default:
      return "the answer ended early";
  }
}

}  // namespace

std::string_view name_of(trouble what) noexcept {
  const auto* const found =
      std::find_if(trouble_names.begin(), trouble_names.end(), [what](const auto& one) { return one.second == what; });
  return found == trouble_names.end() ? "sink" : found->first;
}

bool refusal::is_of_one_file() const noexcept {
  switch (what) {
    case trouble::not_found:
    case trouble::forbidden:
    case trouble::export_too_large:
    case trouble::not_downloadable:
    case trouble::not_exportable:
    case trouble::abusive:
    case trouble::bad_range:
    case trouble::gone:
    case trouble::too_large:
    case trouble::sink:
      return reason != "domainPolicy";
    case trouble::daily_limit:
      return reason == "downloadQuotaExceeded";
    default:
      return false;
  }
}

bool refusal::may_pass() const noexcept {
  return what == trouble::rate_limited || what == trouble::daily_limit || what == trouble::busy ||
         what == trouble::unavailable || what == trouble::stalled || what == trouble::timed_out;
}

refusal refusal_of(int status, std::string_view body, std::optional<std::chrono::milliseconds> retry_after,
                   const circumstances& in) {
  const auto said = words_of(body);
  refusal out;
  out.status = status;
  out.reason = said.reason.empty() ? said.detail : said.reason;
  out.what = trouble_of(status, said, in);
  out.why.code = code_of(out.what);
  out.why.retry = retry_after;
  if (out.what == trouble::daily_limit && !retry_after) out.why.retry = until_more_of_the_day;
  const auto wait = retry_after && retry_after->count() > 1'000
                        ? std::to_string(std::chrono::ceil<std::chrono::seconds>(*retry_after).count()) + " seconds"
                        : std::string("a minute");
  out.why.public_text = "cannot " + in.doing + ": " + text_for(out.what, out.reason, in, wait);
  out.why.private_text = "status " + std::to_string(status) + (out.reason.empty() ? "" : ", " + out.reason) +
                         (said.detail.empty() || said.detail == out.reason ? "" : ", " + said.detail) +
                         (said.message.empty() ? "" : ": " + said.message);
  return out;
}

}  // namespace hondana::drive
