/// Every error body of Drive, and what is said of it.
#include "sources/gdrive/drive/drive_error.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/gdrive/drive/played_drive.hpp"

namespace {

using hondana::errc;
using hondana::drive::classify_error;
using hondana::drive::error_context;
using hondana::drive::error_kind;
using hondana_test::drive_error;

const error_context usual{.operation = "read the file abc", .account = "reader@team.iam.gserviceaccount.com"};

struct error_case {
  int status;
  std::string reason;
  error_kind what;
  errc code;
  std::string says;
};

TEST(drive_refusals, say_for_each_reason_what_to_do) {
  const std::vector<error_case> cases{
      {400, "badRequest", error_kind::bad_request, errc::invalid_argument, "rejects the request as invalid"},
      {400, "invalid", error_kind::bad_request, errc::invalid_argument, "query terms"},
      {401, "authError", error_kind::unauthorized, errc::unauthorized, "log in again"},
      {401, "required", error_kind::unauthorized, errc::unauthorized, "log in again"},
      {401, "expired", error_kind::unauthorized, errc::unauthorized, "log in again"},
      {401, "push.webhookUrlUnauthorized", error_kind::bad_request, errc::invalid_argument,
       "does not send notifications to this address"},
      {400, "push.webhookUrlNotHttps", error_kind::bad_request, errc::invalid_argument,
       "does not send notifications to this address"},
      {403, "userRateLimitExceeded", error_kind::rate_limited, errc::overloaded, "wait a minute"},
      {403, "rateLimitExceeded", error_kind::rate_limited, errc::overloaded, "lower requests_per_minute"},
      {403, "sharingRateLimitExceeded", error_kind::rate_limited, errc::overloaded, "wait a minute"},
      {403, "dailyLimitExceeded", error_kind::daily_limit, errc::overloaded, "until tomorrow"},
      {403, "quotaExceeded", error_kind::daily_limit, errc::overloaded, "request more"},
      {403, "downloadQuotaExceeded", error_kind::daily_limit, errc::overloaded, "make a copy"},
      {403, "insufficientFilePermissions", error_kind::forbidden, errc::access_denied,
       "share it with reader@team.iam.gserviceaccount.com as a viewer"},
      {403, "insufficientPermissions", error_kind::insufficient_scope, errc::unauthorized, "set scopes to drive.readonly"},
      {403, "accessNotConfigured", error_kind::not_enabled, errc::source_unavailable, "enable it in the Google Cloud console"},
      {403, "domainPolicy", error_kind::forbidden, errc::access_denied, "the domain's administrator"},
      {403, "appNotAuthorizedToFile", error_kind::forbidden, errc::access_denied, "hondana login"},
      {403, "cannotDownloadFile", error_kind::forbidden, errc::access_denied, "sharing settings"},
      {403, "cannotDownloadAbusiveFile", error_kind::abusive, errc::access_denied, "malware or spam"},
      {403, "exportSizeLimitExceeded", error_kind::export_too_large, errc::response_too_large, "10 MB"},
      {403, "fileNotDownloadable", error_kind::not_downloadable, errc::unsupported, "export it"},
      {403, "fileNotExportable", error_kind::not_exportable, errc::unsupported, "one of its export types"},
      {403, "teamDriveMembershipRequired", error_kind::forbidden, errc::access_denied,
       "add reader@team.iam.gserviceaccount.com"},
      {403, "pageTokenExpired", error_kind::page_token_gone, errc::content_changed, "listed again"},
      {403, "somethingNew", error_kind::forbidden, errc::access_denied, "share it with"},
      {404, "notFound", error_kind::not_found, errc::resource_not_found,
       "share it with reader@team.iam.gserviceaccount.com as a viewer"},
      {410, "gone", error_kind::gone, errc::resource_not_found, "deleted permanently"},
      {412, "conditionNotMet", error_kind::bad_request, errc::invalid_argument, "rejects the request as invalid"},
      {416, "requestedRangeNotSatisfiable", error_kind::bad_range, errc::invalid_argument, "range"},
      {429, "rateLimitExceeded", error_kind::rate_limited, errc::overloaded, "wait a minute"},
      {429, "", error_kind::rate_limited, errc::overloaded, "wait a minute"},
      {500, "backendError", error_kind::unavailable, errc::source_unavailable, "Drive is unavailable"},
      {502, "", error_kind::unavailable, errc::source_unavailable, "try again"},
      {503, "backendError", error_kind::unavailable, errc::source_unavailable, "try again"},
      {504, "", error_kind::unavailable, errc::source_unavailable, "try again"},
  };
  for (const auto& [status, reason, what, code, says] : cases) {
    const auto got = classify_error(status, drive_error(status, reason, "It says: \\u3042 so").body, {}, usual);
    EXPECT_EQ(name_of(got.kind), name_of(what)) << status << ' ' << reason;
    EXPECT_EQ(got.details.code, code) << status << ' ' << reason;
    EXPECT_EQ(got.reason, reason);
    EXPECT_EQ(got.status, status);
    EXPECT_EQ(got.details.public_text.find("cannot read the file abc: "), 0u);
    EXPECT_NE(got.details.public_text.find(says), std::string::npos) << got.details.public_text;
    // Google's own words are for the log.
    EXPECT_EQ(got.details.public_text.find("It says"), std::string::npos);
    EXPECT_NE(got.details.private_text.find("It says: ??? so"), std::string::npos) << got.details.private_text;
    // Without a body that is Drive's, the status says it.
    const auto bare = classify_error(status, "<html>Error</html>", {}, usual);
    EXPECT_EQ(bare.reason, "");
    EXPECT_FALSE(bare.details.public_text.empty());
  }
}

TEST(drive_refusals, of_page_tokens_have_three_forms) {
  auto in = usual;
  in.has_page_token = true;
  const auto what = [&in](int status, const hondana_test::drive_reply& reply) {
    return std::string(name_of(classify_error(status, reply.body, {}, in).kind));
  };
  EXPECT_EQ(what(403, drive_error(403, "pageTokenExpired")), "page_token_gone");
  EXPECT_EQ(what(400, drive_error(400, "invalid", "Invalid Value", {}, "pageToken")), "page_token_gone");
  EXPECT_EQ(what(400, drive_error(400, "invalid", "Invalid Value")), "page_token_gone");
  EXPECT_EQ(what(410, drive_error(410, "gone")), "page_token_gone");
  EXPECT_EQ(what(410, {410, "", {}, {}}), "page_token_gone");
  EXPECT_EQ(what(404, drive_error(404, "notFound", "Page token not found", {}, "pageToken")), "page_token_gone");
  // Of something else.
  EXPECT_EQ(what(400, drive_error(400, "invalid", "Invalid Value", {}, "q")), "bad_request");
  EXPECT_EQ(what(404, drive_error(404, "notFound", "Shared drive not found", {}, "driveId")), "not_found");
  in.has_page_token = false;
  EXPECT_EQ(what(400, drive_error(400, "invalid", "Invalid Value", {}, "pageToken")), "bad_request");
}

TEST(drive_refusals, by_details_say_more_than_forbidden) {
  const auto with_detail = [](const std::string& detail) {
    return R"({"error":{"code":403,"message":"m","errors":[{"reason":"forbidden"}],"status":"PERMISSION_DENIED","details":[)"
           R"({"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":")" +
           detail + R"("}]}})";
  };
  EXPECT_EQ(classify_error(403, with_detail("ACCESS_TOKEN_SCOPE_INSUFFICIENT"), {}, usual).kind,
            error_kind::insufficient_scope);
  EXPECT_EQ(classify_error(403, with_detail("SERVICE_DISABLED"), {}, usual).kind, error_kind::not_enabled);
  EXPECT_EQ(classify_error(403, with_detail("RATE_LIMIT_EXCEEDED"), {}, usual).kind, error_kind::rate_limited);
  EXPECT_EQ(classify_error(403, with_detail("OTHER"), {}, usual).kind, error_kind::forbidden);
}

