/// Contents: whole, in parts, cut off, too slow, too large, and by export links.
#include "sources/gdrive/drive/client.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/gdrive/drive/request_sender.hpp"
#include "unit/sources/gdrive/drive/played_drive.hpp"
#include "unit/transport/endpoint/packed.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::result;
using hondana::drive::byte_range;
using hondana::drive::check_link;
using hondana::drive::error_kind;
using hondana::drive::parse_content_range;
using hondana::drive::resolve_redirect;
using hondana_test::drive_error;
using hondana_test::drive_reply;
using hondana_test::heard_request;
using hondana_test::kept_content;
using hondana_test::played_drive;
using hondana_test::scripted_connection;
using hondana_test::within;

drive_reply bytes(std::string body, int status = 200, std::string more = {}) {
  return {status, std::move(body), std::move(more), "text/plain"};
}

TEST(drive_contents, go_to_the_sink_as_they_come) {
  played_drive google(
      {bytes("本文"), bytes(hondana_test::packed("packed text"), 200, "Content-Encoding: gzip\r\n"), bytes("")});
  const auto it = google.client();
  kept_content got;
  ASSERT_TRUE(it->get_content("abc", {}, got.sink(), within()));
  EXPECT_EQ(got.bytes, "本文");
  ASSERT_EQ(got.heads.size(), 1u);
  EXPECT_EQ(got.heads[0].content_type, "text/plain");
  EXPECT_EQ(google.asked().target, "/drive/v3/files/abc?alt=media&supportsAllDrives=true");
  EXPECT_EQ(google.asked().field("range"), "");
  kept_content second;
  ASSERT_TRUE(it->export_content("abc", "text/markdown", second.sink(), within()));
  EXPECT_EQ(second.bytes, "packed text");
  EXPECT_EQ(google.asked(1).target, "/drive/v3/files/abc/export?mimeType=text%2Fmarkdown");
  // One without a byte is begun, too.
  kept_content third;
  ASSERT_TRUE(it->get_content("abc", {}, third.sink(), within()));
  EXPECT_EQ(third.heads.size(), 1u);
  EXPECT_EQ(it->current_statistics().bytes, std::string("本文packed text").size());
}

TEST(drive_contents, in_part_are_the_part_that_was_asked_for) {
  played_drive google({bytes("cde", 206, "Content-Range: bytes 2-4/10\r\n")});
  kept_content got;
  ASSERT_TRUE(google.client()->get_content("abc", byte_range{2, 4}, got.sink(), within()));
  EXPECT_EQ(got.bytes, "cde");
  EXPECT_EQ(got.heads.at(0).first, 2u);
  EXPECT_EQ(got.heads.at(0).total_bytes, 10u);
  EXPECT_EQ(google.asked().field("range"), "bytes=2-4");
  // What travels is the content itself.
  EXPECT_EQ(google.asked().field("accept-encoding"), "");

  played_drive open_end({bytes("hij", 206, "Content-Range: bytes 7-9/*\r\n")});
  kept_content rest;
  ASSERT_TRUE(open_end.client()->get_content("abc", byte_range{7, {}}, rest.sink(), within()));
  EXPECT_EQ(open_end.asked().field("range"), "bytes=7-");
  EXPECT_FALSE(rest.heads.at(0).total_bytes);

  for (const auto* other : {"bytes 0-2/10", "bytes 2-9/10", "bytes 4-2/10", "items 2-4/10", "bytes 2-4/3", "", "bytes 2-4"}) {
    played_drive wrong({bytes("cde", 206, std::string("Content-Range: ") + other + "\r\n")});
    kept_content none;
    const auto refused = wrong.client()->get_content("abc", byte_range{2, 4}, none.sink(), within());
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().kind, error_kind::malformed) << other;
    EXPECT_EQ(none.bytes, "");
  }
  played_drive unasked({bytes("cde", 206, "Content-Range: bytes 0-2/10\r\n")});
  kept_content none;
  EXPECT_EQ(unasked.client()->get_content("abc", {}, none.sink(), within()).error().kind, error_kind::malformed);
}

