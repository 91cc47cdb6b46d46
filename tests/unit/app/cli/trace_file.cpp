/// What the trace makes of messages, and of content that they lack.
#include "app/cli/verbs/trace_file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

constexpr auto ours = message_direction::to_server;
constexpr auto theirs = message_direction::from_server;

/// What `writes` leaves in a trace, behind the two lines that each has.
std::string traced(const std::function<void(trace_file&)>& writes) {
  std::string path = (std::filesystem::temp_directory_path() / "hondana-trace-XXXXXX").string();
  const int made = ::mkstemp(path.data());
  EXPECT_GE(made, 0);
  ::close(made);
  {
    const auto trace = trace_file::open(path);
    EXPECT_TRUE(trace);
    writes(**trace);
  }
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  constexpr std::string_view first = "# open: none\n# meta: as written\n";
  EXPECT_TRUE(text.starts_with(first)) << text;
  return text.substr(first.size());
}

std::string answer(const std::string& members) { return R"({"result":{"contents":[{)" + members + "}]}}"; }

TEST(trace_file, has_one_message_a_line_as_it_came) {
  EXPECT_EQ(traced([](trace_file& to) {
              to.write(ours, R"({"a": 1.0})");
              to.write(theirs, "{\"b\":\r\n2}\r\n");
              to.write(theirs, "no json");
            }),
            "-> {\"a\": 1.0}\n<- {\"b\":  2}\n<- no json\n");
}

TEST(trace_file, puts_content_back_that_was_handed_on) {
  EXPECT_EQ(traced([](trace_file& to) {
              to.store_content(0, "one\n");
              to.store_content(1, std::string("\0\xff", 2));
              to.store_content(0, "two");
              to.write(theirs, R"({"method":"notifications/message"})");
              to.write(theirs, R"({"result":{"contents":[{"text":"","x":1},{"blob":""},{"text":""}]}})");
              to.discard_content();
              to.write(theirs, answer(R"("text":"")"));
            }),
            "<- {\"method\":\"notifications/message\"}\n"
            "<- {\"result\":{\"contents\":[{\"text\":\"one\\ntwo\",\"x\":1},{\"blob\":\"AP8=\"},{\"text\":\"\"}]}}\n"
            "<- {\"result\":{\"contents\":[{\"text\":\"\"}]}}\n");
}

TEST(trace_file, says_what_it_leaves_out) {
  const std::string long_text(1'100'000, 'a');
  const std::string digest = "sha256:6aafaf4ef7899e48a5590041668ae9a810e9156a9924ea484e3594072192fbd4";
  const auto expected = "# /result/contents/0/text: 1100000 bytes, " + digest + "\n<- " + answer(R"("text":"*")") + '\n';
  EXPECT_EQ(traced([&](trace_file& to) { to.write(theirs, answer(R"("text":")" + long_text + '"')); }), expected);
  EXPECT_EQ(traced([&](trace_file& to) {
              to.store_content(0, long_text);
              to.write(theirs, answer(R"("text":"")"));
            }),
            expected);
  // Names are the server's to choose, lines are not.
  const auto odd = traced([&](trace_file& to) { to.write(theirs, "{\"x\\n<- {}\":\"" + long_text + "\"}"); });
  EXPECT_EQ(odd, "# /x?<- {}: 1100000 bytes, " + digest + "\n<- {\"x\\n<- {}\":\"*\"}\n");
  // What is sent is needed as it is.
  const auto sent = traced([&](trace_file& to) { to.write(ours, '"' + long_text + '"'); });
  EXPECT_EQ(sent, "-> \"" + long_text + "\"\n");
}

TEST(trace_file, says_what_was_not_taken_to_its_end) {
  const auto text = traced([](trace_file& to) {
    to.store_content(0, "abc");
    to.discard_content();
    to.write(theirs, answer(R"("blob":"")"));
    to.write(theirs, answer(R"("blob":"")"));
  });
  EXPECT_EQ(text,
            "# content outside of messages, item 0: 3 bytes, "
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n# /result/contents/0/blob: not read to "
            "its end\n<- " +
                answer(R"("blob":"*")") + "\n<- " + answer(R"("blob":"")") + '\n');
}

TEST(trace_file, keeps_to_messages_that_are_none) {
  for (const auto* odd : {R"({"result":{"contents":["a",7]}})", R"({"result":{"contents":{}}})", R"({"result":[]})", "[1]"}) {
    const auto text = traced([odd](trace_file& to) {
      to.store_content(1, "abc");
      to.write(theirs, odd);
    });
    EXPECT_EQ(text, std::string("<- ") + odd + '\n');
  }
}

}  // namespace
}  // namespace hondana::cli