TEST(drive_refusals, of_exports_mean_the_type) {
  auto in = usual;
  in.is_export = true;
  EXPECT_EQ(classify_error(400, drive_error(400, "badRequest", "The requested conversion is not supported.").body, {}, in).kind,
            error_kind::not_exportable);
}

TEST(drive_refusals, tell_how_long_to_wait_and_whom_they_concern) {
  using namespace std::chrono_literals;
  const auto limited = classify_error(429, "", 90s, usual);
  EXPECT_EQ(limited.details.retry_after, 90'000ms);
  EXPECT_NE(limited.details.public_text.find("wait 90 seconds"), std::string::npos);
  EXPECT_TRUE(limited.is_transient());
  EXPECT_TRUE(classify_error(403, drive_error(403, "dailyLimitExceeded").body, {}, usual).details.retry_after.has_value());
  EXPECT_TRUE(classify_error(404, drive_error(404, "notFound").body, {}, usual).is_file_specific());
  EXPECT_TRUE(classify_error(403, drive_error(403, "downloadQuotaExceeded").body, {}, usual).is_file_specific());
  for (const auto* reason : {"dailyLimitExceeded", "domainPolicy", "accessNotConfigured", "insufficientPermissions"})
    EXPECT_FALSE(classify_error(403, drive_error(403, reason).body, {}, usual).is_file_specific()) << reason;
  EXPECT_FALSE(classify_error(401, "", {}, usual).is_file_specific());
  auto nobody = usual;
  nobody.account.clear();
  EXPECT_NE(classify_error(404, "", {}, nobody).details.public_text.find("the account in use"), std::string::npos);
}

TEST(drive_refusals, of_bodies_that_are_none_go_by_the_status) {
  for (const auto& body :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"error":[]})"),
        std::string(R"({"error":{"errors":{}}})"), std::string(R"({"error":{"errors":[7],"details":[7,{"reason":7}]}})"),
        std::string(R"({"error":{"errors":[]}})"), std::string(R"({"error":"invalid_token","error_description":"x"})"),
        std::string(100'000, '{'), std::string("\xff\xfe")}) {
    EXPECT_EQ(classify_error(404, body, {}, usual).kind, error_kind::not_found) << body.substr(0, 60);
    EXPECT_EQ(classify_error(503, body, {}, usual).kind, error_kind::unavailable);
    EXPECT_EQ(classify_error(302, body, {}, usual).kind, error_kind::malformed);
    EXPECT_EQ(classify_error(418, body, {}, usual).kind, error_kind::bad_request);
  }
}

}  // namespace
