/// A folder that is a git repository, served by the real program: as files and by git, in its sandbox.
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace {

using hondana::git::made_repository;
using program_test::http_client;
using program_test::message;
using program_test::read_request;
using program_test::run;
using program_test::run_in;
using program_test::served;
using program_test::well;

std::string reply_of(http_client& by, const std::string& uri) {
  return boost::json::serialize(message(by.post(read_request(1, uri), "resources/read", uri)));
}

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

TEST(program_repositories, are_served_as_files_and_by_git_unless_told_otherwise) {
  made_repository made;
  made.write("a.txt", "one\n");
  made.commit("first");
  made.write("a.txt", "two\n");
  for (const auto& got : {run({"check", made.path()}), run_in(made.path(), {"check"})}) {
    EXPECT_EQ(got.how, well) << got.errors;
    EXPECT_TRUE(mentions(got.output, "  + a.txt\n")) << got.output;
    EXPECT_TRUE(mentions(got.output, "git  git://\n")) << got.output;
    EXPECT_TRUE(mentions(got.output, "  + shelf/log\n")) << got.output;
    EXPECT_EQ(got.errors, "");
  }
  const auto without = run({"check", "--no-git", made.path()});
  EXPECT_EQ(without.how, well) << without.errors;
  EXPECT_TRUE(mentions(without.output, "  + a.txt\n")) << without.output;
  EXPECT_FALSE(mentions(without.output, "git://")) << without.output;
  served server({made.path()});
  EXPECT_TRUE(mentions(server.program().errors(), "  git  git://\n")) << server.program().errors();
  http_client peer(server.port());
  EXPECT_TRUE(mentions(reply_of(peer, "file://" + made.path() + "/a.txt"), R"("text":"two\n")"));
  EXPECT_TRUE(mentions(reply_of(peer, "git://shelf/blob/HEAD/a.txt"), R"("text":"one\n")"));
  EXPECT_TRUE(mentions(reply_of(peer, "git://shelf/changes"), "-one\\n+two\\n"));
}

TEST(program_repositories, that_cannot_be_served_by_git_are_served_as_files) {
  made_repository made;
  made.write("a.txt", "one\n");
  made.git({"config", "include.path", "/etc/hostname"});
  served server({made.path()});
  const auto& said = server.program().errors();
  EXPECT_TRUE(mentions(said, "the repository " + made.path() + " is left out: ")) << said;
  EXPECT_FALSE(mentions(said, "git://")) << said;
  http_client peer(server.port());
  EXPECT_TRUE(mentions(reply_of(peer, "file://" + made.path() + "/a.txt"), R"("text":"one\n")"));
}

TEST(program_repositories, in_other_encodings_are_read_from_within_the_sandbox) {
  // "Nihongo" in Shift_JIS and in EUC-JP: the system's tables are opened when the first of such texts is read.
  made_repository made;
  made.write("s.txt", "\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x8f\x91\x97\xde\n");
  made.commit("first");
  const auto euc = made.git({"-c", "i18n.commitEncoding=EUC-JP", "commit", "--quiet", "--allow-empty", "-F", "-"},
                            "\xc6\xfc\xcb\xdc\xb8\xec\n");
  EXPECT_EQ(euc, "");
  served server({made.path()});
  http_client peer(server.port());
  const auto text = reply_of(peer, "git://shelf/blob/HEAD/s.txt");
  EXPECT_TRUE(mentions(text, "日本語の書類\\n")) << text;
  EXPECT_TRUE(mentions(text, R"("dev.hondana/encoding":"Shift_JIS")")) << text;
  const auto log = reply_of(peer, "git://shelf/log");
  EXPECT_TRUE(mentions(log, "日本語")) << log;
}

TEST(program_repositories, keep_the_servers_own_files_at_every_revision) {
  made_repository made;
  made.write("hondana.toml", "title = \"committed\"\n");
  made.commit("first");
  made.write("hondana.toml", "title = \"changed\"\n");
  served server({"--config", made.path() + "/hondana.toml", made.path()});
  http_client peer(server.port());
  const auto blob = reply_of(peer, "git://shelf/blob/HEAD/hondana.toml");
  EXPECT_TRUE(mentions(blob, R"("message":"Resource not found")")) << blob;
  for (const auto* uri : {"git://shelf/changes", "git://shelf/commit/HEAD", "git://shelf/tree/HEAD"}) {
    const auto text = reply_of(peer, uri);
    EXPECT_TRUE(mentions(text, "1 left out") || mentions(text, "1 more left out")) << text;
    EXPECT_FALSE(mentions(text, "title = ")) << text;
  }
}

}  // namespace
