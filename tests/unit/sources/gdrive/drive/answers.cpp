/// What Drive answers: what is read, what is passed over, and what is refused by the name of its place.
#include "sources/gdrive/drive/api_types.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "sources/gdrive/drive/client.hpp"

namespace {

using hondana::errc;
using hondana::drive::change;
using hondana::drive::format_resource_keys;
using hondana::drive::format_time;
using hondana::drive::parse_time;
namespace drive = hondana::drive;

TEST(drive_answers, of_a_file_hold_all_that_was_asked_for) {
  const auto got = drive::parse_file(
      R"({"kind":"drive#file","id":"1a_B-","name":"議事録 'Q1' \\ /\n","mimeType":"application/vnd.google-apps.document",)"
      R"("parents":["0AF"],"driveId":"0AD","size":"18446744073709551615","version":"42","headRevisionId":"h",)"
      R"("md5Checksum":"d41d8cd98f00b204e9800998ecf8427e","modifiedTime":"2026-01-02T03:04:05.678Z",)"
      R"("createdTime":"2026-01-02T12:04:05+09:00","owners":[{"displayName":"花子",)"
      R"("emailAddress":"h@example.com"},7],"webViewLink":"https://docs.google.com/d/1",)"
      R"("resourceKey":"0-key","shortcutDetails":{"targetId":"t","targetMimeType":"text/plain",)"
      R"("targetResourceKey":"0-k"},"exportLinks":{"text/plain":"https://docs.google.com/x"},"trashed":true,"starred":true,)"
      R"("capabilities":{"canDownload":false},"folderColorRgb":{"a":[1]}})");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->id, "1a_B-");
  EXPECT_EQ(got->name, "議事録 'Q1' \\ /\n");
  EXPECT_TRUE(got->is_native());
  EXPECT_EQ(got->parents, std::vector<std::string>{"0AF"});
  EXPECT_EQ(got->drive_id, "0AD");
  EXPECT_EQ(got->size, 18446744073709551615u);
  EXPECT_EQ(got->version, "42");
  EXPECT_EQ(format_time(*got->modified), "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(format_time(*got->created), "2026-01-02T03:04:05.000Z");
  ASSERT_EQ(got->owners.size(), 1u);
  EXPECT_EQ(got->owners[0].email, "h@example.com");
  EXPECT_EQ(got->resource_key, "0-key");
  EXPECT_EQ(got->shortcut_target->target, "t");
  EXPECT_EQ(got->shortcut_target->target_key, "0-k");
  EXPECT_EQ(got->export_links.at(0).second, "https://docs.google.com/x");
  EXPECT_TRUE(got->is_trashed && got->is_starred);
  EXPECT_EQ(got->can_download, false);
}

TEST(drive_answers, of_which_nothing_depends_may_be_of_any_type) {
  const auto got = drive::parse_file(
      R"({"id":"a","size":"x","version":[],"md5Checksum":7,"modifiedTime":{},"owners":"me",)"
      R"("webViewLink":"javascript:alert","resourceKey":"../x","exportLinks":[1],"trashed":"yes","capabilities":null,)"
      R"("parents":null})");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_FALSE(got->size || got->modified || got->can_download);
  EXPECT_EQ(got->version + got->md5 + got->web_link + got->resource_key + got->name, "");
  EXPECT_TRUE(got->owners.empty() && got->parents.empty() && got->export_links.empty());
}

TEST(drive_answers, a_name_that_is_too_long_is_cut_and_stops_no_list) {
  std::string name = "x";
  while (name.size() < 40'000) name += "あ";
  const auto got = hondana::drive::parse_file_page(R"({"files":[{"id":"a","name":")" + name + R"("},{"id":"b"}]})");
  ASSERT_TRUE(got) << got.error().public_text;
  ASSERT_EQ(got->files.size(), 2u);
  const auto& cut = got->files.front().name;
  EXPECT_GT(cut.size(), 32'000u);
  EXPECT_EQ(cut, name.substr(0, cut.size()));
  EXPECT_EQ((cut.size() - 1) % 3, 0u) << "no letter is cut in two";
}

TEST(drive_answers, that_cannot_be_used_name_the_place) {
  const std::pair<std::string, std::string> files[] = {
      {"", "the answer: expected JSON"},
      {"<html>log in</html>", "the answer: expected JSON"},
      {R"({"files":[)", "the answer: expected JSON"},
      {"[]", "the answer: expected an object"},
      {"{}", "files: missing"},
      {R"({"files":{}})", "files: expected an array"},
      {R"({"files":[],"nextPageToken":7})", "nextPageToken: expected a page token"},
      {R"({"files":[],"nextPageToken":""})", "nextPageToken: expected a page token"},
      {R"({"files":[],"nextPageToken":"a\r\nb"})", "nextPageToken: expected a page token"},
      {R"({"files":[],"nextPageToken":")" + std::string(9'000, 'a') + R"("})", "nextPageToken: expected a page token"},
  };
  for (const auto& [json, part] : files) {
    const auto got = drive::parse_file_page(json);
    ASSERT_FALSE(got) << json.substr(0, 80);
    EXPECT_EQ(got.error().code, errc::protocol_error);
    EXPECT_EQ(got.error().public_text.find(part), 0u) << got.error().public_text << "\nfor " << json.substr(0, 80);
  }
  std::string many = R"({"files":[)";
  for (int i = 0; i <= 1'000; ++i) many += std::string(i == 0 ? "" : ",") + R"({"id":"a"})";
  EXPECT_EQ(drive::parse_file_page(many + "]}").error().public_text, "files: more than 1000 elements");
}

TEST(drive_answers, one_odd_file_is_left_out_or_taken_without_what_is_odd_and_the_others_are_there) {
  struct odd_file {
    std::string json;
    std::size_t files;  // of it
    drive::entry_warning said;
  };
  const odd_file all[] = {
      {"7", 0, {"", "file: expected an object"}},
      {"{}", 0, {"", "file/id: missing"}},
      {R"({"id":"../../admin"})", 0, {"", "file/id: expected an identifier"}},
      {R"({"id":""})", 0, {"", "file/id: expected an identifier"}},
      {R"({"id":")" + std::string(201, 'a') + R"("})", 0, {"", "file/id: expected an identifier"}},
      {R"({"id":7})", 0, {"", "file/id: expected an identifier"}},
      {R"({"id":"a","driveId":"%2F"})", 0, {"a", "file/driveId: expected an identifier"}},
      {R"({"id":"a","name":7})", 1, {"a", "file/name: expected a string"}},
      {R"({"id":"a","mimeType":[]})", 1, {"a", "file/mimeType: expected a short string"}},
      {R"({"id":"a","parents":["b/c","d"]})", 1, {"a", "file/parents/0: expected an identifier"}},
      {R"({"id":"a","parents":"b"})", 1, {"a", "file/parents: expected an array"}},
      {R"({"id":"a","shortcutDetails":{}})", 1, {"a", "file/shortcutDetails/targetId: missing"}},
      {R"({"id":"a","shortcutDetails":{"targetId":"../x"}})", 1, {"a", "file/shortcutDetails/targetId: expected"}},
      {R"({"id":"a","shortcutDetails":7})", 1, {"a", "file/shortcutDetails: expected an object"}},
  };
  for (const auto& [json, files, said] : all) {
    const auto got = drive::parse_file_page(R"({"files":[{"id":"x"},)" + json + R"(,{"id":"y"}],"nextPageToken":"n"})");
    ASSERT_TRUE(got) << json << ": " << got.error().public_text;
    EXPECT_EQ(got->next_page_token, "n");
    ASSERT_EQ(got->files.size(), 2 + files) << json;
    EXPECT_EQ(got->files.back().id, "y");
    ASSERT_EQ(got->warnings.size(), 1u) << json;
    EXPECT_EQ(got->warnings[0].id, said.id) << json;
    EXPECT_EQ(got->warnings[0].message.find(said.message), 0u) << got->warnings[0].message;
  }
  const auto part = drive::parse_file_page(R"({"files":[{"id":"a","name":"n","parents":["b/c","d"],"shortcutDetails":7}]})");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->files[0].name, "n");
  EXPECT_EQ(part->files[0].parents, std::vector<std::string>{"d"});
  EXPECT_FALSE(part->files[0].shortcut_target);
  std::string many = R"({"files":[{"id":"a","name":"n"},{})";
  for (int i = 0; i < 500; ++i) many += ",{}";
  EXPECT_EQ(drive::parse_file_page(many + "]}")->warnings.size(), 20u) << "there is an end to what is told";
}

TEST(drive_answers, a_page_of_which_nothing_can_be_used_is_an_error) {
  const auto page_of = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + std::string(R"({"id":1,"name":"a"})");
    return R"({"files":[)" + out + "]}";
  };
  EXPECT_TRUE(drive::parse_file_page(page_of(9)));
  const auto refused = drive::parse_file_page(page_of(10));
  ASSERT_FALSE(refused) << "who takes it for empty forgets a whole drive";
  EXPECT_NE(refused.error().public_text.find("none of the 10 entries can be used"), std::string::npos)
      << refused.error().public_text;
}

TEST(drive_answers, one_odd_change_loses_no_other) {
  const auto got = drive::parse_change_page(
      R"({"newStartPageToken":"9","changes":[7,{},{"changeType":"file"},{"changeType":"comment","fileId":"a"},)"
      R"({"fileId":"b","removed":"yes"},{"fileId":"c","file":{"id":"d"}},{"fileId":"e","file":7},)"
      R"({"fileId":"f","file":{"id":"f","driveId":"/"}},{"fileId":"g","file":{"id":"g","parents":7}},)"
      R"({"driveId":"D","drive":[]},{"fileId":"z","removed":true}]})");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->new_start_page_token, "9");
  std::string ids;
  for (const auto& one : got->changes) ids += one.id + (one.current_file ? "+" : "");
  EXPECT_EQ(ids, "bcefg+Dz") << "of what nothing usable is said, is nothing known any more";
  EXPECT_TRUE(got->changes.back().is_removed);
  const std::pair<std::string, std::string> told[] = {{"", "change: expected an object"},
                                                      {"", "change/driveId: missing"},
                                                      {"", "change/fileId: missing"},
                                                      {"a", "change/changeType: expected"},
                                                      {"b", "change/removed: expected true or false"},
                                                      {"c", "change/file/id: differs from fileId"},
                                                      {"e", "change/file: expected an object"},
                                                      {"f", "change/file/driveId: expected an identifier"},
                                                      {"g", "change/file/parents: expected an array"},
                                                      {"D", "change/drive: expected an object"}};
  ASSERT_EQ(got->warnings.size(), std::size(told));
  for (std::size_t i = 0; i < std::size(told); ++i) {
    EXPECT_EQ(got->warnings[i].id, told[i].first) << i;
    EXPECT_EQ(got->warnings[i].message.find(told[i].second), 0u) << got->warnings[i].message;
  }
}

TEST(drive_answers, of_changes_tell_files_from_drives) {
  const auto got = drive::parse_change_page(
      R"({"newStartPageToken":"9","changes":[)"
      R"({"changeType":"file","fileId":"a","time":"2026-01-02T03:04:05.678Z","file":{"id":"a","name":"n"}},)"
      R"({"changeType":"file","fileId":"b","removed":true},{"type":"drive","driveId":"D","drive":{"id":"D","name":"Team"}},)"
      R"({"driveId":"E","removed":true},{"fileId":"c","removed":false}]})");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->new_start_page_token, "9");
  EXPECT_EQ(got->next_page_token, "");
  ASSERT_EQ(got->changes.size(), 5u);
  EXPECT_EQ(got->changes[0].current_file->name, "n");
  EXPECT_TRUE(got->changes[1].is_removed && !got->changes[1].current_file);
  EXPECT_EQ(got->changes[2].kind, change::change_kind::drive);
  EXPECT_EQ(got->changes[2].current_drive->name, "Team");
  EXPECT_EQ(got->changes[3].id, "E");
  EXPECT_EQ(got->changes[4].kind, change::change_kind::file);

