/// Cutting lines: pieces cut anywhere, caps, carriage returns.
#include "transport/stdio/input.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::transport::stdio {
namespace {

struct collected {
  std::vector<std::string> lines;
  int oversized = 0;
};

collected feed(line_splitter& splitter, const std::vector<std::string>& pieces) {
  collected all;
  for (const auto& piece : pieces) {
    splitter.feed(piece, [&](std::string_view line) { all.lines.emplace_back(line); }, [&] { ++all.oversized; });
  }
  return all;
}

TEST(line_splitter, hands_out_lines_however_the_bytes_are_cut) {
  const std::string text = "{\"a\":1}\n\n{\"b\":2}\r\nlast";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    line_splitter splitter(100);
    const auto all = feed(splitter, {text.substr(0, cut), text.substr(cut)});
    EXPECT_EQ(all.lines, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"})) << cut;
    EXPECT_EQ(splitter.remainder(), "last") << cut;
  }
}

TEST(line_splitter, drops_a_line_over_the_cap_once_and_goes_on) {
  line_splitter splitter(4);
  const auto all = feed(splitter, {"abc", "de", "fgh", "\nok\n", "12345\nyes\n", "1234\n"});
  EXPECT_EQ(all.oversized, 2);
  EXPECT_EQ(all.lines, (std::vector<std::string>{"ok", "yes", "1234"}));
}

TEST(line_splitter, keeps_no_more_than_the_cap) {
  line_splitter splitter(1000);
  int oversized = 0;
  for (int i = 0; i < 100000; ++i) splitter.feed("xxxxxxxxxx", [](std::string_view) {}, [&] { ++oversized; });
  EXPECT_EQ(oversized, 1);
  EXPECT_LE(splitter.remainder().size(), 1000u);
}

}  // namespace
}  // namespace hondana::transport::stdio
