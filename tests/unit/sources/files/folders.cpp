/// Reading folders, and their children.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "scratch_folder.hpp"
#include "sources/files/folder_content.hpp"
#include "unit/os/disk/stopped_wall_clock.hpp"

namespace hondana::files {
namespace {

std::shared_ptr<files_provider> with_budget(const scratch_folder& root, std::uint64_t budget) {
  auto from = serving(root.path());
  from.folder_budget_bytes = budget;
  return open_provider(std::move(from));
}

std::vector<std::string> uris_of(const result<read_result>& answer) {
  std::vector<std::string> uris;
  for (const auto& item : answer->contents) uris.push_back(item.uri.value_or(""));
  return uris;
}

TEST(folders, are_their_listing_and_then_their_direct_text_files) {
  const scratch_folder root;
  root.write("src/b.txt", "bravo");
  root.write("src/a.txt", "alpha");
  root.write("src/deep/c.txt", "charlie");
  root.write("src/image.png", std::string("\x89PNG\r\n\x1a\n\0", 9));
  root.write("src/unknown", std::string("\0\1\2", 3));
  root.write("src/empty.txt", "");
  root.write("src/.env", "SECRET=1");
  root.write("src/.gitignore", "*.o\n");
  root.write("src/main.o", "object");
  root.link("src/link.txt", "a.txt");
  root.link("src/out.txt", "/etc/passwd");
  root.make_fifo("src/pipe");
  const auto files = open_provider(root);
  for (const char* uri : {"src", "src/"}) {
    const auto answer = read(*files, root.uri(uri));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(uris_of(answer), (std::vector<std::string>{"", root.uri("src/a.txt"), root.uri("src/b.txt")}));
    const auto& self = answer->contents[0];
    EXPECT_EQ(self.mime_type, "inode/directory");
    EXPECT_EQ(self.name, "src");
    EXPECT_EQ(self.kind, content_kind::text);
    std::string expected;
    for (const char* child : {"a.txt", "b.txt", "deep", "empty.txt", "image.png", "link.txt", "pipe", "unknown"}) {
      expected += root.uri("src/") + child + "\n";
    }
    EXPECT_EQ(bytes_of(self), expected);
    EXPECT_EQ(bytes_of(answer->contents[1]), "alpha");
    EXPECT_EQ(answer->contents[1].mime_type, "text/plain");
    EXPECT_EQ(answer->contents[1].name, "src/a.txt");
  }
}

TEST(folders, without_a_budget_are_the_listing_only) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  const auto answer = read(*with_budget(root, 0), root.uri());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(uris_of(answer), std::vector<std::string>{""});
}

TEST(folders, stop_at_the_first_text_file_that_does_not_fit) {
  const scratch_folder root;
  root.write("a.txt", std::string(60, 'a'));
  root.write("b.png", std::string(500, '\0'));
  root.write("c.txt", std::string(41, 'c'));
  root.write("d.txt", "d");
  EXPECT_EQ(uris_of(read(*with_budget(root, 100), root.uri())), (std::vector<std::string>{"", root.uri("a.txt")}));
  EXPECT_EQ(uris_of(read(*with_budget(root, 101), root.uri())),
            (std::vector<std::string>{"", root.uri("a.txt"), root.uri("c.txt")}));
  EXPECT_EQ(uris_of(read(*with_budget(root, 102), root.uri())).size(), 4u);
}

TEST(folders, have_a_budget_of_64_kib_unless_told_otherwise) {
  const scratch_folder root;
  root.write("a.txt", std::string(65'535, 'a'));
  root.write("b.txt", "bc");
  EXPECT_EQ(uris_of(read(*open_provider(root), root.uri())).size(), 2u);
  root.write("b.txt", "b");
  EXPECT_EQ(uris_of(read(*open_provider(root), root.uri())).size(), 3u);
}

TEST(folders, that_are_empty_have_an_empty_listing) {
  const scratch_folder root;
  EXPECT_EQ(read_text(*open_provider(root), root.uri()), "");
}

TEST(folders, change_their_version_with_their_files) {
  const disk::stopped_wall_clock just_now;  // or the file gets another version when its change is long enough ago
  const scratch_folder root;
  root.write("a.txt", "alpha");
  const auto files = open_provider(root);
  const auto first = read(*files, root.uri())->version;
  EXPECT_EQ(read(*files, root.uri())->version, first);
  root.write("a.txt", "other");
  const auto second = read(*files, root.uri())->version;
  EXPECT_NE(second, first);
  root.write("b", "");
  EXPECT_NE(read(*files, root.uri())->version, second);
}

TEST(folders, with_a_listing_beyond_the_read_limit_are_an_error) {
  const scratch_folder root;
  for (int i = 0; i < 20; ++i) root.write(std::to_string(i), "");
  const auto answer = read(*open_provider(root), root.uri(), 100);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::response_too_large);
}

/// A view of everything but URIs that one of its endings ends.
class without final : public access_filter {
 public:
  explicit without(std::string ending) : ending_(std::move(ending)) {}
  std::uint64_t id() const noexcept override { return 1; }
  bool may_see(std::string_view uri) const override { return !uri.ends_with(ending_); }

 private:
  std::string ending_;
};

// attacks: cross-client leak (what another caller may see)
TEST(folders, have_no_trace_of_what_the_callers_view_does_not_show) {
  const scratch_folder root;
  root.write("f/a.key.txt", std::string(90, 'k'));
  root.write("f/b.txt", std::string(20, 'b'));
  root.write("f/sub.key.txt/c.txt", "c");
  const auto files = with_budget(root, 100);
  read_request request;
  request.uri = request.requested_uri = root.uri("f");
  request.caller.access_filter = std::make_shared<without>(".key.txt");
  const auto answer = files->read(request);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(bytes_of(answer->contents[0]), root.uri("f/b.txt") + "\n");
  EXPECT_EQ(uris_of(answer), (std::vector<std::string>{"", root.uri("f/b.txt")}));  // nor does it take of the budget
  EXPECT_EQ(bytes_of(answer->contents[1]), std::string(20, 'b'));
  const auto listing_only = with_budget(root, 0);  // whose version does not depend on how late b.txt was written
  const auto version = listing_only->read(request)->version;
  root.write("f/a.key.txt", "changed");
  root.write("f/b.key.txt", "new");
  EXPECT_EQ(listing_only->read(request)->version, version);
  children_request inside;
  inside.uri = root.uri("f");
  inside.caller.access_filter = request.caller.access_filter;
  EXPECT_EQ(names_of(files->children(inside)->entries), std::vector<std::string>{"f/b.txt"});
}

// attacks: resource exhaustion (long listings at once)
TEST(folders, with_long_listings_are_held_four_at_a_time) {
  const scratch_folder folder;
  std::string name;
  for (int i = 0; i < 80; ++i) name += "日";
  for (int i = 0; i < 1500; ++i) folder.write(name + std::to_string(i), "");
  const auto root = served_root::open(serving(folder.path()).roots[0], serving(folder.path()));
  ASSERT_TRUE(root.has_value());
  const auto top = (*root)->find("");
  ASSERT_TRUE(top.has_value());
  read_resources room;
  read_request request;
  request.requested_uri = folder.uri();
  std::vector<result<read_result>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(read_folder(**root, *top, 0, request, room));
    ASSERT_TRUE(held.back().has_value());
    EXPECT_GT(bytes_of(held.back()->contents[0]).size(), 1u << 20);
  }
  const auto fifth = read_folder(**root, *top, 0, request, room);
  ASSERT_FALSE(fifth.has_value());
  EXPECT_EQ(fifth.error().code, errc::overloaded);
  held.pop_back();
  EXPECT_TRUE(read_folder(**root, *top, 0, request, room).has_value());
}

TEST(folders, behind_a_link_are_read_where_they_are) {
  const scratch_folder root;
  root.write("real/a.txt", "alpha");
  root.link("alias", "real");
  const auto answer = read(*open_provider(root), root.uri("alias"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(bytes_of(answer->contents[0]), root.uri("real/a.txt") + "\n");
}

/// Runs `body` on a thread on which each read of a link's target fails with EIO, as on a disk with a defect.
void with_failing_links(const std::function<void()>& body) {
  std::thread([&body] {
    std::array instructions{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{instructions.size(), instructions.data()};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    body();
  }).join();
}

std::optional<metadata_value> unreadable_of(const resource_content& listing) {
  for (const auto& [name, value] : listing.metadata) {
    if (name == "dev.hondana/unreadable") return value;
  }
  return std::nullopt;
}

TEST(folders, are_answered_without_an_entry_that_the_disk_fails_to_read) {
  const scratch_folder root;
  root.write("f/a.txt", "alpha");
  root.write("f/z.txt", "zulu");
  root.link("f/link.txt", "a.txt");
  const auto files = open_provider(root);
  const auto whole = read(*files, root.uri("f"));
  ASSERT_TRUE(whole);
  EXPECT_EQ(unreadable_of(whole->contents[0]), std::nullopt);
  with_failing_links([&] {
    const auto answer = read(*files, root.uri("f"));
    ASSERT_TRUE(answer) << answer.error().public_text;
    EXPECT_EQ(bytes_of(answer->contents[0]), root.uri("f/a.txt") + "\n" + root.uri("f/z.txt") + "\n");
    EXPECT_EQ(unreadable_of(answer->contents[0]), metadata_value(std::int64_t{1}));
    EXPECT_EQ(uris_of(answer), (std::vector<std::string>{"", root.uri("f/a.txt"), root.uri("f/z.txt")}));
    EXPECT_NE(answer->version, whole->version);
    children_request request;
    request.uri = root.uri("f");
    request.limit = 10;
    const auto page = files->children(request);
    ASSERT_TRUE(page) << page.error().public_text;
    EXPECT_EQ(names_of(page->entries), (std::vector<std::string>{"f/a.txt", "f/z.txt"}));
  });
}

TEST(folders, are_an_error_if_the_disk_fails_for_all_entries) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  root.link("f/link.txt", "../a.txt");
  const auto files = open_provider(root);
  with_failing_links([&] {
    EXPECT_EQ(read_error(*files, root.uri("f")), errc::source_unavailable);
    children_request request;
    request.uri = root.uri("f");
    request.limit = 10;
    const auto page = files->children(request);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, errc::source_unavailable);
  });
}

TEST(children, are_paged_in_order) {
  const scratch_folder root;
  for (const char* path : {"f/c.txt", "f/a/deep.txt", "f/a-b.txt", "f/.hidden", "g.txt"}) root.write(path, "x");
  const auto files = open_provider(root);
  children_request request;
  request.uri = root.uri("f");
  request.limit = 2;
  const auto first = files->children(request);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(names_of(first->entries), (std::vector<std::string>{"f/a", "f/a-b.txt"}));
  EXPECT_EQ(first->entries[0].mime_type, "inode/directory");
  ASSERT_TRUE(first->next_key.has_value());
  request.after_key = *first->next_key;
  const auto second = files->children(request);
  EXPECT_EQ(names_of(second->entries), std::vector<std::string>{"f/c.txt"});
  EXPECT_FALSE(second->next_key.has_value());
}

// attacks: resource exhaustion (a folder of many names)
TEST(children, go_on_after_what_was_sent_and_never_name_what_is_hidden) {
  const scratch_folder folder;
  for (const char* name : {"1.h", "2.h", "3.txt", "4.h", "5.h", "6.h", "7.h", "8.txt"}) folder.write(name, "");
  const auto root = served_root::open(serving(folder.path()).roots[0], serving(folder.path()));
  ASSERT_TRUE(root.has_value());
  const auto top = (*root)->find("");
  ASSERT_TRUE(top.has_value());
  children_request request;
  request.uri = folder.uri();
  request.caller.access_filter = std::make_shared<without>(".h");
  const auto page = [&](const std::string& after) {
    request.after_key = after;
    return list_children(**root, *top, request, 3);
  };
  const auto first = page({});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(names_of(first->entries), std::vector<std::string>{"3.txt"});
  EXPECT_EQ(first->next_key, folder.uri("3.txt"));
  const auto second = page(*first->next_key);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(names_of(second->entries), std::vector<std::string>{"8.txt"});
  EXPECT_FALSE(second->next_key.has_value());
  folder.write("9.h", "");
  request.limit = 1;
  const auto last = page(*first->next_key);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->next_key, folder.uri("8.txt"));
}

TEST(children, of_files_and_of_nothing_are_errors) {
  const scratch_folder root;
  root.write("a.txt", "x");
  const auto files = open_provider(root);
  children_request request;
  request.uri = root.uri("a.txt");
  EXPECT_EQ(files->children(request).error().code, errc::invalid_argument);
  request.uri = root.uri("absent");
  EXPECT_EQ(files->children(request).error().code, errc::resource_not_found);
  request.uri = "file:///elsewhere";
  EXPECT_EQ(files->children(request).error().code, errc::resource_not_found);
}

}  // namespace
}  // namespace hondana::files
