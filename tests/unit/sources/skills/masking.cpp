/// Secrets in skills: masked before anything is said about the files.
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <hondana/skill_provider.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "unit/sources/skills/skill_folders.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace hondana::skills;

std::string digest_of(const std::string& bytes) {
  bytes::sha256 digest;
  digest.update(bytes);
  return digest.finish();
}

/// All bytes of a read, and what its facts say once all has been read.
struct sent {
  std::string bytes;
  metadata facts;
};

sent read_all(provider& from, const std::string& uri) {
  read_request asked;
  asked.uri = asked.requested_uri = uri;
  auto found = from.read(asked);
  EXPECT_TRUE(found);
  if (!found) return {};
  auto ready = bytes::prepare_content(std::move(*found), asked);
  EXPECT_TRUE(ready);
  if (!ready) return {};
  auto& one = ready->contents.front();
  if (const auto* whole = std::get_if<shared_bytes>(&one.data)) return {**whole, one.metadata};
  sent out{{}, one.metadata};
  std::string window(100'000, '\0');
  const auto& reader = std::get<bytes::verified_stream>(one.data).reader;
  for (auto count = reader->read(window); count && *count != 0; count = reader->read(window))
    out.bytes += window.substr(0, *count);
  return out;
}

/// What the skill says of a file is true of what is sent, and there is no secret in it.
template <class Provider>
void check(Provider& from, const std::string& token, std::size_t size) {
  const auto answer = read_all(from, "skill://pdf/a.py");
  EXPECT_EQ(answer.bytes.size(), size);
  EXPECT_EQ(answer.bytes.find(token), std::string::npos);
  EXPECT_EQ(answer.facts, (metadata{{"dev.hondana/redacted", std::int64_t{1}}}));
  const auto one = skill_at(from, "skill://pdf/SKILL.md");
  ASSERT_TRUE(one);
  ASSERT_TRUE(one->files);
  for (const auto& file : *one->files) {
    if (!file.uri.ends_with("a.py")) continue;
    EXPECT_EQ(file.size, size);
    EXPECT_EQ(file.digest, digest_of(answer.bytes));
  }
}

TEST_F(skill_folders, mask_secrets_so_that_digests_are_of_what_is_sent) {
  const auto token = "ghp_" + test::lots(3).alnum(36);
  for (const std::size_t rest : {std::size_t{10}, std::size_t{1'200'000}}) {
    const auto text = "key = '" + token + "'\n" + std::string(rest, 'x');
    write("pdf/SKILL.md", skill_text("pdf"));
    write("pdf/a.py", text);
    wait_until_settled("pdf/a.py");
    const auto from = open();
    EXPECT_EQ(from->traits().masking, secret_masking::by_source);
    check(*from, token, text.size());
  }
}

TEST_F(skill_folders, mask_settings_in_files_of_configuration_only) {
  const std::string text = "DB_PASSWORD=aB3dE5fG7!\n";
  const std::string masked = "DB_PASSWORD=**********\n";
  write("pdf/SKILL.md", skill_text("pdf"));
  write("pdf/run.sh", text);
  write("pdf/app.toml", text);
  write("pdf/notes.txt", text);
  wait_until_settled("pdf/notes.txt");
  const auto from = open();
  skill_provider held("books");
  ASSERT_TRUE(held.add("pdf", {{"SKILL.md", skill_text("pdf")}, {"run.sh", text}, {"app.toml", text}, {"notes.txt", text}}));
  for (provider* of : {static_cast<provider*>(from.get()), static_cast<provider*>(&held)}) {
    EXPECT_EQ(read_all(*of, "skill://pdf/run.sh").bytes, masked);
    EXPECT_EQ(read_all(*of, "skill://pdf/app.toml").bytes, masked);
    EXPECT_EQ(read_all(*of, "skill://pdf/notes.txt").bytes, text);
  }
}

TEST_F(skill_folders, are_left_as_they_are_where_secrets_are_wanted) {
  const auto text = "key = 'ghp_" + test::lots(3).alnum(36) + "'\n";
  write("pdf/SKILL.md", skill_text("pdf"));
  write("pdf/a.py", text);
  const auto opened = folder_skills_provider::open({}, {root.string()}, {}, false, false);
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->traits().masking, secret_masking::none);
  EXPECT_EQ(read_all(**opened, "skill://pdf/a.py").bytes, text);
}

TEST(masked_skills_in_memory, are_masked_when_they_are_added) {
  const auto token = "ghp_" + test::lots(3).alnum(36);
  const auto text = "key = '" + token + "'\n";
  skill_provider from("books");
  ASSERT_TRUE(from.add("pdf", {{"SKILL.md", skill_text("pdf")}, {"a.py", text}}));
  EXPECT_EQ(from.traits().masking, secret_masking::by_source);
  check(from, token, text.size());
}

}  // namespace
