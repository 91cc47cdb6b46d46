/// Logs in files as programs write them, through the provider.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/sources/logs/made_source.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::logs {
namespace {

using texts = std::vector<std::string>;

std::string first_words(const std::string& text, std::size_t size) { return text.substr(0, size); }

}  // namespace

TEST(served_files, access_logs_are_filtered_by_time_level_and_expression) {
  const made_folder folder;
  std::string all;
  for (int i = 0; i < 60; ++i) {
    char line[160];
    std::snprintf(line, sizeof line,
                  "203.0.113.%d - - [31/Jan/2026:11:%02d:00 +0000] \"GET /page/%d HTTP/1.1\" %d 512 \"-\" \"curl/8\"\n", i % 9,
                  i, i,
                  i % 20 == 0  ? 500
                  : i % 7 == 0 ? 404
                               : 200);
    all += line;
  }
  folder.append("access.log", all);
  const served_log app(folder.path("access.log"));
  EXPECT_EQ(app.page("log://app/?level=error&format=json").first.size(), 3U);
  EXPECT_EQ(app.page("log://app/?since=10m&format=json").first.size(), 10U);
  EXPECT_EQ(app.page("log://app/?since=2026-01-31T11:10:00Z&until=2026-01-31T11:12:00Z&format=json").first.size(), 2U);
  EXPECT_EQ(app.page("log://app/?grep=%2Fpage%2F1%5B0-4%5D%20&format=json").first.size(), 5U);
  const auto summed = app.json("log://app/summary?format=json");
  EXPECT_EQ(summed.integer_at("records").value(), 60);
  EXPECT_EQ(summed.integer_at("/levels/error").value(), 3);
  EXPECT_EQ(summed.integer_at("/levels/warning").value(), 8);
  EXPECT_EQ(summed.string_at("/messages/0/template").value(), "<ip> - - [<time>] \"GET <path>\" 200 <num> <str> <str>");
}

TEST(served_files, errors_of_nginx_have_their_levels) {
  const made_folder folder;
  folder.append(
      "error.log",
      "2026/01/31 11:58:00 [error] 12#12: *7 connect() failed (111: Connection refused) while connecting to upstream\n"
      "2026/01/31 11:59:00 [warn] 12#12: low space\n2026/01/31 11:59:30 [crit] 12#12: *9 no space left\n");
  const served_log app(folder.path("error.log"));
  const auto got = app.json("log://app/?format=json");
  EXPECT_EQ(got.string_at("/records/0/level").value(), "error");
  EXPECT_EQ(got.string_at("/records/1/level").value(), "warning");
  EXPECT_EQ(got.string_at("/records/2/level").value(), "critical");
  EXPECT_EQ(got.string_at("/records/0/time").value(), "2026-01-31T11:58:00Z");
  EXPECT_EQ(got.string_at("/records/0/source").value(), "error.log");
}

TEST(served_files, json_records_are_filtered_by_field) {
  const manual_clock clock;  // reading for a completion ends after 300 ms
  const made_folder folder;
  std::string all;
  for (int i = 0; i < 30; ++i)
    all += R"({"time":"2026-01-31T11:00:)" + std::to_string(10 + i) + R"(Z","level":")" + (i % 3 == 0 ? "error" : "info") +
           R"(","msg":"request )" + std::to_string(i) + R"( done","http":{"status":)" + std::to_string(i % 5 == 0 ? 500 : 200) +
           "}}\n";
  folder.append("app.json.log", all);
  const served_log app(folder.path("app.json.log"));
  EXPECT_EQ(app.page("log://app/?field=http.status:500&format=json").first.size(), 6U);
  EXPECT_EQ(app.page("log://app/?field=http.status:500,level:error&format=json").first.size(), 2U);
  EXPECT_EQ(app.page("log://app/?level=error&format=json").first.size(), 10U);
  EXPECT_EQ(app.completed("field", "http.status:"), (texts{"http.status:200", "http.status:500"}));
  EXPECT_EQ(app.json("log://app/summary?format=json").string_at("/messages/0/template").value(), "request <num> done");
}

TEST(served_files, records_of_several_lines_stay_together) {
  const made_folder folder;
  folder.append("app.log",
                "2026-01-31 11:00:00 ERROR boom\njava.lang.IllegalStateException: no\n\tat a.b.C.d(C.java:7)\n"
                "2026-01-31 11:00:01 INFO fine\n");
  const served_log app(folder.path("app.log"));
  EXPECT_EQ(app.text("log://app/?level=error"),
            "2026-01-31 11:00:00 ERROR boom\njava.lang.IllegalStateException: no\n\tat a.b.C.d(C.java:7)\n");
}

