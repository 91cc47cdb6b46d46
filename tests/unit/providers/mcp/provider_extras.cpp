/// Skills, folders and versions of a mounted server, and mounts that do not wait to be asked.
#include <gmock/gmock.h>

#include <hondana/skills.hpp>

#include "unit/providers/mcp/mounting.hpp"

namespace hondana::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct skill_server {
  skill_server() {
    const std::string text = "---\nname: pdf\ndescription: Fills forms\n---\nRead forms.md.\n";
    EXPECT_TRUE(skills->add("pdf", {{"SKILL.md", text}, {"forms.md", "# Forms\n"}}));
    EXPECT_TRUE(here.add(skills));
  }
  std::shared_ptr<skill_provider> skills = std::make_shared<skill_provider>("skills");
  server here;
};

TEST(mounted_skills, are_found_and_verified_under_the_prefix) {
  skill_server other;
  hearing log;
  server ours;
  ASSERT_TRUE(ours.add(mount(mounted_from(other.here, log))));
  auto asks = connected(ours);
  const auto all = asks.skills().all();
  ASSERT_TRUE(all) << all.error().public_text;
  ASSERT_EQ(all->size(), 1u) << log.text();
  const auto& one = all->front();
  EXPECT_EQ(one.uri, "mcp://team/skill://pdf/SKILL.md");
  ASSERT_TRUE(one.files);
  for (const auto& file : *one.files) {
    const auto got = asks.read_skill_file(one, file.uri);
    EXPECT_TRUE(got) << file.uri << ": " << got.error().public_text;
  }
  const auto alone = asks.find_skill("mcp://team/skill://pdf/SKILL.md");
  ASSERT_TRUE(alone) << alone.error().public_text;
  EXPECT_EQ(alone->files, one.files);
}

TEST(mounted_skills, are_left_out_when_they_are_not_wanted) {
  skill_server other;
  hearing log;
  auto options = mounted_from(other.here, log);
  options.skills = false;
  const auto mounted = mount(options);
  EXPECT_FALSE(mounted->has_skills());
  EXPECT_THAT(uris_of(*mounted), testing::Contains("mcp://team/skill://pdf/SKILL.md")) << "they are resources all the same";
}

TEST(mounted_folders, are_listed_as_the_other_server_lists_them) {
  skill_server other;
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  auto request = asking<children_request>();
  request.uri = "mcp://team/skill://pdf";
  const auto got = mounted->children(request);
  ASSERT_TRUE(got) << got.error().public_text;
  std::vector<std::string> uris;
  for (const auto& one : got->entries) uris.push_back(one.uri);
  EXPECT_THAT(uris, ElementsAre("mcp://team/skill://pdf/SKILL.md", "mcp://team/skill://pdf/forms.md"));
}

TEST(mounted_reads, are_made_only_once_for_a_version) {
  memo_server other;
  int reads = 0;
  ASSERT_TRUE(other.memos->add({.uri = "memo:///kept", .name = "kept", .version = "7"},
                               [&reads](const read_request& request) -> result<reading> {
                                 if (request.if_version == "7") {
                                   reading same;
                                   same.version = "7";
                                   return same;
                                 }
                                 ++reads;
                                 auto made = text_reading("content");
                                 made.version = "7";
                                 return made;
                               }));
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  const auto first = mounted->read(reading_of("mcp://team/memo:///kept"));
  ASSERT_TRUE(first) << first.error().public_text;
  EXPECT_EQ(bytes_of(first->contents[0]), "content");
  auto request = reading_of("mcp://team/memo:///kept");
  request.if_version = first->version.empty() ? "7" : first->version;
  const auto again = mounted->read(request);
  ASSERT_TRUE(again) << again.error().public_text;
  EXPECT_TRUE(again->contents.empty() || bytes_of(again->contents[0]) == "content");
  EXPECT_EQ(reads, 1);
}

TEST(mounted_servers, are_connected_at_once_when_they_are_eager) {
  memo_server other;
  hearing log;
  hearing news;
  auto options = mounted_from(other.here, log);
  const auto lazy = mount(options);
  lazy->watch(std::make_shared<note_taker>(news));
  EXPECT_THAT(lazy->health().detail, HasSubstr("not asked"));
  options.eager = true;
  options.name = "eager";
  options.prefix.clear();
  const auto eager = mount(options);
  eager->watch(std::make_shared<note_taker>(news));
  EXPECT_TRUE(log.hears("mount \"eager\": connected to")) << log.text();
  EXPECT_EQ(log.text().find("mount \"team\""), std::string::npos);
  lazy->watch(nullptr);
  eager->watch(nullptr);
}

TEST(mounted_servers, need_their_program_or_their_address) {
  hearing log;
  mount_options options;
  options.name = "team";
  options.target = child_target{.command = {"/bin/cat", "-"}, .folder = "/srv"};
  const auto as_child = mount(options)->needs();
  EXPECT_THAT(as_child.programs, ElementsAre("/bin/cat"));
  options.target = http_target{.url = "https://wiki.example/mcp"};
  EXPECT_THAT(mount(options)->needs().sockets, ElementsAre("wiki.example:443"));
  options.target = http_target{.url = "http://[::1]:81/mcp"};
  EXPECT_THAT(mount(options)->needs().sockets, ElementsAre("[::1]:81"));
  options.target = http_target{.url = "http://x/mcp", .socket = "/run/wiki.sock"};
  EXPECT_THAT(mount(options)->needs().sockets, ElementsAre("/run/wiki.sock"));
}

}  // namespace
}  // namespace hondana::test
