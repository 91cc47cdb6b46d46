/// The tool read_resource: forms, parts, pages, refusals.
#include <optional>
#include <string>
#include <variant>

#include "unit/server/tools/shelf.hpp"

namespace hondana::tools {
namespace {

class read_resource : public bridged {
 protected:
  /// The texts of all pages put together, following each answer's own words.
  std::string all_pages(const std::string& arguments, int& pages) {
    std::string text;
    auto next = std::optional(arguments);
    for (pages = 0; next && pages < 1000; ++pages) {
      const auto answer = call("read_resource", *next);
      next.reset();
      for (const auto& block : answer.content) {
        if (const auto* one = std::get_if<embedded_block>(&block)) text += one->bytes;
        if (const auto* one = std::get_if<text_block>(&block)) next = arguments_of(one->text);
      }
      if (next && next->find("maxBytes") == std::string::npos) next->insert(next->size() - 1, R"(,"maxBytes":1024)");
    }
    return text;
  }
  static std::optional<std::string> arguments_of(const std::string& note) {
    const std::string before = "next: call read_resource again with ";
    const auto at = note.find(before);
    return at == std::string::npos ? std::nullopt : std::optional(note.substr(at + before.size()));
  }
  const embedded_block& only_block(const tool_result& from) { return std::get<embedded_block>(from.content.at(0)); }
};

TEST_F(read_resource, gives_a_text_embedded_with_its_annotations) {
  auto& entry = add("a", "hello", "text/markdown");
  entry.annotations.priority = 0.9;
  const auto answer = call("read_resource", R"({"uri":"memo:///a"})");
  ASSERT_EQ(answer.content.size(), 1u);
  const auto& block = only_block(answer);
  EXPECT_EQ(block.uri, "memo:///a");
  EXPECT_EQ(block.mime_type, "text/markdown");
  EXPECT_EQ(block.bytes, "hello");
  EXPECT_EQ(block.kind, content_kind::text);
  EXPECT_EQ(block.annotations.priority, 0.9);
  EXPECT_FALSE(answer.structured_content);
}

TEST_F(read_resource, gives_pictures_and_sounds_as_such_and_other_bytes_embedded) {
  add("p", std::string("\x89PNG\r\n\x1a\n\0", 9), "image/png");
  add("s", std::string("RIFF\4\0\0\0WAVE", 12), "audio/wav");
  add("b", std::string("PK\0", 3), "application/zip");
  add("v", "<svg/>", "image/svg+xml");
  const auto picture = call("read_resource", R"({"uri":"memo:///p"})");
  EXPECT_EQ(std::get<image_block>(picture.content.at(0)).bytes, std::string("\x89PNG\r\n\x1a\n\0", 9));
  EXPECT_EQ(std::get<image_block>(picture.content.at(0)).mime_type, "image/png");
  const auto sound = call("read_resource", R"({"uri":"memo:///s"})");
  EXPECT_EQ(std::get<audio_block>(sound.content.at(0)).mime_type, "audio/wav");
  EXPECT_EQ(only_block(call("read_resource", R"({"uri":"memo:///b"})")).kind, content_kind::blob);
  EXPECT_EQ(only_block(call("read_resource", R"({"uri":"memo:///v"})")).bytes, "<svg/>");
  const auto bytes = call("read_resource", R"({"uri":"memo:///p","range":"bytes=1-3"})");
  EXPECT_EQ(only_block(bytes).bytes, "PNG");
}

TEST_F(read_resource, pages_long_texts_and_says_how_to_go_on) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += "line " + std::to_string(i) + " 日本語\n";
  add("long", text);
  int pages = 0;
  EXPECT_EQ(all_pages(R"({"uri":"memo:///long","maxBytes":1024})", pages), text);
  EXPECT_GT(pages, 10);
  const auto first = call("read_resource", R"({"uri":"memo:///long","maxBytes":1024})");
  EXPECT_TRUE(only_block(first).bytes.ends_with('\n'));  // whole lines where it can be
  EXPECT_NE(std::get<text_block>(first.content.at(1)).text.find("memo:///long: bytes 0 to "), std::string::npos);
}

TEST_F(read_resource, pages_streams_of_any_size_and_never_cuts_a_character) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "語";
  add("stream", text);
  source->on_read = [text](const read_request&) -> result<read_result> {
    read_result made;
    made.contents.push_back({.mime_type = "text/plain", .data = std::make_shared<slow_reader>(text)});
    return made;
  };
  int pages = 0;
  EXPECT_TRUE(all_pages(R"({"uri":"memo:///stream","maxBytes":1024})", pages) == text);
  EXPECT_EQ(pages, 9);
}

TEST_F(read_resource, notices_that_a_stream_is_not_what_it_was) {
  add("changing", "some text");
  const auto reader = std::make_shared<slow_reader>("some text");
  reader->changes_between_passes = true;
  books.at("memo:///changing").contents.front().data = reader;
  EXPECT_EQ(refusal("read_resource", R"({"uri":"memo:///changing"})").code, errc::content_changed);
}

TEST_F(read_resource, gives_lines_and_bytes) {
  add("l", "one\ntwo\nthree\nfour");
  const auto part = [&](const std::string& range) {
    return only_block(call("read_resource", R"({"uri":"memo:///l","range":")" + range + "\"}")).bytes;
  };
  EXPECT_EQ(part("lines=2-3"), "two\nthree\n");
  EXPECT_EQ(part("lines=1"), "one\n");
  EXPECT_EQ(part("lines=4"), "four");
  EXPECT_EQ(part("lines=3-"), "three\nfour");
  EXPECT_EQ(part("lines=3-900"), "three\nfour");
  EXPECT_EQ(part("bytes=4-6"), "two");
  EXPECT_EQ(part("bytes=14-"), "four");
  const auto why = [&](const std::string& range) {
    return refusal("read_resource", R"({"uri":"memo:///l","range":")" + range + "\"}").public_text;
  };
  EXPECT_EQ(why("lines=5"), "range: begins at line 5, but there are only 4 lines.");
  EXPECT_EQ(why("bytes=18-"), "range: begins at byte 18, but there are only 18 bytes.");
  for (const auto* bad : {"lines=0", "lines", "lines=", "lines=3-2", "lines=a", "rows=1", "bytes=-5", "lines=1-2-3",
                          "lines=99999999999999999999"}) {
    EXPECT_TRUE(why(bad).starts_with("range: expected lines=10-40")) << bad;
  }
}

TEST_F(read_resource, ends_a_range_before_a_character_that_is_only_half_in_it) {
  add("a", "\u3042\u3044\u3046 and more");
  EXPECT_EQ(only_block(call("read_resource", R"({"uri":"memo:///a","range":"bytes=0-3"})")).bytes, "\u3042");
  int pages = 0;
  EXPECT_EQ(all_pages(R"({"uri":"memo:///a","range":"bytes=0-4"})", pages), "\u3042");
  EXPECT_EQ(pages, 1);
  EXPECT_EQ(all_pages(R"({"uri":"memo:///a","range":"bytes=0-1"})", pages), "");
  EXPECT_EQ(pages, 1);
}

TEST_F(read_resource, asks_the_source_for_a_part_of_what_is_too_large) {
  add("a?lines=2-3", "two\nthree\n");
  const auto all = source->on_read;
  source->on_read = [all](const read_request& request) -> result<read_result> {
    if (request.uri == "memo:///a") return fail(errc::response_too_large, "Too large.");
    return all(request);
  };
  const auto answer = call("read_resource", R"({"uri":"memo:///a","range":"lines=2-3"})");
  EXPECT_EQ(only_block(answer).bytes, "two\nthree\n");
  EXPECT_NE(refusal("read_resource", R"({"uri":"memo:///a"})").public_text.find("use a range"), std::string::npos);
}

TEST_F(read_resource, notices_a_change_of_what_has_no_version) {
  add("a", std::string(3000, 'a')).version.clear();
  const auto first = call("read_resource", R"({"uri":"memo:///a","maxBytes":1024})");
  const auto next = arguments_of(std::get<text_block>(first.content.back()).text);
  ASSERT_TRUE(next);
  EXPECT_NE(next->find("\"maxBytes\":1024"), std::string::npos);
  EXPECT_EQ(only_block(call("read_resource", *next)).bytes, std::string(1024, 'a'));
  add("a", std::string(3000, 'b')).version.clear();
  EXPECT_EQ(refusal("read_resource", *next).code, errc::content_changed);
}

TEST_F(read_resource, pages_within_a_range) {
  std::string text;
  for (int i = 1; i <= 500; ++i) text += "line " + std::to_string(i) + "\n";
  add("l", text);
  int pages = 0;
  const auto part = all_pages(R"({"uri":"memo:///l","range":"lines=100-400","maxBytes":1024})", pages);
  EXPECT_TRUE(part.starts_with("line 100\n"));
  EXPECT_TRUE(part.ends_with("\nline 400\n"));
  EXPECT_EQ(pages, 3);
}

TEST_F(read_resource, goes_through_all_contents_of_a_folder) {
  add("f", "memo:///f/a\n", "inode/directory");
  for (const char* name : {"a", "b"}) {
    resource_content one;
    one.uri = std::string("memo:///f/") + name;
    one.data = std::make_shared<const std::string>(std::string(1000, name[0]));
    books.at("memo:///f").contents.push_back(one);
  }
  int pages = 0;
  EXPECT_EQ(all_pages(R"({"uri":"memo:///f","maxBytes":1024})", pages),
            "memo:///f/a\n" + std::string(1000, 'a') + std::string(1000, 'b'));
  EXPECT_EQ(pages, 2);
  EXPECT_NE(refusal("read_resource", R"({"uri":"memo:///f","range":"lines=1"})").public_text.find("3 contents"),
            std::string::npos);
}

// attacks: reading a folder, which brings what a rule protects in it
TEST_F(read_resource, leaves_out_of_a_folder_what_needs_more_scopes) {
  add("shelf", "memo:///shelf/a\nmemo:///shelf/k.txt\n", "inode/directory");
  for (const char* const name : {"a", "k.txt"}) {
    resource_content one;
    one.uri = std::string("memo:///shelf/") + name;
    one.mime_type = "text/plain";
    one.data = std::make_shared<const std::string>(std::string("text of ") + name);
    books["memo:///shelf"].contents.push_back(std::move(one));
  }
  rules.rules = {{{}, {"memo:///shelf/k.txt"}, {}, {"private"}}};
  const auto texts = [&] {
    std::string all;
    for (const auto& block : call("read_resource", R"({"uri":"memo:///shelf"})").content) {
      if (const auto* text = std::get_if<embedded_block>(&block)) all += text->bytes + '|';
    }
    return all;
  };
  proved = std::make_shared<const auth_info>(auth_info{"t", {"mcp"}, {}});
  EXPECT_EQ(texts(), "memo:///shelf/a\nmemo:///shelf/k.txt\n|text of a|");
  proved = std::make_shared<const auth_info>(auth_info{"t", {"private"}, {}});
  EXPECT_EQ(texts(), "memo:///shelf/a\nmemo:///shelf/k.txt\n|text of a|text of k.txt|");
}

TEST_F(read_resource, says_what_is_wrong_and_what_to_do) {
  add("a", "text");
  add("b", std::string("\0", 1), "application/zip");
  add("big", "\x89PNG\r\n\x1a\n" + std::string((4u << 20) - 7, '\0'), "image/png");
  EXPECT_EQ(refusal("read_resource", R"({"uri":"memo:///none"})").public_text,
            "Resource not found: memo:///none. It does not exist, or you may not read it. Use a URI from list_resources or "
            "search_resources.");
  EXPECT_TRUE(refusal("read_resource", R"({"uri":"no uri"})").public_text.starts_with("uri: "));
  EXPECT_TRUE(refusal("read_resource", R"({"uri":"memo:///a","cursor":"x"})").public_text.starts_with("cursor: "));
  EXPECT_TRUE(refusal("read_resource", R"({"uri":"memo:///b","range":"lines=1"})").public_text.starts_with("range: "));
  const auto big = refusal("read_resource", R"({"uri":"memo:///big"})");
  EXPECT_EQ(big.code, errc::response_too_large);
  EXPECT_NE(big.public_text.find("4194305 bytes of image/png"), std::string::npos);
}

TEST_F(read_resource, keeps_a_cursor_to_its_resource_range_and_version) {
  add("a", std::string(3000, 'x'));
  add("b", std::string(3000, 'x'));
  const auto first = call("read_resource", R"({"uri":"memo:///a","maxBytes":1024})");
  const auto next = arguments_of(std::get<text_block>(first.content.at(1)).text);
  ASSERT_TRUE(next);
  const auto cursor = value::parse(*next)->string_at("cursor").value();
  EXPECT_TRUE(
      refusal("read_resource", R"({"uri":"memo:///b","cursor":")" + cursor + "\"}").public_text.starts_with("cursor: "));
  EXPECT_TRUE(refusal("read_resource", R"({"uri":"memo:///a","range":"lines=1","cursor":")" + cursor + "\"}")
                  .public_text.starts_with("cursor: "));
  books.at("memo:///a").entry.version = "2";
  EXPECT_EQ(refusal("read_resource", *next).code, errc::content_changed);
}

// attacks: what the caller may not list
TEST_F(read_resource, knows_nothing_of_what_is_hidden) {
  add("secret", "x");
  const auto absent = refusal("read_resource", R"({"uri":"memo:///absent"})").public_text;
  view =
      std::make_shared<test::hiding_view>(1, [](std::string_view uri) { return uri.find("secret") != std::string_view::npos; });
  auto hidden = refusal("read_resource", R"({"uri":"memo:///secret"})").public_text;
  hidden.replace(hidden.find("secret"), 6, "absent");
  EXPECT_EQ(hidden, absent);
}

}  // namespace
}  // namespace hondana::tools