TEST(drive_contents, of_servers_that_know_no_ranges_are_read_up_to_the_part) {
  const auto part = [](const byte_range& range, std::string& into) {
    played_drive google({bytes("abcdefghij")});
    kept_content got;
    auto how = google.client()->get_content("abc", range, got.sink(), within());
    into = got.bytes;
    return how;
  };
  std::string got;
  ASSERT_TRUE(part({2, 4}, got));
  EXPECT_EQ(got, "cde");
  ASSERT_TRUE(part({7, {}}, got));
  EXPECT_EQ(got, "hij");
  ASSERT_TRUE(part({0, 99}, got));
  EXPECT_EQ(got, "abcdefghij");
  const auto behind = part({11, 20}, got);
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().kind, error_kind::bad_range);
  const auto refused = part({4, 2}, got);
  EXPECT_EQ(refused.error().kind, error_kind::bad_request);
  played_drive google({drive_error(416, "requestedRangeNotSatisfiable")});
  kept_content none;
  EXPECT_EQ(google.client()->get_content("abc", byte_range{20, 30}, none.sink(), within()).error().kind, error_kind::bad_range);
}

TEST(drive_contents, that_are_too_large_or_not_wanted_end_at_once) {
  played_drive google({bytes(std::string(5'000, 'x'))});
  const auto it = google.client();
  kept_content got;
  auto sink = got.sink();
  sink.max_bytes = 4'000;
  EXPECT_EQ(it->get_content("abc", {}, sink, within()).error().kind, error_kind::too_large);
  sink = got.sink();
  sink.on_data = [](std::string_view) -> result<void> { return hondana::fail(errc::overloaded, "the disk is full"); };
  const auto full = it->get_content("abc", {}, sink, within());
  EXPECT_EQ(full.error().kind, error_kind::sink);
  EXPECT_EQ(full.error().details.public_text, "the disk is full");
  sink = got.sink();
  sink.on_begin = [](const auto&) -> result<void> { return hondana::fail(errc::unsupported, "not this type"); };
  EXPECT_EQ(it->get_content("abc", {}, sink, within()).error().details.public_text, "not this type");
  EXPECT_EQ(it->current_statistics().requests, 3u);
}

TEST(drive_contents, that_are_not_given_say_why_however_little_was_wanted) {
  played_drive google({drive_error(403, "exportSizeLimitExceeded", "This file is too large to be exported.")});
  kept_content got;
  auto sink = got.sink();
  sink.max_bytes = 10;
  const auto refused = google.client()->export_content("abc", "text/markdown", sink, within());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, error_kind::export_too_large) << refused.error().details.public_text;
  EXPECT_EQ(got.bytes, "");
}

TEST(drive_contents, are_asked_for_again_only_while_nothing_has_been_passed_on) {
  played_drive early({{503, ""}, bytes("whole")});
  kept_content got;
  ASSERT_TRUE(early.client()->get_content("abc", {}, got.sink(), within()));
  EXPECT_EQ(got.bytes, "whole");

  played_drive cut([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf");
    return false;
  });
  const auto it = cut.client();
  kept_content half;
  const auto broken = it->get_content("abc", {}, half.sink(), within());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, error_kind::stalled);
  EXPECT_NE(broken.error().details.public_text.find("a part"), std::string::npos) << broken.error().details.public_text;
  EXPECT_EQ(half.bytes, "half");
  EXPECT_EQ(it->current_statistics().requests, 1u);
}

TEST(drive_contents, that_stall_end_by_the_limit_of_speed_and_a_slow_sink_does_not_count) {
  hondana::manual_clock clock;
  std::promise<void> begun;
  std::atomic<bool> is_over = false;
  played_drive google([&, has_begun = begun.get_future().share()](const heard_request& asked, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n" + std::string(5'000, 'x'));
    if (asked.target.find("/slow") == std::string::npos) {
      has_begun.wait_for(hondana_test::event_deadline);
      // Bytes may have come in the present while and in the next.
      (void)hondana_test::eventually([&] {
        clock.advance(600ms);
        return is_over.load();
      });
      return false;
    }
    to.send(std::string(95'000, 'x'));
    return true;
  });
  auto with = google.settings();
  with.stall_timeout = 600ms;
  with.content_timeout = 1h;
  with.stall_bytes = 100;
  const auto it = google.client(with);
  kept_content got;
  auto hearing = got.sink();
  hearing.on_data = [&](std::string_view piece) {
    got.bytes += piece;
    if (got.bytes.size() == 5'000) begun.set_value();
    return result<void>{};
  };
  const auto stalled = it->get_content("abc", {}, hearing, within(10h));
  is_over = true;
  ASSERT_FALSE(stalled);
  EXPECT_EQ(stalled.error().kind, error_kind::stalled);
  EXPECT_NE(stalled.error().details.public_text.find("stalled"), std::string::npos) << stalled.error().details.public_text;
  EXPECT_EQ(got.bytes.size(), 5'000u);
  EXPECT_EQ(it->current_statistics().requests, 1u);

  kept_content slow;
  auto sink = slow.sink();
  sink.on_data = [&slow, &clock](std::string_view piece) {
    // Longer than the limit.
    if (slow.bytes.empty()) clock.advance(800ms);
    slow.bytes += piece;
    return result<void>{};
  };
  const auto taken = it->get_content("slow", {}, sink, within(10h));
  EXPECT_TRUE(taken) << taken.error().details.public_text;
  EXPECT_EQ(slow.bytes.size(), 100'000u);
}

TEST(drive_contents, that_never_begin_are_asked_for_again) {
  hondana::manual_clock clock;
  std::atomic<int> asked{0};
  played_drive google([&](const heard_request&, scripted_connection& to) {
    if (asked++ == 0) {
      clock.advance(500ms);
      // The pause before the second attempt.
      (void)hondana_test::eventually([&] {
        clock.advance(1ms);
        return asked > 1;
      });
      return to.sees_the_end() && false;
    }
    return to.answer(200, "text/plain", "now");
  });
  auto with = google.settings();
  with.request_timeout = 500ms;
  const auto it = google.client(with);
  kept_content got;
  const auto how = it->get_content("abc", {}, got.sink(), within());
  ASSERT_TRUE(how) << how.error().details.public_text;
  EXPECT_EQ(got.bytes, "now");
  EXPECT_EQ(asked, 2);
}

hondana::drive::file with_link(const std::string& url) {
  hondana::drive::file out;
  out.id = "abc";
  out.export_links = {{"text/plain", url}};
  return out;
}

TEST(drive_export_links, lead_through_redirects_within_the_base) {
  played_drive google({{307, "", "Location: /second?x=1#f\r\n"}, {503, ""}, bytes("by the link")});
  const auto it = google.client();
  kept_content got;
  const auto how = it->export_by_link(with_link(google.settings().base_url + "/feeds/Export?id=abc&exportFormat=txt"),
                                      "text/plain", got.sink(), within());
  ASSERT_TRUE(how) << how.error().details.public_text;
  EXPECT_EQ(got.bytes, "by the link");
  EXPECT_TRUE(got.heads.at(0).uses_export_link);
  EXPECT_EQ(google.asked(0).target, "/feeds/Export?id=abc&exportFormat=txt");
  EXPECT_EQ(google.asked(0).field("authorization"), "Bearer t-1");
  EXPECT_EQ(google.asked(1).target, "/second?x=1");
  EXPECT_EQ(google.asked(2).target, "/second?x=1");
}

TEST(drive_export_links, that_lead_elsewhere_are_not_followed_and_see_no_token) {
  played_drive other({bytes("evil")});
  played_drive google({{302, "", "Location: " + other.settings().base_url + "/x\r\n"}});
  const auto it = google.client();
  for (const auto& url : {google.settings().base_url + "/export", other.settings().base_url + "/x",
                          std::string("https://evil.example/x"), std::string("https://docs.google.com.evil.example/x"),
                          std::string("http://docs.google.com/x"), std::string("https://docs.google.com@evil.example/"),
                          std::string("file:///etc/passwd"), std::string("x"), std::string("https://169.254.169.254/")}) {
    kept_content got;
    const auto how = it->export_by_link(with_link(url), "text/plain", got.sink(), within());
    ASSERT_FALSE(how) << url;
    EXPECT_EQ(how.error().kind, error_kind::malformed) << url;
    EXPECT_EQ(how.error().details.public_text.find("cannot export the file abc by its link: "), 0u);
  }
  EXPECT_EQ(other.server().connections(), 0u);
  kept_content got;
  EXPECT_EQ(it->export_by_link(with_link("https://docs.google.com/x"), "text/csv", got.sink(), within()).error().kind,
            error_kind::not_exportable);
}

TEST(drive_export_links, end_in_a_circle_and_at_a_page_for_people) {
  played_drive circle({{302, "", "Location: /again\r\n"}});
  kept_content got;
  auto it = circle.client();
  const auto round = it->export_by_link(with_link(circle.settings().base_url + "/x"), "text/plain", got.sink(), within());
  EXPECT_EQ(round.error().kind, error_kind::malformed);
  EXPECT_NE(round.error().details.public_text.find("more than 5"), std::string::npos);
  EXPECT_EQ(it->current_statistics().requests, 6u);

  played_drive page({{200, "<html>log in</html>", {}, "text/html; charset=utf-8"}});
  const auto shown =
      page.client()->export_by_link(with_link(page.settings().base_url + "/x"), "text/plain", got.sink(), within());
  EXPECT_EQ(shown.error().kind, error_kind::malformed);
  EXPECT_EQ(got.bytes, "");

  played_drive log_in({{302, "", "Location: https://accounts.google.com/ServiceLogin?x=1\r\n"}});
  const auto asked =
      log_in.client()->export_by_link(with_link(log_in.settings().base_url + "/x"), "text/plain", got.sink(), within());
  EXPECT_EQ(asked.error().kind, error_kind::unauthorized);
}

TEST(drive_export_links, are_googles_or_the_bases) {
  const std::string base = "http://127.0.0.1:8080";
  for (const auto* with_token : {"https://docs.google.com/feeds/x", "https://www.googleapis.com/x", "http://127.0.0.1:8080/x",
                                 "https://DOCS.google.com/x"}) {
    EXPECT_TRUE(check_link(with_token, base).is_allowed) << with_token;
    EXPECT_TRUE(check_link(with_token, base).receives_token) << with_token;
  }
  for (const auto* without : {"https://doc-0k-docstext.googleusercontent.com/export/x", "https://drive.google.com/x",
                              "https://accounts.google.com/x", "https://storage.googleapis.com/x"}) {
    EXPECT_TRUE(check_link(without, base).is_allowed) << without;
    EXPECT_FALSE(check_link(without, base).receives_token) << without;
  }
  for (const auto* bad :
       {"http://127.0.0.1:8081/x", "http://localhost:8080/x", "https://127.0.0.1:8080/x", "https://notgoogle.com/",
        "https://evilgoogleapis.com/", "https://docs.google.com:444/x", "https://google.com.evil/", "", "//x"})
    EXPECT_FALSE(check_link(bad, base).is_allowed) << bad;
  EXPECT_EQ(resolve_redirect("https://a.example/x?y", "/z#f"), "https://a.example/z");
  EXPECT_EQ(resolve_redirect("https://a.example/x", "//b.example/z"), "https://b.example/z");
  EXPECT_EQ(resolve_redirect("https://a.example/x", "https://b.example/"), "https://b.example/");
  EXPECT_EQ(resolve_redirect("https://a.example/x", "relative"), "");
  EXPECT_EQ(resolve_redirect("https://a.example/x", ""), "");
}

TEST(drive_content_ranges, are_of_one_form) {
  const auto got = parse_content_range("bytes 0-0/1");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->total_bytes, 1u);
  EXPECT_TRUE(parse_content_range("Bytes 5-9/*"));
  for (const auto* bad :
       {"bytes */10", "bytes 0-0/0", "bytes -1-2/9", "bytes 0-0/1x", "bytes 0 - 1/9", "bytes 0-18446744073709551616/*"})
    EXPECT_FALSE(parse_content_range(bad)) << bad;
}

}  // namespace
