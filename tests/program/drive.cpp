/// A Google Drive in the real program: what a search finds in it, what is rendered by the confined child, and a crawl that was
/// killed.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include "deadline.hpp"
#include "drive/stand_in/server.hpp"
#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::read_request;
using program_test::request;
using program_test::run;
using program_test::served;

/// A Drive and the configuration of a server that serves it.
struct served_google : folder {
  drive_test::stand_in google;

  explicit served_google(std::string_view more = {}) {
    put("key/team.txt", google.service_account());
    std::filesystem::permissions(path("key/team.txt"),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    put("hondana.toml",
        "[[source]]\ntype = \"gdrive\"\nname = \"team\"\ncredentials_file = \"key/team.txt\"\nmin_poll_interval_s = 1\n"
        "max_poll_interval_s = 1\nrequests_per_minute = 100000\napi_url = \"" +
            google.url() + "\"\ntoken_url = \"" + google.url("/token") + "\"\nstore = \"state/drive.db\"\n" +
            std::string(more));
  }
  [[nodiscard]] std::vector<std::string> options() const { return {"--config", path("hondana.toml")}; }
};

boost::json::array all_contents_of(http_client& by, const std::string& uri) {
  const auto answer = message(by.post(read_request(1, uri), "resources/read", uri));
  if (!answer.contains("result")) throw std::runtime_error(boost::json::serialize(answer));
  return answer.at("result").at("contents").as_array();
}

std::string first_text_of(http_client& by, const std::string& uri) {
  return all_contents_of(by, uri).at(0).at("text").as_string().c_str();
}

TEST(program_drive, a_question_is_answered_from_a_japanese_document_with_its_place) {
  served_google drive("[search]\n");
  const auto id = drive.google.add(
      {.name = "通信方式",
       .type = drive_test::mime::document,
       .parent = drive.google.folder("設計"),
       .bytes = "# 通信方式\n\n概要です。\n\n## 再送\n\n応答がないときは、三回まで指数的に間隔を空けて再送する。\n\n"
                "## 暗号\n\nすべて TLS 1.3 で守る。\n"});
  served server(drive.options());
  http_client by(server.port());
  static_cast<void>(first_text_of(by, "search:///?wait=complete"));
  const auto found =
      first_text_of(by, "search:///?q=%E5%BF%9C%E7%AD%94%E3%81%8C%E3%81%AA%E3%81%84%E3%81%A8%E3%81%8D%E5%86%8D%E9%80%81");
  EXPECT_NE(found.find("gdrive://"), std::string::npos) << found;
  EXPECT_NE(found.find("三回まで"), std::string::npos) << found;
  EXPECT_NE(found.find("再送"), std::string::npos) << found;
  const auto tool =
      by.post(request(2, "tools/call", "\"name\":\"search_resources\",\"arguments\":{\"q\":\"応答がないとき 再送\"},"),
              "tools/call", "search_resources");
  EXPECT_NE(tool.find("三回まで"), std::string::npos) << tool;
  // Who loses a file loses what the index has of it.
  drive.google.remove(id);
  std::string now;
  EXPECT_TRUE(hondana_test::eventually([&] {
    static_cast<void>(first_text_of(by, "search:///?wait=complete"));
    now = first_text_of(by, "search:///?q=%E6%8C%87%E6%95%B0%E7%9A%84");
    return now.find("gdrive://") == std::string::npos;
  })) << now;
}

TEST(program_drive, sheets_and_notes_come_out_of_the_confined_child) {
  served_google drive;
  const auto book = drive.google.add({.name = "Book",
                                      .type = drive_test::mime::spreadsheet,
                                      .sheets = {{"A", {{"a", "b,c"}, {"1", "2"}}}, {"売上", {{"月", "円"}, {"4", "1200"}}}}});
  const auto talk = drive.google.add({.name = "Talk",
                                      .type = drive_test::mime::presentation,
                                      .slides = {{"First", "Text of it", "Say this slowly"}, {"Second", "More", ""}}});
  served server(drive.options());
  http_client by(server.port());
  const auto sheets = all_contents_of(by, "gdrive:///" + book);
  ASSERT_EQ(sheets.size(), 2u);
  EXPECT_EQ(sheets[0].at("text"), "a,\"b,c\"\n1,2\n");
  EXPECT_EQ(sheets[0].at("mimeType"), "text/csv");
  EXPECT_EQ(sheets[1].at("text"), "月,円\n4,1200\n");
  const auto slides = first_text_of(by, "gdrive:///" + talk);
  EXPECT_NE(slides.find("Text of it"), std::string::npos) << slides;
  EXPECT_NE(slides.find("Say this slowly"), std::string::npos) << slides;
}

TEST(program_drive, a_read_shows_where_sheets_end_and_gives_the_file_of_a_text_where_that_is_asked_for) {
  served_google drive;
  const auto book = drive.google.add(
      {.name = "Book", .type = drive_test::mime::spreadsheet, .sheets = {{"A", {{"a", "b"}}}, {"B", {{"c", "d"}}}}});
  const auto memo = drive.google.add(
      {.name = "memo.txt", .type = "text/plain", .bytes = "\x89\xEF\x8B\x63\x82\xCC\x8B\x63\x8E\x96\x98\x5E\n"});
  served server(drive.options());
  const auto sheets = run({"read", "gdrive:///" + book, "--on", server.url()});
  EXPECT_EQ(sheets.output, "a,b\n\nc,d\n") << sheets.errors;
  EXPECT_EQ(run({"read", "gdrive:///" + book + "?sheet=B", "--on", server.url()}).output, "c,d\n");
  EXPECT_EQ(run({"read", "gdrive:///" + memo, "--on", server.url()}).output, "会議の議事録\n") << "in the sandbox, too";
  EXPECT_EQ(run({"read", "gdrive:///" + memo, "--original", "--on", server.url()}).output,
            "\x89\xEF\x8B\x63\x82\xCC\x8B\x63\x8E\x96\x98\x5E\n");
}

TEST(program_drive, a_crawl_that_was_killed_goes_on_and_does_not_start_over) {
  served_google drive;
  drive.google.seed(R"({"generate": {"files": 5000, "perFolder": 50}})");
  drive.google.fail({.path = "/drive/v3/files", .containing = "pageToken", .skip = 2, .times = 1, .stalls_at = 10});
  {
    served server(drive.options());
    // Listing is what begins the crawl, and waits for it: the command is killed with the server.
    program_test::process asking({"ls", "--on", server.url()});
    EXPECT_TRUE(drive.google.wait_for_requests("/drive/v3/files", 5));
    EXPECT_TRUE(server.stop(SIGKILL));
    asking.signal(SIGKILL);
  }
  drive.google.heal();
  drive.google.forget();
  served server(drive.options());
  program_test::outcome all;
  EXPECT_TRUE(hondana_test::eventually([&] {
    all = run({"ls", "--on", server.url()});
    return all.output.find("gdrive://") != std::string::npos;
  })) << all.errors;
  EXPECT_EQ(all.how.exit_code, 0) << all.errors;
  std::size_t first_pages = 0;
  for (const auto& one : drive.google.requests("/drive/v3/files"))
    first_pages += one.path == "/drive/v3/files" && one.query.find("pageToken") == std::string::npos ? 1 : 0;
  EXPECT_EQ(first_pages, 0u) << "the crawl started over";
}

TEST(program_drive, a_notice_of_google_makes_a_change_known_long_before_the_next_poll) {
  served_google drive("webhook_url = \"https://hondana.example\"\n[http]\nhosts = [\"hondana.example\"]\n");
  drive.put("hondana.toml", [&drive] {
    std::ifstream from(drive.path("hondana.toml"));
    std::string text((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
    for (const std::string_view key : {"\nmin_poll_interval_s = 1\n", "\nmax_poll_interval_s = 1\n"})
      text.replace(text.find(key) + key.size() - 2, 1, "3600");
    return text;
  }());
  served server(drive.options());
  drive.google.configure([&server](drive_test::setup& how) { how.notices_to = server.port(); });
  drive.google.add({.name = "Old.txt", .type = "text/plain", .bytes = "x"});
  const auto lists = [&server](std::string_view name) {
    return run({"ls", "--on", server.url()}).output.find(name) != std::string::npos;
  };
  EXPECT_TRUE(hondana_test::eventually([&] { return lists("Old.txt"); }));
  EXPECT_TRUE(drive.google.wait_for_requests("/drive/v3/changes/watch", 1));
  EXPECT_TRUE(hondana_test::eventually([&] {
    drive.google.add({.name = "New.txt", .type = "text/plain", .bytes = "x"});
    return lists("New.txt");
  }));
  EXPECT_GE(drive.google.notices(), 1u);
}

TEST(program_drive, what_it_keeps_for_itself_is_served_by_no_other_source) {
  served_google drive("[[source]]\ntype = \"files\"\npath = \".\"\n");
  drive.put("seen.txt", "x");
  drive.google.add({.name = "Plan.txt", .type = "text/plain", .bytes = "x"});
  served server(drive.options());
  std::string all;
  EXPECT_TRUE(hondana_test::eventually([&] {
    all = run({"ls", "--on", server.url()}).output;
    return all.find("Plan.txt") != std::string::npos;
  }));
  EXPECT_NE(all.find("seen.txt"), std::string::npos) << all;
  EXPECT_EQ(all.find("team.txt"), std::string::npos) << all;
  EXPECT_EQ(all.find("drive.db"), std::string::npos) << all;
}

TEST(program_drive, what_it_keeps_where_nothing_is_written_is_served_by_no_other_source_either) {
  served_google drive("[[source]]\ntype = \"files\"\npath = \".\"\nhidden = true\n");
  drive.put("hondana.toml", [&drive] {
    std::ifstream from(drive.path("hondana.toml"));
    std::string text((std::istreambuf_iterator<char>(from)), std::istreambuf_iterator<char>());
    const std::string_view line = "store = \"state/drive.db\"\n";
    return text.erase(text.find(line), line.size());
  }());
  drive.put("seen.txt", "x");
  drive.put("data/hondana/google-team.json", "{}");
  drive.google.add({.name = "Plan.txt", .type = "text/plain", .bytes = "x"});
  ::setenv("XDG_DATA_HOME", drive.path("data").c_str(), 1);
  ::setenv("XDG_STATE_HOME", drive.path("state").c_str(), 1);
  served server(drive.options());
  ::unsetenv("XDG_DATA_HOME");
  ::unsetenv("XDG_STATE_HOME");
  std::string all;
  EXPECT_TRUE(hondana_test::eventually([&] {
    all = run({"ls", "--on", server.url()}).output;
    return all.find("Plan.txt") != std::string::npos;
  }));
  EXPECT_NE(all.find("seen.txt"), std::string::npos) << all;
  EXPECT_EQ(all.find("google-team"), std::string::npos) << all;
  EXPECT_EQ(all.find("drive.db"), std::string::npos) << all;
  EXPECT_TRUE(std::filesystem::exists(drive.path("state/hondana/gdrive/team/drive.db")));
}

TEST(program_drive, a_check_asks_for_no_notices_and_a_server_that_ends_takes_them_back) {
  served_google drive("webhook_url = \"https://hondana.example\"\n[http]\nhosts = [\"hondana.example\"]\n");
  drive.google.add({.name = "Plan.txt", .type = "text/plain", .bytes = "x"});
  const auto checked = run({"check", "--config", drive.path("hondana.toml")});
  EXPECT_EQ(checked.how, program_test::well) << checked.output << checked.errors;
  EXPECT_NE(checked.output.find("+ shared-with-me/Plan.txt  (priority"), std::string::npos) << checked.output;
  EXPECT_TRUE(drive.google.requests("/drive/v3/changes/watch").empty());
  {
    served server(drive.options());
    drive.google.configure([&server](drive_test::setup& how) { how.notices_to = server.port(); });
    static_cast<void>(run({"ls", "--on", server.url()}));
    EXPECT_TRUE(drive.google.wait_for_requests("/drive/v3/changes/watch", 1));
    EXPECT_TRUE(hondana_test::eventually([&] {
      static_cast<void>(run({"ls", "--on", server.url()}));
      return drive.google.channels() == 1;
    }));
    EXPECT_EQ(server.stop(SIGTERM), program_test::well);
  }
  EXPECT_EQ(drive.google.channels(), 0u);
}

TEST(program_drive, an_index_may_lie_beside_the_key_and_sources_have_names_and_drives_of_their_own) {
  served_google drive("[search]\npath = \"search/index.db\"\n");
  drive.put("team.json", drive.google.service_account());
  std::filesystem::permissions(drive.path("team.json"),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::string at = "api_url = \"" + drive.google.url() + "\"\ntoken_url = \"" + drive.google.url("/token") +
                         "\"\nstore = \":memory:\"\ncredentials_file = \"team.json\"\n";
  const std::string one = "[[source]]\ntype = \"gdrive\"\nname = \"team\"\n" + at;
  const auto check = [&drive](const std::string& text) {
    drive.put("hondana.toml", text);
    auto done = run({"check", "--config", drive.path("hondana.toml")});
    return std::pair(done.how.exit_code, done.output + done.errors);
  };
  const auto [fine, said] = check(one + "[search]\npath = \"search/index.db\"\n");
  EXPECT_EQ(fine, 0) << said;
  const auto [beside, why] = check(one + "[search]\npath = \"index.db\"\n");
  EXPECT_NE(beside, 0) << "whoever may write there could change the key: " << why;
  const auto [twice, name] = check(one + "[[source]]\ntype = \"gdrive\"\nname = \"team\"\nscheme = \"gdrive-b\"\n" + at);
  EXPECT_EQ(twice, 1);
  EXPECT_NE(name.find("name: another source of type gdrive is named \"team\""), std::string::npos) << name;
  const auto [none, drives] = check(one + "drives = [\"nonesuch\"]\n");
  EXPECT_EQ(none, 1) << "as of any other wrong value";
  EXPECT_NE(drives.find("drives names unknown drives: \"nonesuch\""), std::string::npos) << drives;
  std::filesystem::permissions(drive.path("team.json"), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const auto [open, mode] = check(one);
  EXPECT_EQ(open, 1) << mode;
  EXPECT_NE(mode.find("chmod 600"), std::string::npos) << mode;
  EXPECT_EQ(mode.find("cannot be used"), mode.rfind("cannot be used")) << "once: " << mode;
}

}  // namespace
