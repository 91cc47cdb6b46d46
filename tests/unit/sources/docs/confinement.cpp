/// Nothing outside the folder is read, whatever is asked for and whatever lies in it.
#include <sys/stat.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct confined_documents : served_documents {
  confined_documents() {
    fs::create_directories(root / "set");
    write("set-old/secret.md", "# outside\n");
    write("secret.md", "# outside\n");
    write("set/a.md", "# A\n");
  }
  std::shared_ptr<docs_provider> serve_set() {
    auto how = plain_options();
    how.path = (root / "set").string();
    return serve(how);
  }
};

TEST_F(confined_documents, do_not_lie_above_or_beside_their_folder) {
  const auto from = serve_set();
  for (const auto* path :
       {"../secret.md", "..%2Fsecret.md", "%2e%2e/secret.md", "%252e%252e/secret.md", "a.md/../../secret.md",
        "../set-old/secret.md", "/etc/passwd", "//etc/passwd", "..\\secret.md", "%5C%5Cserver%5Cshare", "C:%5Cx",
        "a.md%2F..%2F..%2Fsecret.md", "./../secret.md", "set-old/secret.md", "..;/secret.md", "a.md/"}) {
    const auto got = read(*from, "docs://book/" + std::string(path));
    ASSERT_FALSE(got) << path;
    EXPECT_TRUE(got.error().code == errc::resource_not_found || got.error().code == errc::invalid_argument) << path;
  }
  read_request raw;
  raw.requested_uri = raw.uri = "docs://book/a.md%00";
  EXPECT_FALSE(from->read(raw));
  raw.uri = "docs://book/" + std::string(100'000, 'a');
  EXPECT_EQ(from->read(raw).error().code, errc::resource_not_found);
  raw.uri = "docs://book/../secret.md";
  EXPECT_EQ(from->read(raw).error().code, errc::resource_not_found);
}

TEST_F(confined_documents, are_not_read_through_links) {
  fs::create_symlink("/etc/passwd", root / "set/passwd.md");
  fs::create_symlink("..", root / "set/up");
  fs::create_symlink("../secret.md", root / "set/one.md");
  fs::create_symlink("one.md", root / "set/two.md");
  fs::create_symlink("../nothing.md", root / "set/dangling.md");
  const auto from = serve_set();
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/a.md"));
  for (const auto* path : {"passwd.md", "up/secret.md", "one.md", "two.md", "dangling.md"}) {
    EXPECT_EQ(error_at(*from, "docs://book/" + std::string(path)), errc::resource_not_found) << path;
  }
  EXPECT_EQ(surveyed(*from, false).at("one.md"), "symbolic links are not followed");
}

TEST_F(confined_documents, that_have_become_links_are_gone) {
  const auto from = serve_set();
  EXPECT_EQ(text_at(*from, "docs://book/a.md"), "# A\n");
  fs::remove(root / "set/a.md");
  fs::create_symlink("../secret.md", root / "set/a.md");
  EXPECT_EQ(error_at(*from, "docs://book/a.md"), errc::resource_not_found);
  EXPECT_EQ(error_at(*from, "docs://book/a.md?format=original"), errc::resource_not_found);
}

TEST_F(confined_documents, are_regular_files) {
  ASSERT_EQ(::mkfifo((root / "set/pipe.md").c_str(), 0600), 0);
  fs::create_directories(root / "set/folder.md");
  const auto from = serve_set();
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/a.md"));
  EXPECT_EQ(error_at(*from, "docs://book/pipe.md"), errc::resource_not_found);
  EXPECT_EQ(error_at(*from, "docs://book/folder.md"), errc::resource_not_found);
}

TEST_F(confined_documents, are_neither_hidden_nor_named_like_secrets) {
  write("set/.hidden.md", "# H\n");
  write("set/.git/config.md", "# H\n");
  write("set/id_rsa", "key\n");
  write("set/server.key", "key\n");
  const auto from = serve_set();
  EXPECT_THAT(listed(*from), ElementsAre("docs://book/", "docs://book/a.md"));
  EXPECT_EQ(error_at(*from, "docs://book/.hidden.md"), errc::resource_not_found);
  EXPECT_EQ(error_at(*from, "docs://book/.hondana-docs.toml"), errc::resource_not_found);
}

TEST_F(confined_documents, larger_than_the_set_reads_are_refused_unread) {
  write("set/huge.txt", "x");
  fs::resize_file(root / "set/huge.txt", 1ull << 40);
  const auto from = serve_set();
  const auto got = read(*from, "docs://book/huge.txt");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_THAT(got.error().public_text, HasSubstr("max_bytes"));
  EXPECT_EQ(error_at(*from, "docs://book/huge.txt?section=x"), errc::response_too_large);
  EXPECT_EQ(error_at(*from, "docs://book/huge.txt?format=original"), errc::response_too_large);
  EXPECT_THAT(surveyed(*from, true).at("huge.txt"), HasSubstr("more than the limit of 64 MiB"));
  EXPECT_EQ(text_at(*from, "docs://book/a.md"), "# A\n");
}

TEST_F(confined_documents, that_are_larger_than_a_small_limit_are_told_in_sizes_that_say_so) {
  write("set/long.txt", std::string(300, 'x'));
  auto how = plain_options();
  how.path = (root / "set").string();
  how.max_bytes = 128;
  EXPECT_THAT(text_at(*serve(how), "docs://book/long.txt"),
              HasSubstr("The document has 300 bytes, more than the limit of 128 bytes"));
  write("set/long.txt", std::string(3072, 'x'));
  how.max_bytes = 2048;
  EXPECT_THAT(text_at(*serve(how), "docs://book/long.txt"), HasSubstr("The document has 3 KiB, more than the limit of 2 KiB"));
}

TEST_F(confined_documents, of_one_line_are_served_up_to_the_limit) {
  write("set/line.txt", std::string(9u << 20, 'x'));
  const auto from = serve_set();
  EXPECT_EQ(entry_at(*from, "docs://book/line.txt").title, "line");
  EXPECT_EQ(text_at(*from, "docs://book/line.txt").size(), 9u << 20);
}

TEST_F(confined_documents, have_any_names) {
  for (const auto* name : {"a b.md", "100%.md", "a#b.md", "a?b.md", "a+b.md", "a\nb.md", "[x].md", "a,b.md"}) {
    write("set/" + std::string(name), "# T\n");
  }
  const auto from = serve_set();
  const auto all = entries_of(*from);
  EXPECT_EQ(all.size(), 10u);
  for (const auto& one : all) {
    EXPECT_EQ(canonical_uri(one.uri).value_or(""), one.uri);
    EXPECT_TRUE(one.kind != "document" || read(*from, one.uri)) << one.uri;
  }
}

TEST_F(confined_documents, have_one_uri_for_nfc_and_nfd) {
  const std::string decomposed = "カ\u3099イト\u3099.md";
  write("set/" + decomposed, "# ガイド\n");
  const auto from = serve_set();
  const auto uri = canonical_uri("docs://book/ガイド.md").value();
  EXPECT_THAT(listed(*from), testing::Contains(uri));
  EXPECT_EQ(text_at(*from, uri), "# ガイド\n");
  caller_info local;
  local.identity = "local";
  EXPECT_EQ(text_at(*from, "docs://book/" + decomposed, local), "# ガイド\n");
  EXPECT_EQ(text_at(*from, "docs://book/ｶﾞｲﾄﾞ.md", local), "# ガイド\n");
  // Rules for callers name the one URI, and must not be gone round by another spelling.
  caller_info remote;
  remote.identity = "alice";
  EXPECT_THAT(text_at(*from, "docs://book/" + decomposed, remote),
              HasSubstr("error: This URI is another spelling of a document"));
  EXPECT_THAT(text_at(*from, "docs://book/" + decomposed, remote), HasSubstr(uri));
  EXPECT_THAT(text_at(*from, "docs://book/" + decomposed, somebody(uri)), HasSubstr("Document not found"));
}

TEST_F(confined_documents, both_nfc_and_nfd_keep_names_of_their_own) {
  write("set/カ\u3099.md", "# decomposed\n");
  write("set/ガ.md", "# composed\n");
  const auto from = serve_set();
  EXPECT_EQ(text_at(*from, "docs://book/ガ.md"), "# composed\n");
  EXPECT_EQ(text_at(*from, "docs://book/カ\u3099.md"), "# decomposed\n");
}

TEST_F(confined_documents, need_their_folder_and_the_programs_that_render) {
  auto how = plain_options();
  how.renderer = paper;
  const auto from = serve(how);
  const auto needs = from->requirements();
  ASSERT_EQ(needs.folders.size(), 1u);
  EXPECT_EQ(needs.folders.front().path, root.string());
  EXPECT_FALSE(needs.folders.front().is_writable);
  EXPECT_THAT(needs.programs, ElementsAre("/usr/bin/paper"));
  EXPECT_TRUE(serve()->requirements().programs.empty());
}

TEST_F(confined_documents, come_back_with_their_folder) {
  const auto from = serve_set();
  EXPECT_EQ(listed(*from).size(), 2u);
  fs::rename(root / "set", root / "away");
  const auto gone = from->list({});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, errc::source_unavailable);
  EXPECT_FALSE(from->health().is_healthy);
  fs::rename(root / "away", root / "set");
  EXPECT_EQ(listed(*from).size(), 2u);
  EXPECT_TRUE(from->health().is_healthy);
}

}  // namespace
}  // namespace hondana::docs