TEST(served_files, all_pages_together_are_the_whole_log_across_rotated_and_compressed_files) {
  const made_folder folder;
  texts wanted;
  const auto fill = [&](int from, int to) {
    std::string all;
    for (int i = from; i < to; ++i) {
      char line[64];
      std::snprintf(line, sizeof line, "2026-01-31T%02d:%02d:%02dZ INFO line %d", i / 3600, i / 60 % 60, i % 60, i);
      wanted.emplace_back(line);
      all += std::string(line) + '\n';
    }
    folder.append("app.log", all);
  };
  const auto run = [&](const std::string& command) {
    ASSERT_EQ(std::system(("cd '" + folder.path("") + "' && " + command).c_str()), 0) << command;
  };
  fill(0, 500);
  run("mv app.log app.log.2 && gzip app.log.2");
  fill(500, 900);
  run("mv app.log app.log.1");
  fill(900, 1300);
  const served_log app(folder.path("app.log"));
  texts all;
  std::string uri = "log://app/?lines=77&format=json";
  for (int pages = 0; !uri.empty() && pages < 40; ++pages) {
    const auto [some, next] = app.page(uri);
    all.insert(all.begin(), some.begin(), some.end());
    uri = next;
    // A rotation in the middle takes nothing from those who page.
    if (pages == 3) run("mv app.log.2.gz app.log.3.gz && mv app.log.1 app.log.2 && mv app.log app.log.1 && touch app.log");
  }
  EXPECT_EQ(all.size(), wanted.size());
  EXPECT_EQ(all, wanted);
}

TEST(served_files, a_log_that_is_not_there_is_told_until_it_comes_and_no_path_is_named) {
  const made_folder folder;
  const served_log app(folder.path("app.log"));
  for (const auto* uri : {"log://app/", "log://app/summary"}) {
    const auto why = app.error(uri);
    EXPECT_EQ(why.code, errc::source_unavailable);
    EXPECT_EQ(why.public_text, "The file of this log does not exist (yet). Retry when it does, or correct path in its table.");
    EXPECT_EQ(why.public_text.find(folder.path("")), std::string::npos);
  }
  EXPECT_TRUE(app.provider().list({}));
  EXPECT_FALSE(app.provider().health().is_healthy);
  folder.append("app.log", "2026-01-31T11:00:00Z INFO one\n");
  EXPECT_EQ(app.text("log://app/"), "2026-01-31T11:00:00Z INFO one\n");
  EXPECT_TRUE(app.provider().health().is_healthy);
}

TEST(served_files, no_secret_leaves_by_any_view_filter_completion_or_error) {
  const made_folder folder;
  test::lots lots(29);
  std::vector<test::specimen> drawn;
  for (const auto& shape : test::secret_shapes()) {
    drawn.push_back(shape.draw(lots));
    const auto& one = drawn.back();
    folder.append("app.log", "2026-01-31T11:00:00Z INFO next\n" + one.text() + "\n");
    if (one.secret.find('\n') == std::string::npos)
      folder.append("app.log", "2026-01-31T11:00:01Z level=error msg=\"failed\" detail='x' " + one.text() + "\n");
  }
  const served_log app(folder.path("app.log"));
  std::string answers;
  std::vector<std::string> uris{"log://app/?lines=10000", "log://app/?lines=10000&format=json", "log://app/summary",
                                "log://app/summary?format=json", "log://app/?lines=10000&level=error"};
  for (const auto& uri : uris) answers += app.text(uri);
  std::string next = "log://app/?lines=25&format=json";
  for (int pages = 0; pages < 30 && !next.empty(); ++pages) {
    answers += app.text(next);
    next = app.page(next).second;
  }
  for (const auto& one : app.completed("field", "")) {
    answers += one + '\n';
    for (const auto& value : app.completed("field", one)) answers += value + '\n';
  }
  // Without masking they would be answered.
  records::file_log_options bare;
  bare.path = folder.path("app.log");
  bare.redact = false;
  const auto unmasked = served_log(records::open_file_log(bare).value()).text("log://app/?lines=10000");
  int looked_for = 0, found_bare = 0;
  for (const auto& one : drawn) {
    if (one.secret.find('\n') != std::string::npos || one.secret.size() < 8) continue;
    ++looked_for;
    found_bare += unmasked.find(one.secret) == std::string::npos ? 0 : 1;
    EXPECT_EQ(answers.find(one.secret), std::string::npos) << first_words(one.before, 60);
    // Nor does a filter tell whether a guess is right.
    if (looked_for % 5 == 0) {
      EXPECT_TRUE(app.page("log://app/?format=json&lines=10&grep=" + percent_encode("\\Q" + one.secret + "\\E")).first.empty())
          << first_words(one.before, 60);
    }
  }
  EXPECT_GT(looked_for, 30);
  EXPECT_EQ(found_bare, looked_for);
}

TEST(served_files, errors_repeat_at_most_64_bytes_of_a_value) {
  const made_folder folder;
  folder.append("app.log", "2026-01-31T11:00:00Z INFO one\n");
  const served_log app(folder.path("app.log"));
  const std::string pasted = "s3cretThatSomebodyPasted" + std::string(41, 'x');
  for (const auto* parameter : {"since", "until", "level", "lines", "format"}) {
    const auto why = app.error("log://app/?" + std::string(parameter) + "=" + pasted);
    EXPECT_EQ(why.code, errc::invalid_argument) << parameter;
    EXPECT_TRUE(why.public_text.starts_with(parameter + ("=" + pasted.substr(0, 64)) + "...: ")) << why.public_text;
  }
  for (const auto* parameter : {"field", "cursor"}) {
    const auto why = app.error("log://app/?" + std::string(parameter) + "=" + pasted);
    EXPECT_EQ(why.code, errc::invalid_argument) << parameter;
    EXPECT_EQ(why.public_text.find("s3cret"), std::string::npos) << why.public_text;
  }
  EXPECT_TRUE(app.error("log://app/?" + pasted + "=1")
                  .public_text.starts_with("unknown parameter \"" + pasted.substr(0, 64) + "...\""));
}

}  // namespace hondana::logs
