/// Legends, and the letters they are set in.
#include "sources/metrics/charts/legend.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {
namespace {

/// What is written, and how much else there is.
class written_canvas final : public canvas {
 public:
  struct word {
    std::string text;
    point at;
    double width;
  };
  std::vector<word> words{};
  std::size_t strokes = 0, boxes = 0;

  void fill(const box&, rgba) override { ++boxes; }
  void fill(const path&, rgba) override {}
  void stroke(const path&, const pen&) override { ++strokes; }
  void dots(const std::vector<point>&, double, rgba) override {}
  void write(point at, std::string_view text, const text_style& how) override {
    words.push_back({std::string(text), at, how.width});
  }
  void begin_group(std::string_view) override {}
  void end_group() override {}
};

struct drawn_legend {
  double height = 0;
  written_canvas on{};

  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const auto& one : on.words) out.push_back(one.text);
    return out;
  }
};

void draw_legend(drawn_legend& into, std::vector<std::string> names, std::size_t left_out = 0, double width = 572,
                 std::size_t most_rows = 6, bool is_stacked = false) {
  const auto letters = typesetter::create();
  ASSERT_TRUE(letters);
  const legend key(*letters, std::move(names), left_out, width, most_rows);
  into.height = key.height();
  key.draw(into.on, {14, 100}, is_stacked, false);
}

using texts_shown = std::vector<std::string>;

TEST(legend, of_short_names_is_one_row) {
  drawn_legend made;
  draw_legend(made, {"p50", "p90", "p99"});
  EXPECT_EQ(made.height, 17);
  EXPECT_EQ(made.texts(), (texts_shown{"p50", "p90", "p99"}));
  EXPECT_EQ(made.on.strokes, 3U);
  EXPECT_LT(made.on.words[0].at.x, made.on.words[1].at.x);
  EXPECT_EQ(made.on.words[0].at.y, made.on.words[1].at.y);
}

TEST(legend, of_a_stack_has_boxes) {
  drawn_legend made;
  draw_legend(made, {"user", "system"}, 0, 572, 6, true);
  EXPECT_EQ(made.on.boxes, 2U);
}

TEST(legend, leaves_out_labels_that_all_long_names_have) {
  std::vector<std::string> names;
  for (const char* const cpu : {"0", "1", "2"})
    names.push_back(std::string("job=\"node\",cpu=\"") + cpu + "\",instance=\"a.very.long.name.of.a.host.example:9100\"");
  drawn_legend made;
  draw_legend(made, std::move(names));
  EXPECT_EQ(made.texts(), (texts_shown{"…cpu=\"0\"…", "…cpu=\"1\"…", "…cpu=\"2\"…"}));
}

TEST(legend, shortens_names_in_the_middle_to_their_columns) {
  std::vector<std::string> names;
  for (int at = 0; at < 6; ++at) {
    std::string name(100, static_cast<char>('a' + at));
    name += std::to_string(at);
    names.push_back(std::move(name));
  }
  drawn_legend made;
  draw_legend(made, names);
  ASSERT_EQ(made.on.words.size(), 6U);
  for (std::size_t at = 0; at < 6; ++at) {
    const auto& one = made.on.words[at];
    EXPECT_NE(one.text.find("…"), std::string::npos);
    EXPECT_EQ(one.text.front(), names[at].front());
    EXPECT_EQ(one.text.back(), names[at].back());
    EXPECT_LE(one.at.x + one.width, 14 + 572 + 0.5);
  }
}

TEST(legend, counts_what_there_is_no_room_for_with_what_was_left_out) {
  std::vector<std::string> names;
  for (int at = 0; at < 50; ++at) names.push_back("instance=\"node-" + std::to_string(at) + ".example:9100\"");
  drawn_legend made;
  draw_legend(made, names, 7, 572, 3);
  EXPECT_EQ(made.height, 51);
  ASSERT_GT(made.on.words.size(), 3U);
  const auto shown = made.on.words.size() - 1;
  EXPECT_EQ(made.on.words.back().text, "and " + std::to_string(57 - shown) + " more");
  EXPECT_EQ(made.on.strokes, shown) << "the note has no line";
}

TEST(legend, without_names_or_room_is_nothing) {
  drawn_legend made;
  draw_legend(made, {});
  EXPECT_EQ(made.height, 0);
  draw_legend(made, {"a", "b"}, 0, 572, 0);
  EXPECT_EQ(made.height, 0);
  EXPECT_TRUE(made.on.words.empty());
}

TEST(typesetter, measures_text_as_it_is_set) {
  const auto letters = typesetter::create();
  ASSERT_TRUE(letters);
  const font plain{12, false};
  EXPECT_EQ(letters->width_of("", plain), 0);
  EXPECT_GT(letters->width_of("mm", plain), letters->width_of("m", plain));
  EXPECT_GT(letters->width_of("m", {24, false}), letters->width_of("m", plain) * 1.9);
  EXPECT_GT(letters->width_of("日本", plain), 20) << "a character of Japanese is as wide as it is high";
  EXPECT_GT(letters->width_of("<b>m</b>", plain), letters->width_of("m", plain) * 3) << "no markup";
  EXPECT_EQ(letters->width_of("a\nb", plain) > 0, true);
}

TEST(typesetter, shortens_text_to_its_room_in_the_middle_of_it) {
  const auto letters = typesetter::create();
  ASSERT_TRUE(letters);
  const font plain{12, false};
  EXPECT_EQ(letters->fit("short", plain, 1000), "short");
  const std::string text = "node_network_receive_bytes_total";
  for (const double room : {40.0, 80.0, 120.0}) {
    const auto made = letters->fit(text, plain, room);
    EXPECT_LE(letters->width_of(made, plain), room);
    EXPECT_NE(made.find("…"), std::string::npos);
    EXPECT_EQ(made.front(), 'n');
  }
  EXPECT_EQ(letters->fit(text, plain, 1), "…") << "never nothing";
}

TEST(typesetter, cuts_between_graphemes) {
  const auto letters = typesetter::create();
  ASSERT_TRUE(letters);
  const std::string accented = "e\u0301";
  std::string text;
  for (int at = 0; at < 30; ++at) text += accented;
  const auto made = letters->fit(text, {12, false}, 60);
  const auto cut = made.find("…");
  ASSERT_NE(cut, std::string::npos);
  EXPECT_EQ(cut % accented.size(), 0U);
  EXPECT_EQ((made.size() - cut - std::string("…").size()) % accented.size(), 0U);
}

TEST(typesetter, breaks_between_words_and_shortens_the_last_line) {
  const auto letters = typesetter::create();
  ASSERT_TRUE(letters);
  const font plain{12, false};
  const std::string text = "one two three four five six seven eight nine ten";
  const auto rows = letters->wrap(text, plain, 120, 2);
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) EXPECT_LE(letters->width_of(row, plain), 120);
  EXPECT_EQ(rows[0].substr(0, 7), "one two");
  EXPECT_NE(rows[0].back(), ' ');
  EXPECT_NE(rows[1].find("…"), std::string::npos);
  EXPECT_EQ(letters->wrap("one two", plain, 120, 2), (texts_shown{"one two"}));
  EXPECT_TRUE(letters->wrap("", plain, 120, 2).empty());
  EXPECT_EQ(letters->wrap("サーバー室の温度を測る", plain, 60, 9).size() > 1, true) << "there are no blanks in Japanese";
}

}  // namespace
}  // namespace hondana::charts
