/// Files at revisions: bytes, encodings, links, submodules and pointers.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::HasSubstr;

const metadata_value* fact_of(const read_result& made, std::string_view name) {
  for (const auto& [key, one] : made.contents.at(0).metadata)
    if (key == name) return &one;
  return nullptr;
}

TEST(git_blobs, bytes_are_those_of_git_at_each_revision) {
  made_repository made;
  const std::string binary("\x89PNG\r\n\x1a\n\0\1\2", 11);
  made.write("a.md", "# one\n");
  made.write("pic.png", binary);
  made.commit("first");
  made.write("a.md", "# two\n");
  made.commit("second");
  const served_repository shelf(made);
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/a.md"), "# two\n");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD~1/a.md"), "# one\n");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/pic.png"), binary);
  EXPECT_EQ(shelf.read("git://shelf/blob/HEAD/a.md").contents[0].mime_type, "text/markdown");
  EXPECT_EQ(shelf.read("git://shelf/blob/HEAD/pic.png").contents[0].mime_type, "image/png");
  EXPECT_EQ(shelf.read("git://shelf/blob/HEAD/pic.png").contents[0].kind, content_kind::blob);
  EXPECT_EQ(shelf.read("git://shelf/blob/HEAD/a.md").version + '\n', made.git({"rev-parse", "HEAD:a.md"}));
}

TEST(git_blobs, odd_names_come_back_as_they_are_listed) {
  made_repository made;
  const std::vector<std::string> names{"a b",       "100%",       "c#d?e", "\x83\x65\x83\x58\x83\x67",
                                       "new\nline", "ü+&=;,()[]", "-x",    "q\"uote"};
  for (std::size_t i = 0; i < names.size(); ++i) made.write("dir/" + names[i], "content " + std::to_string(i));
  made.commit("odd names");
  const served_repository shelf(made);
  const auto uris = shelf.children("git://shelf/tree/HEAD/dir");
  ASSERT_EQ(uris.size(), names.size());
  std::string all;
  for (const auto& uri : uris) all += shelf.text(uri) + '|';
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_THAT(all, HasSubstr("content " + std::to_string(i) + '|'));
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/dir/%83e%83X%83g"), "content 3");
}

TEST(git_blobs, text_in_another_encoding_is_converted_and_says_so) {
  made_repository made;
  made.write("sjis.txt",
             "\x83\x65\x83\x58\x83\x67\x82\xcd\x93\xfa\x96\x7b\x8c\xea\x82\xc5\x82\xb7\n\x8e\x9f\x82\xcc\x8d\x73\n");
  made.commit("Shift_JIS");
  const served_repository shelf(made);
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/sjis.txt"), "テストは日本語です\n次の行\n");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/sjis.txt?lines=2"), "次の行\n");
  const auto made_reading = shelf.read("git://shelf/blob/HEAD/sjis.txt");
  const auto* encoding = fact_of(made_reading, "dev.hondana/encoding");
  ASSERT_NE(encoding, nullptr);
  EXPECT_EQ(std::get<std::string>(*encoding), "Shift_JIS");
}

TEST(git_blobs, lines_are_cut_from_the_text) {
  made_repository made;
  made.write("a", "1\n2\n3\n4");
  made.write("empty", "");
  made.write("binary", std::string_view("a\0\n", 3));
  made.commit("lines");
  const served_repository shelf(made);
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/a?lines=2-3"), "2\n3\n");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/a?lines=3-"), "3\n4");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/a?lines=4"), "4");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/a?lines=1-99"), "1\n2\n3\n4");
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/a?lines=5").public_text,
            "lines: the file has 4 lines, and the range begins after them.");
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/empty?lines=1").code, errc::invalid_argument);
  EXPECT_EQ(shelf.error("git://shelf/blob/HEAD/binary?lines=1").code, errc::invalid_argument);
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/empty"), "");
}

TEST(git_blobs, where_a_submodule_comes_from_is_told_as_far_as_it_may_be_known) {
  made_repository made;
  made.write(
      ".gitmodules",
      "[submodule \"s\"]\n\tpath = sub\n\turl = /home/ada/sub.git\n[submodule \"b\"]\n\tpath = beside\n\turl = ../b.git\n");
  made.git({"add", "."});
  for (const auto* path : {"sub", "beside"})
    made.git({"update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890," + std::string(path)});
  made.git({"commit", "-q", "-m", "submodules"});
  const served_repository shelf(made);
  EXPECT_THAT(shelf.text("git://shelf/blob/HEAD/sub"), testing::EndsWith(" of a local repository\n"));
  EXPECT_THAT(shelf.text("git://shelf/blob/HEAD/beside"), testing::EndsWith(" of ../b.git\n"));
  const auto through = std::make_shared<const test_view>(
      [](std::string_view uri) { return uri.find("/.gitmodules") == std::string_view::npos; });
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/beside", through),
            "Submodule at commit 1234567890123456789012345678901234567890\n");
}

TEST(git_blobs, links_submodules_and_pointers_are_told_apart) {
  made_repository made;
  constexpr std::string_view pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  made.write("large.bin", pointer);
  made.write(".gitmodules", "[submodule \"s\"]\n\tpath = sub\n\turl = https://user:pw@example.com/sub.git\n");
  made.git({"add", "."});
  made.git({"update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,sub"});
  const auto target = made.git({"hash-object", "-w", "--stdin"}, "../outside/passwd");
  made.git({"update-index", "--add", "--cacheinfo", "120000," + target.substr(0, 40) + ",link"});
  made.git({"commit", "-q", "-m", "kinds"});
  const served_repository shelf(made);
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/link"), "../outside/passwd");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/sub"),
            "Submodule at commit 1234567890123456789012345678901234567890 of https://example.com/sub.git\n");
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/large.bin"), pointer);
  const auto lfs = shelf.read("git://shelf/blob/HEAD/large.bin");
  ASSERT_NE(fact_of(lfs, "dev.hondana/lfsOid"), nullptr);
  EXPECT_EQ(std::get<std::string>(*fact_of(lfs, "dev.hondana/lfsOid")), "sha256:4d7a");
  EXPECT_EQ(std::get<std::int64_t>(*fact_of(lfs, "dev.hondana/lfsSize")), 12345);
  describe_request request;
  for (const auto& [name, kind] : {std::pair("link", "link"), std::pair("sub", "submodule"), std::pair("large.bin", "blob")}) {
    request.uri = std::string("git://shelf/blob/HEAD/") + name;
    EXPECT_EQ(shelf.provider().describe(request).value().kind, kind);
  }
}

TEST(git_blobs, what_is_too_large_says_size_and_limit) {
  made_repository made;
  made.write("a", std::string(2000, 'x') + '\n');
  made.commit("large");
  const served_repository shelf(made);
  read_request request;
  request.uri = request.requested_uri = "git://shelf/blob/HEAD/a";
  request.max_bytes = 1000;
  const auto refused = shelf.provider().read(request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::response_too_large);
  EXPECT_THAT(refused.error().public_text, HasSubstr("2001 bytes; the read limit is 1000 bytes"));
}

}  // namespace
}  // namespace hondana::git
