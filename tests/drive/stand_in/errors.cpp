/// Which message goes with which reason.
#include "drive/stand_in/errors.hpp"

#include <boost/json.hpp>

#include <map>

namespace drive_test {
namespace {

namespace json = boost::json;

struct kind {
  std::string domain;
  std::string message;   // '@' stands for what it is about
  std::string detail{};  // of the inner error, when it is another one
};

const std::map<std::string, kind, std::less<>>& kinds() {
  static const std::map<std::string, kind, std::less<>> all{
      {"notFound", {"global", "File not found: @."}},
      {"invalid", {"global", "Invalid Value"}},
      {"badRequest", {"global", "Bad Request"}},
      {"required", {"global", "Required parameter: @"}},
      {"invalidParameter", {"global", "Invalid field selection @"}},
      {"authError",
       {"global",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
        "authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
        "Invalid Credentials"}},
      {"forbidden",
       {"global",
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of "
        "API consumer identity to call this API."}},
      {"insufficientPermissions", {"global", "Request had insufficient authentication scopes.", "Insufficient Permission"}},
      {"insufficientFilePermissions", {"global", "The user does not have sufficient permissions for file @."}},
      {"appNotAuthorizedToFile", {"global", "The user has not granted the app @ read access to the file."}},
      {"domainPolicy", {"global", "The domain administrators have disabled Drive apps."}},
      {"accessNotConfigured",
       {"usageLimits",
        "Google Drive API has not been used in project 1234567890 before or it is disabled. Enable it by visiting "
        "https://console.developers.google.com/apis/api/drive.googleapis.com/overview?project=1234567890 then retry. If you "
        "enabled this API recently, wait a few minutes for the action to propagate to our systems and retry."}},
      {"userRateLimitExceeded",
       {"usageLimits",
        "User Rate Limit Exceeded. Rate of requests for user exceed configured project quota, you may consider re-evaluating "
        "expected per-user traffic to the API and adjust project quota limits accordingly."}},
      {"rateLimitExceeded", {"usageLimits", "Rate Limit Exceeded"}},
      {"dailyLimitExceeded", {"usageLimits", "Daily Limit Exceeded"}},
      {"quotaExceeded", {"usageLimits", "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'."}},
      {"downloadQuotaExceeded", {"usageLimits", "The download quota for this file has been exceeded."}},
      {"sharingRateLimitExceeded", {"usageLimits", "Rate limit exceeded. User message: \"Sorry, you cannot share now.\""}},
      {"fileNotDownloadable",
       {"global", "Only files with binary content can be downloaded. Use Export with Docs Editors files."}},
      {"fileNotExportable", {"global", "Export only supports Docs Editors files."}},
      {"exportSizeLimitExceeded", {"global", "This file is too large to be exported."}},
      {"cannotDownloadAbusiveFile", {"global", "This file has been identified as malware or spam and cannot be downloaded."}},
      {"invalidAbuseAcknowledgment",
       {"global", "The user is not authorized to acknowledge the risk of downloading this file."}},
      {"cannotDownloadFile", {"global", "This file cannot be downloaded by the user."}},
      {"cannotExportFile", {"global", "This file cannot be exported by the user."}},
      {"requestedRangeNotSatisfiable", {"global", "Request range not satisfiable"}},
      {"pageTokenExpired", {"global", "The page token has expired. Start again without it."}},
      {"gone", {"global", "Gone"}},
      {"teamDriveIdRequiresTeamDriveCorpora",
       {"global", "The driveId parameter must be specified if and only if corpora is set to drive."}},
      {"includeTeamDriveItemsRequired",
       {"global",
        "The includeItemsFromAllDrives parameter must be set to true when driveId is specified or corpora contains drive or "
        "allDrives."}},
      {"teamDrivesNotSupported", {"global", "The supportsAllDrives parameter must be set to true for this request."}},
      {"internalError", {"global", "Internal Error"}},
      {"backendError", {"global", "Internal Error"}},
      {"transientError", {"global", "Transient failure."}},
      {"channelIdNotUnique", {"global", "Channel id @ not unique"}},
      {"push.webhookUrlNotHttps", {"global", "WebHook callback must be HTTPS: @"}},
  };
  return all;
}

std::string about(std::string text, std::string_view what) {
  if (const auto at = text.find('@'); at != std::string::npos) text.replace(at, 1, what);
  return text;
}

}  // namespace

answer error_of(int status, std::string_view reason, std::string_view what, std::string_view message, const at_place& at) {
  const auto found = kinds().find(reason);
  const kind of = found == kinds().end() ? kind{"global", std::string(reason)} : found->second;
  const auto said = message.empty() ? about(of.message, what) : std::string(message);
  json::object inner{
      {"message", of.detail.empty() || !message.empty() ? said : of.detail}, {"domain", of.domain}, {"reason", reason}};
  if (!at.name.empty()) {
    inner["location"] = at.name;
    inner["locationType"] = at.type;
  }
  if (reason == "accessNotConfigured") inner["extendedHelp"] = "https://console.developers.google.com";
  json::object outer{{"code", status}, {"message", said}, {"errors", json::array{inner}}};
  answer out;
  out.status = status;
  if (status == 401) {
    outer["status"] = "UNAUTHENTICATED";
    out.more_fields = "WWW-Authenticate: Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"\r\n";
  }
  if (reason == "insufficientPermissions") {
    outer["status"] = "PERMISSION_DENIED";
    outer["details"] = json::array{json::object{{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
                                                {"reason", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"},
                                                {"domain", "googleapis.com"},
                                                {"metadata", json::object{{"service", "drive.googleapis.com"}}}}};
    out.more_fields =
        "WWW-Authenticate: Bearer realm=\"https://accounts.google.com/\", error=\"insufficient_scope\", "
        "scope=\"https://www.googleapis.com/auth/drive https://www.googleapis.com/auth/drive.readonly\"\r\n";
  }
  out.body = json::serialize(json::object{{"error", outer}});
  return out;
}

std::string usual_reason(int status) {
  switch (status) {
    case 400:
      return "badRequest";
    case 401:
      return "authError";
    case 403:
      return "insufficientFilePermissions";
    case 404:
      return "notFound";
    case 410:
      return "gone";
    case 416:
      return "requestedRangeNotSatisfiable";
    case 429:
      return "rateLimitExceeded";
    case 500:
      return "internalError";
    case 503:
      return "transientError";
    default:
      return "backendError";
  }
}

answer token_error(int status, std::string_view error, std::string_view description) {
  answer out;
  out.status = status;
  out.type = "application/json; charset=utf-8";
  out.body = json::serialize(json::object{{"error", error}, {"error_description", description}});
  return out;
}

void refuse(int status, std::string_view reason, std::string_view what, std::string_view message, const at_place& at) {
  throw refused(error_of(status, reason, what, message, at));
}

void refuse_parameter(std::string_view name, std::string_view message) {
  refuse(400, "invalid", {}, message, {"parameter", std::string(name)});
}

void refuse_file(std::string_view id) { refuse(404, "notFound", id, {}, {"parameter", "fileId"}); }

}  // namespace drive_test
