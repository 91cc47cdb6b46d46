/// Texts in other encodings, and names with nothing to see.
#include "sources/gdrive/charset_conversion.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "sources/gdrive/catalog_entries.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

/// "会議の議事録です。" in Shift_JIS, some lines of it.
std::string in_shift_jis(int lines) {
  std::string out;
  for (int i = 0; i < lines; ++i) out += "\x89\xEF\x8B\x63\x82\xCC\x8B\x63\x8E\x96\x98\x5E\x82\xC5\x82\xB7\x81\x42\r\n";
  return out;
}

struct gdrive_converted : served_drive {
  [[nodiscard]] resource_content first_of(gdrive_provider& of, const std::string& uri) const {
    auto made = read(of, uri);
    EXPECT_TRUE(made) << made.error().public_text;
    EXPECT_EQ(made->contents.size(), 1u);
    return std::move(made->contents.front());
  }
};

TEST_F(gdrive_converted, a_text_in_shift_jis_is_given_as_utf_8_and_says_so) {
  paper->hold(paper_file("1a", "memo.txt"));
  paper->put("1a", "", in_shift_jis(3));
  const auto drive = serve();
  for (int i = 0; i < 2; ++i) {
    const auto made = first_of(*drive, "gdrive:///1a");
    EXPECT_EQ(bytes_of(made), "会議の議事録です。\r\n会議の議事録です。\r\n会議の議事録です。\r\n");
    EXPECT_EQ(made.kind, content_kind::text);
    EXPECT_EQ(made.mime_type, "text/plain");
    EXPECT_EQ(fact(made.metadata, charset_key), "Shift_JIS");
    EXPECT_EQ(fact(made.metadata, replaced_key), "");
    EXPECT_EQ(fact(made.metadata, original_key), "gdrive://my-drive/memo.txt?format=original");
  }
  EXPECT_EQ(paper->count_of("content"), 1u) << "what is kept is converted, too";
  const auto original = first_of(*drive, "gdrive:///1a?format=original");
  EXPECT_EQ(bytes_of(original), in_shift_jis(3)) << "which is the file as it is";
  EXPECT_EQ(fact(original.metadata, charset_key), "");
}

TEST_F(gdrive_converted, one_that_is_too_large_for_memory_is_given_as_utf_8_all_the_same) {
  paper->hold(paper_file("1a", "long.txt"));
  paper->put("1a", "", in_shift_jis(60'000));
  const auto drive = serve();
  const auto made = first_of(*drive, "gdrive:///1a");
  EXPECT_TRUE(bytes_of(made).starts_with("会議の議事録です。\r\n"));
  EXPECT_EQ(fact(made.metadata, charset_key), "Shift_JIS");
}

TEST_F(gdrive_converted, utf_8_and_what_is_called_no_text_or_is_none_stay_as_they_are) {
  std::string noise;
  for (int i = 0; i < 1'024; ++i) noise += static_cast<char>(i % 256);
  auto picture = paper_file("1p", "p.png", "image/png");
  paper->hold(paper_file("1u", "u.txt"));
  paper->hold(paper_file("1n", "n.txt"));
  paper->hold(picture);
  paper->put("1u", "", "議事録\n");
  paper->put("1n", "", noise);
  paper->put("1p", "", in_shift_jis(3));
  const auto drive = serve();
  for (const auto& [uri, bytes] : {std::pair<const char*, std::string>{"gdrive:///1u", "議事録\n"},
                                   {"gdrive:///1n", noise},
                                   {"gdrive:///1p", in_shift_jis(3)}}) {
    const auto made = first_of(*drive, uri);
    EXPECT_EQ(bytes_of(made), bytes) << uri;
    EXPECT_EQ(made.kind, content_kind::detect) << uri;
    EXPECT_EQ(fact(made.metadata, charset_key), "") << uri;
  }
}

/// Ends after some of what it promises.
class short_reader final : public byte_reader {
 public:
  [[nodiscard]] std::uint64_t size() const noexcept override { return 100; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    if (std::exchange(is_read_, true)) return 0;
    std::memset(into.data(), 'a', std::min<std::size_t>(into.size(), 10));
    return 10;
  }
  [[nodiscard]] result<void> rewind() override { return {}; }

 private:
  bool is_read_ = false;
};

/// Gives what it has in pieces of a size.
class reader_in_pieces final : public byte_reader {
 public:
  reader_in_pieces(std::string all, std::size_t each) : all_(std::move(all)), each_(each) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return all_.size(); }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto count = std::min({into.size(), each_, all_.size() - at_});
    all_.copy(into.data(), count, at_);
    at_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    at_ = 0;
    return {};
  }

 private:
  const std::string all_;
  const std::size_t each_;
  std::size_t at_ = 0;
};

TEST_F(gdrive_converted, utf_8_is_known_for_that_wherever_it_is_cut_and_goes_on_being_streamed) {
  std::string text = "a";
  for (int i = 0; i < 50'000; ++i) text += "\xF0\xA0\xAE\xB7";
  for (const std::size_t each : {1'000U, 65'536U, 1U << 20U}) {
    part of;
    of.mime_type = "text/plain";
    of.data = std::make_shared<reader_in_pieces>(text, each);
    ASSERT_TRUE(convert_to_utf8(of, 1U << 20U));
    EXPECT_TRUE(std::holds_alternative<std::shared_ptr<byte_reader>>(of.data)) << each;
    EXPECT_EQ(of.charset, "");
    part bad;
    bad.mime_type = "text/plain; charset=Shift_JIS";
    bad.data = std::make_shared<reader_in_pieces>(text.substr(0, text.size() - 1) + in_shift_jis(100), each);
    ASSERT_TRUE(convert_to_utf8(bad, 1U << 20U));
    EXPECT_TRUE(std::holds_alternative<shared_bytes>(bad.data)) << each;
    EXPECT_EQ(bad.mime_type, "text/plain") << "it is UTF-8 now";
  }
}

TEST_F(gdrive_converted, what_would_be_more_than_a_read_may_give_stays_as_it_is) {
  part of;
  of.mime_type = "text/plain";
  of.data = std::make_shared<const std::string>(in_shift_jis(100));
  ASSERT_TRUE(convert_to_utf8(of, 100));
  EXPECT_EQ(of.charset, "");
  EXPECT_EQ(*std::get<shared_bytes>(of.data), in_shift_jis(100));
  ASSERT_TRUE(convert_to_utf8(of, 1U << 20U));
  EXPECT_NE(of.charset, "");
}

TEST_F(gdrive_converted, a_reader_that_ends_too_early_is_an_error) {
  part of;
  of.mime_type = "text/plain";
  of.data = std::make_shared<short_reader>();
  const auto done = convert_to_utf8(of, 1U << 20U);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::content_changed);
}

TEST_F(gdrive_converted, a_file_without_a_visible_name_has_that_of_its_id) {
  paper->hold(paper_file("1none", ""));
  paper->hold(paper_file("1blank", " \t"));
  paper->hold(paper_file("1wide", "\xE3\x80\x80\xE2\x80\x8B"));
  for (const auto* id : {"1none", "1blank", "1wide"}) paper->put(id, "", "text");
  const auto drive = serve();
  const auto recent = bytes_of(first_of(*drive, "gdrive:///recent"));
  for (const std::string id : {"1none", "1blank", "1wide"}) {
    EXPECT_NE(recent.find("- [" + id + "](gdrive://my-drive/"), std::string::npos) << recent;
    EXPECT_EQ(first_of(*drive, "gdrive:///" + id).name, id);
  }
}

}  // namespace
}  // namespace hondana::gdrive
