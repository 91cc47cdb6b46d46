/// The calls: what is sent, what is tried again, and what is told.
#include "sources/gdrive/drive/client.hpp"

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "auth/oauth/form.hpp"
#include "unit/sources/gdrive/drive/played_drive.hpp"
#include "unit/transport/endpoint/closed_port.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::drive::client;
using hondana::drive::client_settings;
using hondana::drive::error_kind;
using hondana::drive::list_request;
using hondana_test::drive_error;
using hondana_test::drive_reply;
using hondana_test::heard_request;
using hondana_test::played_drive;
using hondana_test::within;

/// The parameters of a request by name.
std::map<std::string, std::string> query_of(const heard_request& from) {
  std::map<std::string, std::string> out;
  const auto begin = from.target.find('?');
  const auto all = hondana::oauth::read_query(begin == std::string::npos ? "" : from.target.substr(begin + 1));
  EXPECT_TRUE(all);
  if (all) out.insert(all->begin(), all->end());
  return out;
}

std::string path_of(const heard_request& from) { return from.target.substr(0, from.target.find('?')); }

using parameters = std::map<std::string, std::string>;

TEST(drive_calls, ask_at_the_paths_of_the_api_with_its_parameters) {
  played_drive google({{200, R"({"files":[],"nextPageToken":"n"})"}});
  const auto it = google.client();
  list_request list;
  list.q = hondana::drive::query().name_equals("O'Brien & Söhne\\").text();
  list.fields = "id,name";
  auto how = within();
  how.resource_keys = {{"abc", "0-key"}, {"folder", "0-other"}};
  const auto page = it->list_files(list, how);
  ASSERT_TRUE(page) << page.error().details.public_text;
  EXPECT_EQ(page->next_page_token, "n");
  const auto asked = google.asked();
  EXPECT_EQ(asked.method, "GET");
  EXPECT_EQ(path_of(asked), "/drive/v3/files");
  EXPECT_EQ(query_of(asked), (parameters{{"q", R"(name = 'O\'Brien & Söhne\\')"},
                                         {"corpora", "user"},
                                         {"pageSize", "1000"},
                                         {"spaces", "drive"},
                                         {"includeItemsFromAllDrives", "true"},
                                         {"supportsAllDrives", "true"},
                                         {"fields", "nextPageToken,incompleteSearch,files(id,name)"}}));
  EXPECT_EQ(asked.field("authorization"), "Bearer t-1");
  EXPECT_EQ(asked.field("x-goog-drive-resource-keys"), "abc/0-key,folder/0-other");
  EXPECT_EQ(asked.field("accept-encoding"), "gzip");

  list = {.corpus = list_request::search_corpus::drive,
          .drive_id = "0AD",
          .order_by = "modifiedTime desc",
          .page_token = "a+b/c=",
          .page_size = 9'999};
  ASSERT_TRUE(it->list_files(list, within()));
  const auto second = query_of(google.asked(1));
  EXPECT_EQ(second.at("corpora"), "drive");
  EXPECT_EQ(second.at("driveId"), "0AD");
  EXPECT_EQ(second.at("orderBy"), "modifiedTime desc");
  EXPECT_EQ(second.at("pageToken"), "a+b/c=");
  EXPECT_EQ(second.at("pageSize"), "1000");
  EXPECT_FALSE(second.contains("q"));
  // What nobody uses is not asked for: it may be as long as whoever shares a file likes.
  EXPECT_EQ(second.at("fields"),
            "nextPageToken,incompleteSearch,files(id,name,mimeType,parents,driveId,size,version,headRevisionId,md5Checksum,"
            "modifiedTime,createdTime,owners(displayName,emailAddress),webViewLink,resourceKey,"
            "shortcutDetails(targetId,targetMimeType,targetResourceKey),trashed,starred,capabilities(canDownload))");
}

/// Answers of more than 32 MiB for more than so many entries at once, and keeps what was asked for.
struct too_large_beyond {
  int most;
  std::mutex mutex{};
  std::vector<int> sizes{};
  played_drive google{
      [this, large = std::string((32u << 20) + 1, ' ')](const heard_request& asked, hondana_test::scripted_connection& to) {
        const int size = std::stoi(query_of(asked).at("pageSize"));
        const std::lock_guard lock(mutex);
        sizes.push_back(size);
        if (size > most) return to.answer(200, "application/json", large);
        return to.answer(200, "application/json",
                         path_of(asked) == "/drive/v3/files" ? R"({"files":[],"nextPageToken":"n"})"
                                                             : R"({"changes":[],"nextPageToken":"n"})");
      }};

  explicit too_large_beyond(int size) : most(size) {}
};

TEST(drive_calls, of_which_the_answer_is_too_large_ask_for_half_as_many_and_then_for_more_again) {
  too_large_beyond place(100);
  const auto it = place.google.client();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(it->list_files({}, within()));
  EXPECT_EQ(place.sizes, (std::vector{1'000, 500, 250, 125, 62, 124, 62})) << "it does not begin again with all";
  place.most = 1'000;
  place.sizes.clear();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(it->list_files({.page_token = "n"}, within()));
  EXPECT_EQ(place.sizes, (std::vector{124, 248, 496, 992, 1'000, 1'000}));
  place.sizes.clear();
  place.most = 10;
  ASSERT_TRUE(it->list_changes({.page_token = "n", .page_size = 40}, within()));
  EXPECT_EQ(place.sizes, (std::vector{40, 20, 10}));
}

TEST(drive_calls, of_which_the_answer_is_too_large_for_one_entry_end) {
  too_large_beyond place(0);
  const auto it = place.google.client();
  const auto got = it->list_changes({.page_token = "n", .page_size = 4}, within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::too_large);
  EXPECT_EQ(place.sizes, (std::vector{4, 2, 1}));
}

TEST(drive_calls, of_all_kinds_go_where_they_belong) {
  std::map<std::string, std::string> bodies{
      {"/drive/v3/about", R"({"user":{"displayName":"A","emailAddress":"a@example.com"}})"},
      {"/drive/v3/drives", R"({"drives":[{"id":"0AD","name":"Team"}]})"},
      {"/drive/v3/drives/0AD", R"({"id":"0AD","name":"Team"})"},
      {"/drive/v3/files/abc", R"({"id":"abc","name":"n"})"},
      {"/drive/v3/changes/startPageToken", R"({"startPageToken":"17"})"},
      {"/drive/v3/changes", R"({"changes":[],"newStartPageToken":"18"})"},
      {"/drive/v3/changes/watch", R"({"id":"c-1","resourceId":"r-1"})"},
      {"/drive/v3/channels/stop", ""},
  };
  played_drive google([&bodies](const heard_request& asked, hondana_test::scripted_connection& to) {
    const auto found = bodies.find(path_of(asked));
    return to.answer(found == bodies.end() ? 404 : 200, "application/json", found == bodies.end() ? "" : found->second);
  });
  google.tokens->account_name.clear();
  const auto it = google.client();
  EXPECT_EQ(it->account(), "");
  EXPECT_EQ(it->get_about(within())->user.name, "A");
  EXPECT_EQ(it->account(), "a@example.com");
  EXPECT_EQ(it->list_drives("tok", within(), 500)->drives.at(0).name, "Team");
  EXPECT_EQ(it->get_drive("0AD", within())->name, "Team");
  EXPECT_EQ(it->get_file("abc", within())->name, "n");
  EXPECT_EQ(it->get_start_page_token("0AD", within()).value_or(""), "17");
  EXPECT_EQ(it->list_changes({.page_token = "17", .drive_id = "0AD"}, within())->new_start_page_token, "18");
  EXPECT_EQ(it->watch_changes(
                  {.changes = {.page_token = "18"}, .id = "c-1", .address = "https://h.example/n", .token = "s", .ttl = 3'600s},
                  within())
                ->resource_id,
            "r-1");
  EXPECT_TRUE(it->stop_channel("c-1", "r-1", within()));

  const auto asked = google.server().requests(8);
  EXPECT_EQ(query_of(asked[0]), (parameters{{"fields", "user(displayName,emailAddress),exportFormats"}}));
  EXPECT_EQ(
      query_of(asked[1]),
      (parameters{{"pageSize", "100"}, {"pageToken", "tok"}, {"fields", "nextPageToken,drives(id,name,createdTime,hidden)"}}));
  EXPECT_EQ(query_of(asked[3]).at("supportsAllDrives"), "true");
  EXPECT_EQ(query_of(asked[4]), (parameters{{"driveId", "0AD"}, {"supportsAllDrives", "true"}}));
  const auto changes = query_of(asked[5]);
  EXPECT_EQ(changes.at("pageToken"), "17");
  EXPECT_EQ(changes.at("driveId"), "0AD");
  EXPECT_EQ(changes.at("includeRemoved"), "true");
  EXPECT_EQ(changes.at("includeItemsFromAllDrives"), "true");
  EXPECT_EQ(changes.at("fields").find("nextPageToken,newStartPageToken,changes(changeType,removed,time,fileId,driveId,file("),
            0u);
  EXPECT_EQ(asked[6].method, "POST");
  EXPECT_EQ(asked[6].field("content-type"), "application/json");
  EXPECT_EQ(asked[6].body,
            R"({"id":"c-1","type":"web_hook","address":"https://h.example/n","token":"s","params":{"ttl":"3600"}})");
  EXPECT_EQ(asked[7].body, R"({"id":"c-1","resourceId":"r-1"})");
}

TEST(drive_calls, with_what_is_no_identifier_are_not_sent) {
  played_drive google({drive_reply{}});
  const auto it = google.client();
  for (const auto* id : {"../../admin", "", "a/b", "a%2Fb", "a?alt=media", "a b", "é"}) {
    EXPECT_EQ(it->get_file(id, within()).error().kind, error_kind::bad_request) << id;
    EXPECT_EQ(it->get_drive(id, within()).error().kind, error_kind::bad_request);
    EXPECT_EQ(it->get_content(id, {}, {}, within()).error().details.code, errc::invalid_argument);
    EXPECT_EQ(it->export_content(id, "text/plain", {}, within()).error().kind, error_kind::bad_request);
    // Empty means the user's log.
    if (*id != '\0') {
      EXPECT_EQ(it->list_changes({.page_token = "1", .drive_id = id}, within()).error().kind, error_kind::bad_request);
    }
  }
  EXPECT_EQ(it->export_content("abc", "text/plain\r\nX: y", {}, within()).error().kind, error_kind::bad_request);
  EXPECT_EQ(it->list_changes({}, within()).error().kind, error_kind::bad_request);
  EXPECT_EQ(it->list_files({.corpus = list_request::search_corpus::drive}, within()).error().kind, error_kind::bad_request);
  EXPECT_EQ(it->list_files({.drive_id = "0AD"}, within()).error().kind, error_kind::bad_request);
  EXPECT_EQ(it->list_files({.q = std::string(7'000, 'x')}, within()).error().kind, error_kind::bad_request);
  EXPECT_EQ(it->watch_changes({.changes = {.page_token = "1"}, .id = "c", .address = "http://h"}, within()).error().kind,
            error_kind::bad_request);
  EXPECT_EQ(it->watch_changes({.changes = {.page_token = "1"}, .id = "c d", .address = "https://h"}, within()).error().kind,
            error_kind::bad_request);
  EXPECT_EQ(it->current_statistics().requests, 0u);
}

TEST(drive_calls, that_may_pass_are_made_again_with_pauses) {
  played_drive google({drive_error(403, "userRateLimitExceeded"),
                       drive_error(429, "rateLimitExceeded"),
                       {503, "<html>"},
                       drive_error(500, "backendError"),
                       {200, R"({"id":"abc","name":"n"})"}});
  auto with = google.settings();
  std::mutex mutex;
  std::vector<std::string> lines;
  with.log = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  };
  const auto it = google.client(with);
  const auto got = it->get_file("abc", within());
  ASSERT_TRUE(got) << got.error().details.public_text;
  EXPECT_EQ(got->name, "n");
  EXPECT_EQ(it->current_statistics().requests, 5u);
  EXPECT_EQ(it->current_statistics().retries, 4u);
  EXPECT_EQ(it->current_statistics().throttled, 2u);
  EXPECT_EQ(it->current_statistics().rate_limit.pauses, 2u);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(
      lines[0].find("cannot read metadata of the file abc now (rate_limited, status 403, userRateLimitExceeded); retrying in "),
      0u)
      << lines[0];
  for (const auto& line : lines) EXPECT_EQ(line.find("t-1"), std::string::npos);
}

TEST(drive_calls, end_after_all_attempts_and_say_how_many) {
  played_drive google({drive_error(503, "backendError")});
  auto with = google.settings();
  with.max_attempts = 3;
  const auto it = google.client(with);
  const auto got = it->get_file("abc", within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::unavailable);
  EXPECT_EQ(got.error().status, 503);
  EXPECT_TRUE(got.error().details.retry_after.has_value());
  EXPECT_NE(got.error().details.public_text.find("(tried 3 times)"), std::string::npos) << got.error().details.public_text;
  EXPECT_EQ(it->current_statistics().requests, 3u);
}

TEST(drive_calls, that_cannot_pass_are_made_once) {
  for (const auto* reason :
       {"dailyLimitExceeded", "insufficientFilePermissions", "accessNotConfigured", "exportSizeLimitExceeded",
        "insufficientPermissions", "domainPolicy", "cannotDownloadAbusiveFile"}) {
    played_drive google({drive_error(403, reason)});
    const auto it = google.client();
    EXPECT_FALSE(it->get_file("abc", within()));
    EXPECT_EQ(it->current_statistics().requests, 1u) << reason;
  }
}

TEST(drive_calls, wait_as_long_as_they_are_asked_to_but_not_for_ever) {
  played_drive google({drive_error(429, "rateLimitExceeded", "m", "Retry-After: 1\r\n"), {200, R"({"id":"abc"})"}});
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(google.client()->get_file("abc", within()));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);

  const hondana::manual_clock clock;
  played_drive long_one({drive_error(429, "rateLimitExceeded", "m", "Retry-After: 3600\r\n")});
  const auto it = long_one.client();
  const auto got = it->get_file("abc", within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().details.retry_after, std::chrono::milliseconds(3'600'000));
  EXPECT_EQ(it->current_statistics().requests, 1u);
  // And nobody else asks meanwhile.
  EXPECT_EQ(it->current_statistics().rate_limit.remaining_pause, 120s);
  const auto next = it->get_file("abc", within(5s));
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, error_kind::rate_limited);
  EXPECT_EQ(next.error().details.code, errc::overloaded);
  EXPECT_EQ(it->current_statistics().requests, 1u);
}

TEST(drive_calls, with_a_token_that_is_refused_are_made_with_another_once) {
  played_drive google({drive_error(401, "authError"), {200, R"({"id":"abc"})"}});
  ASSERT_TRUE(google.client()->get_file("abc", within()));
  EXPECT_EQ(google.asked(0).field("authorization"), "Bearer t-1");
  EXPECT_EQ(google.asked(1).field("authorization"), "Bearer t-2");

  played_drive never({drive_error(401, "authError")});
  const auto it = never.client();
  const auto got = it->get_file("abc", within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::unauthorized);
  EXPECT_EQ(it->current_statistics().requests, 2u);
}

TEST(drive_calls, without_a_token_are_not_sent) {
  played_drive google({drive_reply{}});
  google.tokens->fail_with({errc::unauthorized, "the log-in has been revoked; log in again", "secret words"});
  const auto it = google.client();
  const auto got = it->list_drives({}, within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::unauthorized);
  EXPECT_EQ(got.error().details.public_text, "cannot list the shared drives: the log-in has been revoked; log in again");
  EXPECT_EQ(it->current_statistics().requests, 0u);
}

TEST(drive_calls, that_bring_what_is_none_of_drives_say_so) {
  for (const auto& body : {std::string("<html>log in</html>"), std::string("{}"), std::string(R"({"files":"../x"})")}) {
    played_drive google({{200, body}});
    const auto got = google.client()->list_files({}, within());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, error_kind::malformed);
    EXPECT_EQ(got.error().details.code, errc::protocol_error);
    EXPECT_EQ(got.error().details.public_text.find("../x"), std::string::npos);
  }
  // A redirect to a page of the network, which sees no token.
  played_drive portal({{200, R"({"id":"abc"})"}});
  played_drive google({{302, "", "Location: " + portal.settings().base_url + "/login\r\n"}});
  auto with = google.settings();
  with.max_attempts = 2;
  const auto got = google.client(with)->get_file("abc", within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::unavailable);
  EXPECT_EQ(portal.server().connections(), 0u);
}

TEST(drive_calls, end_when_they_are_stopped_or_their_time_is_over) {
  std::promise<void> over;
  const auto waiting = over.get_future().share();
  played_drive google([waiting](const heard_request&, hondana_test::scripted_connection&) {
    waiting.wait_for(hondana_test::event_deadline);
    return false;
  });
  const auto it = google.client();
  std::stop_source stop;
  auto first = std::async(std::launch::async, [&] {
    auto how = within();
    how.stop = stop.get_token();
    return it->get_file("abc", how);
  });
  EXPECT_EQ(google.server().requests(1).size(), 1u);
  stop.request_stop();
  EXPECT_EQ(first.get().error().kind, error_kind::cancelled);
  auto how = within();
  how.deadline = std::chrono::steady_clock::now() + 50ms;
  const auto late = it->get_file("abc", how);
  EXPECT_EQ(late.error().kind, error_kind::timed_out);
  EXPECT_EQ(late.error().details.code, errc::timed_out);
  over.set_value();
}

TEST(drive_calls, of_a_crawl_leave_connections_to_those_who_wait) {
  std::promise<void> over;
  const auto waiting = over.get_future().share();
  played_drive google([waiting](const heard_request& asked, hondana_test::scripted_connection& to) {
    if (asked.target.find("/read?") == std::string::npos) waiting.wait_for(hondana_test::event_deadline);
    return to.answer(200, "application/json", R"({"id":"abc"})");
  });
  const auto it = google.client();
  std::vector<std::future<bool>> crawl;
  for (int i = 0; i < 9; ++i)
    crawl.push_back(std::async(std::launch::async, [&it] {
      auto how = within();
      how.priority = hondana::drive::request_priority::crawling;
      return it->get_file("crawled", how).has_value();
    }));
  EXPECT_EQ(google.server().requests(5).size(), 5u);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(it->get_file("read", within()));
  EXPECT_EQ(it->current_statistics().requests, 9u);
  auto late = within();
  late.priority = hondana::drive::request_priority::crawling;
  late.deadline = std::chrono::steady_clock::now() + 20ms;
  EXPECT_EQ(it->get_file("crawled", late).error().kind, error_kind::busy);
  over.set_value();
  for (auto& one : crawl) EXPECT_TRUE(one.get());
}

TEST(drive_calls, to_nobody_are_made_again_and_then_told) {
  const hondana_test::closed_port port;
  auto with = played_drive({drive_reply{}}).settings();
  with.base_url = port.url("");
  with.max_attempts = 2;
  const auto it = client::create(with, std::make_shared<hondana_test::played_tokens>());
  ASSERT_TRUE(it);
  const auto got = (*it)->get_file("abc", within());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::unavailable);
  EXPECT_EQ((*it)->current_statistics().requests, 2u);
}

TEST(drive_settings, that_cannot_be_are_named) {
  const auto tokens = std::make_shared<hondana_test::played_tokens>();
  const auto why = [&](const std::function<void(client_settings&)>& change) {
    client_settings with;
    change(with);
    const auto got = client::create(with, tokens);
    return got ? std::string("taken") : got.error().public_text;
  };
  EXPECT_EQ(why([](client_settings&) {}), "taken");
  for (const auto* base :
       {"http://www.googleapis.com", "ftp://x", "https://a@b", "https://x/path", "https://x?y=1", "https://x#f", ""})
    EXPECT_NE(why([&](client_settings& it) { it.base_url = base; }), "taken") << base;
  EXPECT_EQ(why([](client_settings& it) { it.base_url = "http://127.0.0.1:8080"; }), "taken");
  EXPECT_NE(why([](client_settings& it) {
              it.base_url = "http://127.0.0.1:8080";
              it.proxy = "http://192.0.2.1:3128";
            }).find("through a proxy"),
            std::string::npos);
  EXPECT_NE(why([](client_settings& it) { it.quota.per_second = 0; }).find("requests per second"), std::string::npos);
  EXPECT_NE(why([](client_settings& it) { it.quota.per_minute = -1; }).find("per minute"), std::string::npos);
  EXPECT_NE(why([](client_settings& it) { it.max_attempts = 0; }).find("attempts"), std::string::npos);
  EXPECT_NE(why([](client_settings& it) { it.request_timeout = 0ms; }).find("times"), std::string::npos);
  EXPECT_FALSE(client::create({}, nullptr));
}

}  // namespace
