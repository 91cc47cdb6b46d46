/// Many who ask while files are written.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::config_files {
namespace {

struct busy_set : served_set {
  std::shared_ptr<ear> told = std::make_shared<ear>();
  std::shared_ptr<config_files_provider> from;
  void TearDown() override { from.reset(); }

  /// A text that says the same number at its beginning and its end.
  static std::string numbered(int number) {
    return "{\"first\": " + std::to_string(number) + ", \"between\": \"" + std::string(100'000, 'x') +
           "\", \"last\": " + std::to_string(number) + "}";
  }
  void serve_numbers() {
    from = serve(
        "path = \"conf\"\nname = \"app\"\n[[layer]]\nname = \"base\"\nvalues = { x = \"1\" }\n"
        "[[layer]]\nname = \"site\"\nfile = \"conf/app.json\"\n");
    from->set_listener(told);
    ASSERT_EQ(*json_at(*from, "config://app/merged").at("/value/first"), value(0));
    // Looked at once, so that changes have something to differ from: on a quick file system all are over before the next look.
    ASSERT_FALSE(listed(*from).empty());
  }
  /// As `write`, and notes how long the file was empty, or only begun.
  void write_noting_time(const std::string& below, const std::string& bytes) {
    const auto begun = std::chrono::steady_clock::now();
    write(below, bytes);
    longest_write_ = std::max(longest_write_, std::chrono::steady_clock::now() - begun);
  }
  /// Until nobody writes any more, both numbers are the same. Of files that are never broken they do not go back either; of
  /// others they may where two changes have one time stamp. An empty file is taken for one that is about to be written, but not
  /// for longer than 50 ms: when a busy machine holds a writer up between the two, there is nothing in it.
  void expect_whole_numbers(const std::atomic<bool>& is_over, const std::string& uri, const std::string& in, bool may_go_back) {
    std::int64_t before = 0;
    while (!is_over) {
      const auto got = read(*from, uri);
      if (!got) {
        EXPECT_EQ(got.error().code, errc::content_changed) << got.error().public_text;
        continue;
      }
      const auto& text = *std::get<shared_bytes>(got->contents.front().data);
      const auto parsed = value::parse(text);
      ASSERT_TRUE(parsed) << text.substr(0, 200);
      const auto first = parsed->integer_at(in + "/first");
      if (!first) {
        ++times_empty_;
        continue;
      }
      EXPECT_EQ(*first, parsed->integer_at(in + "/last").value_or(-1));
      EXPECT_TRUE(may_go_back || *first >= before) << *first << " after " << before;
      before = *first;
    }
  }
  template <class Write>
  void read_while(Write&& write_one, bool may_go_back) {
    std::atomic<bool> is_over{false};
    std::vector<std::thread> readers;
    readers.emplace_back([&] { expect_whole_numbers(is_over, "config://app/merged", "/value", may_go_back); });
    readers.emplace_back([&] { expect_whole_numbers(is_over, "config://app/layers/site", "/value", may_go_back); });
    readers.emplace_back([&] { expect_whole_numbers(is_over, "config://app/file/app.json?format=json", "", may_go_back); });
    readers.emplace_back([&] {
      while (!is_over) EXPECT_FALSE(listed(*from).empty());
    });
    for (int i = 1; i <= 100; ++i) write_one(i);
    is_over = true;
    for (auto& one : readers) one.join();
    EXPECT_TRUE(times_empty_ == 0 || longest_write_ >= std::chrono::milliseconds(40)) << times_empty_;
    EXPECT_EQ(*json_at(*from, "config://app/merged").at("/value/first"), value(100));
  }

 private:
  std::chrono::steady_clock::duration longest_write_{};
  std::atomic<int> times_empty_{0};
};

TEST_F(busy_set, gives_whole_values_while_files_are_replaced) {
  write("conf/app.json", numbered(0));
  serve_numbers();
  read_while([this](int number) { replace("conf/app.json", numbered(number)); }, false);
  EXPECT_TRUE(told->hears("config://app/merged"));
}

TEST_F(busy_set, gives_whole_values_while_files_are_written_in_place) {
  write("conf/app.json", numbered(0));
  serve_numbers();
  read_while([this](int number) { write_noting_time("conf/app.json", numbered(number)); }, true);
  EXPECT_TRUE(told->hears("config://app/merged"));
}

}  // namespace
}  // namespace hondana::config_files
