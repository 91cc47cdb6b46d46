/// Versions: of entries looked at one by one, and reads that say which one the caller has.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "base/bytes/digest.hpp"
#include "deadline.hpp"
#include "os/disk/file_stamp.hpp"
#include "scratch_folder.hpp"
#include "unit/os/disk/stopped_wall_clock.hpp"

namespace hondana::files {
namespace {

result<resource> describe(files_provider& files, const std::string& uri, const std::optional<std::string>& known_version = {}) {
  describe_request request;
  request.uri = uri;
  request.known_version = known_version;
  return files.describe(request);
}

result<read_result> read_unless(files_provider& files, const std::string& uri, const std::string& version) {
  read_request request;
  request.uri = request.requested_uri = uri;
  request.cached_version = version;
  return files.read(request);
}

/// The version that a file has once its change is so long ago that its stamp tells it.
std::string settled_version(files_provider& files, const std::string& uri) {
  const auto path = uri.substr(std::string("file://").size());
  struct stat facts{};
  EXPECT_TRUE(hondana_test::eventually(
      [&] { return ::stat(path.c_str(), &facts) == 0 && !is_racy(disk::stamp_of(facts), disk::wall_clock()); }));
  return describe(files, uri)->version;
}

TEST(versions, come_with_the_entry_that_a_list_would_give) {
  const scratch_folder root;
  root.write("a.md", "# The title\n\nWhat it is about.\n");
  root.write("README", "plain words\n");
  root.write("script", "#!/bin/sh\necho\n");
  root.write("empty", "");
  const auto files = open_provider(root);
  const auto listed =
      list_until(*files, [](const auto& all) { return entry_named(all, "script").mime_type == "text/x-shellscript"; });
  for (const std::string name : {"a.md", "README", "script", "empty"}) {
    const auto one = describe(*files, root.uri(name));
    const auto of_list = entry_named(listed, name);
    ASSERT_TRUE(one) << name;
    EXPECT_EQ(one->title, of_list.title) << name;
    EXPECT_EQ(one->description, of_list.description) << name;
    EXPECT_EQ(one->mime_type, of_list.mime_type) << name;
    EXPECT_EQ(one->annotations.priority, of_list.annotations.priority) << name;
  }
  EXPECT_EQ(describe(*files, root.uri("a.md"))->title, "The title");
}

TEST(versions, of_files_that_have_just_changed_come_from_their_bytes) {
  const scratch_folder root;
  const disk::stopped_wall_clock just_now;
  root.write("a.txt", "alpha");
  const auto files = open_provider(root);
  const auto uri = root.uri("a.txt");
  const auto entry = describe(*files, uri);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->kind, "file");
  EXPECT_EQ(entry->name, "a.txt");
  EXPECT_EQ(entry->size, 5u);
  EXPECT_EQ(entry->version, bytes::to_hex(bytes::digest_of("alpha")));
}

TEST(versions, of_large_files_that_have_just_changed_are_none_that_a_read_would_give) {
  const scratch_folder root;
  const auto files = open_provider(root);
  {
    const disk::stopped_wall_clock just_now;
    root.write("a.bin", std::string(2 << 20, '\0'));
    const auto first = describe(*files, root.uri("a.bin"));
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->version.starts_with('~')) << first->version;
  }
  const auto settled = settled_version(*files, root.uri("a.bin"));
  EXPECT_FALSE(settled.starts_with('~'));
  EXPECT_FALSE(settled.empty());
  EXPECT_EQ(read_unless(*files, root.uri("a.bin"), "other")->version, settled);
}

TEST(versions, that_are_known_already_cost_no_read) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  const auto files = open_provider(root);
  EXPECT_EQ(describe(*files, root.uri("a.txt"), "known")->version, "known");
  EXPECT_EQ(describe(*files, root.uri(), "known")->version, "known");
}

TEST(versions, of_parts_of_files_are_those_of_the_files) {
  const scratch_folder root;
  root.write("a.txt", "one\ntwo\n");
  const auto files = open_provider(root);
  const auto settled = settled_version(*files, root.uri("a.txt"));
  const auto part = describe(*files, root.uri("a.txt?lines=1"));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->uri, root.uri("a.txt?lines=1"));
  EXPECT_EQ(part->version, settled);
  EXPECT_FALSE(part->size);
  EXPECT_TRUE(read_unless(*files, root.uri("a.txt?lines=1"), settled)->contents.empty());
}

TEST(versions, of_folders_are_those_their_reads_have_and_change_with_their_files) {
  const scratch_folder root;
  root.write("src/a.txt", "alpha");
  const auto files = open_provider(root);
  settled_version(*files, root.uri("src/a.txt"));
  const auto before = describe(*files, root.uri("src"));
  ASSERT_TRUE(before);
  EXPECT_EQ(before->kind, "folder");
  EXPECT_EQ(read(*files, root.uri("src"))->version, before->version);
  root.write("src/a.txt", "beta");
  EXPECT_NE(describe(*files, root.uri("src"))->version, before->version);
}

TEST(a_read_with_the_version_of_a_file, is_answered_without_contents_until_the_file_changes) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  const auto files = open_provider(root);
  const auto uri = root.uri("a.txt");
  const auto settled = settled_version(*files, uri);
  const auto same = read_unless(*files, uri, settled);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->contents.empty());
  EXPECT_EQ(same->version, settled);
  root.write("a.txt", "gamma");
  const auto other = read_unless(*files, uri, settled);
  ASSERT_TRUE(other);
  ASSERT_EQ(other->contents.size(), 1u);
  EXPECT_EQ(bytes_of(other->contents.front()), "gamma");
}

TEST(describe_of_files, is_refused_where_reads_are) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  root.write(".env", "SECRET=1");
  root.make_fifo("pipe");
  root.link("out", "/etc/passwd");
  const auto files = open_provider(root);
  EXPECT_EQ(describe(*files, root.uri("pipe")).error().code, errc::invalid_argument);
  for (const auto* hidden : {"nothing", ".env", "out", "a.txt/", "a.txt#x"}) {
    EXPECT_EQ(describe(*files, root.uri(hidden)).error().code, errc::resource_not_found) << hidden;
  }
}

}  // namespace
}  // namespace hondana::files