  for (const auto& [json, part] : std::initializer_list<std::pair<std::string, std::string>>{
           {R"({"changes":[]})", "nextPageToken: missing, and so is newStartPageToken"},
           {R"({"newStartPageToken":"1"})", "changes: missing"}}) {
    const auto bad = drive::parse_change_page(json);
    ASSERT_FALSE(bad) << json;
    EXPECT_EQ(bad.error().public_text.find(part), 0u) << bad.error().public_text;
  }
}

TEST(drive_answers, of_the_rest_are_read_and_refused_alike) {
  const auto about = drive::parse_about(
      R"({"user":{"displayName":"A","emailAddress":"a@example.com"},"exportFormats":{"a/b":["text/plain","text/csv"],"c":7}})");
  ASSERT_TRUE(about);
  EXPECT_EQ(about->user.email, "a@example.com");
  EXPECT_EQ(about->export_formats, (drive::string_pairs{{"a/b", "text/plain"}, {"a/b", "text/csv"}}));
  EXPECT_EQ(drive::parse_about("{}").error().public_text, "user: missing");
  EXPECT_EQ(
      drive::parse_drive_page(R"({"drives":[{"id":"D","name":"Team","hidden":true}],"nextPageToken":"n"})")->next_page_token,
      "n");
  const auto drives = drive::parse_drive_page(R"({"drives":[{"id":"a b"},{"id":"E"}]})");
  ASSERT_TRUE(drives && drives->drives.size() == 1 && drives->warnings.size() == 1);
  EXPECT_EQ(drives->warnings[0].message.find("drive/id: expected an identifier"), 0u);
  const auto channel =
      drive::parse_channel(R"({"id":"c","resourceId":"r","resourceUri":"https://x","token":"t","expiration":"1767323045678"})");
  ASSERT_TRUE(channel);
  EXPECT_EQ(format_time(*channel->expires_at), "2026-01-02T03:04:05.678Z");
  EXPECT_TRUE(drive::parse_channel(R"({"id":"c","resourceId":"r","expiration":"18446744073709551615"})"));
  EXPECT_EQ(drive::parse_channel(R"({"id":"c"})").error().public_text.find("resourceId: missing"), 0u);
  EXPECT_EQ(drive::parse_start_token(R"({"startPageToken":"17"})").value_or(""), "17");
  EXPECT_EQ(drive::parse_start_token(R"({})").error().public_text, "startPageToken: missing");
}

TEST(drive_times, are_of_rfc_3339) {
  EXPECT_EQ(format_time(*parse_time("1970-01-01T00:00:00Z")), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(*parse_time("2026-03-01T00:30:00.123456789-00:30")), "2026-03-01T01:00:00.123Z");
  EXPECT_EQ(format_time(*parse_time("2026-03-01T00:30:00.5+01:00")), "2026-02-28T23:30:00.500Z");
  for (const auto* bad :
       {"", "2026", "2026-02-30T00:00:00Z", "2026-03-01 00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T00:00:00",
        "2026-03-01T00:00:00.Z", "2026-03-01T00:00:00+0100", "2026-03-01T00:00:00+24:00", "-026-03-01T00:00:00Z",
        "2026-03-01T00:00:00ZZ", "2026-03-01T00:00:00.12345678901Z", "2026-03--1T00:00:00Z"})
    EXPECT_FALSE(parse_time(bad)) << bad;
}

TEST(drive_queries, hold_names_that_are_no_more_than_names) {
  drive::query q;
  q.in_folder("0AF").name_equals("O'Brien\\' or name contains 'x").trashed(false);
  EXPECT_EQ(q.text(), R"('0AF' in parents and name = 'O\'Brien\\\' or name contains \'x' and trashed = false)");
  EXPECT_EQ(drive::query().name_starts_with("a").type_is("x/y").type_is_not("z").starred(true).text(),
            "name contains 'a' and mimeType = 'x/y' and mimeType != 'z' and starred = true");
  EXPECT_EQ(drive::query().custom_term("a or b").custom_term("").shared_with_me().text(), "(a or b) and sharedWithMe = true");
  EXPECT_EQ(drive::query().full_text_contains("'").modified_after("2026-01-01T00:00:00").text(),
            R"(fullText contains '\'' and modifiedTime > '2026-01-01T00:00:00')");
  EXPECT_EQ(drive::query().text(), "");
}

TEST(drive_ids, are_letters_digits_hyphens_and_underscores) {
  EXPECT_TRUE(drive::is_id("root"));
  EXPECT_TRUE(drive::is_id("1AbC-_9"));
  EXPECT_TRUE(drive::is_id(std::string(200, 'a')));
  for (const auto& bad : {std::string(), std::string("../../admin"), std::string("a/b"), std::string("a%2Fb"),
                          std::string("a b"), std::string("a?alt=media"), std::string("a#"), std::string("a\0b", 3),
                          std::string("é"), std::string(201, 'a'), std::string("a\r\nX: y")})
    EXPECT_FALSE(drive::is_id(bad)) << bad;
  EXPECT_NE(drive::validate_id("a/b", "the file").error().public_text.find("the file's id is not valid"), std::string::npos);
  EXPECT_EQ(format_resource_keys(std::vector<drive::resource_key>{{"a", "k1"}, {"b", "k,2"}, {"c/d", "k"}, {"e", "k3"}}),
            "a/k1,e/k3");
  EXPECT_EQ(format_resource_keys(std::vector<drive::resource_key>{}), "");
}

}  // namespace
