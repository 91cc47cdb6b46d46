/// Nothing outside a root is ever read: paths, links and races, with openat2 and with the portable way.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "deadline.hpp"
#include "scratch_folder.hpp"
#include "unit/server/gate/ruled_view.hpp"

namespace hondana::files {
namespace {

class confinement : public testing::TestWithParam<bool> {
 protected:
  confinement() {
    whole_.write("outside.txt", "outside");
    whole_.write("project/inside.txt", "inside");
    whole_.write("project/src/main.cpp", "int main() {}\n");
  }
  std::shared_ptr<files_provider> open(const std::string& path) const {
    auto from = serving(path);
    from.portable = GetParam();
    return open_provider(std::move(from));
  }
  std::shared_ptr<files_provider> open() const { return open(whole_.path("project")); }

  scratch_folder whole_;
};

INSTANTIATE_TEST_SUITE_P(resolved_by, confinement, testing::Bool(),
                         [](const auto& how) -> std::string { return how.param ? "steps" : "kernel"; });

TEST_P(confinement, serves_what_is_below_the_root) {
  const auto files = open();
  EXPECT_EQ(read_text(*files, whole_.uri("project/inside.txt")), "inside");
  EXPECT_EQ(read_text(*files, whole_.uri("project/src/main.cpp")), "int main() {}\n");
}

// attacks: path prefix (CVE-2025-53110)
TEST_P(confinement, siblings_with_the_same_prefix_are_not_served_cve_2025_53110) {
  for (const char* sibling : {"project2", "project_backup", "project-old", "project.bak"}) {
    whole_.write(std::string(sibling) + "/inside.txt", "sibling");
  }
  for (const char* root : {"project", "project/", "project//"}) {
    const auto files = open(whole_.path(root));
    EXPECT_EQ(files->claims(), std::vector<std::string>{whole_.uri("project")});
    for (const char* sibling : {"project2", "project_backup", "project-old", "project.bak"}) {
      EXPECT_EQ(read_error(*files, whole_.uri(sibling)), errc::resource_not_found) << sibling;
      EXPECT_EQ(read_error(*files, whole_.uri(std::string(sibling) + "/inside.txt")), errc::resource_not_found) << sibling;
    }
    EXPECT_EQ(read_text(*files, whole_.uri("project/inside.txt")), "inside");
  }
}

// attacks: traversal
TEST_P(confinement, traversal_leads_nowhere) {
  const auto files = open();
  for (const std::string path : {"project/../../../etc/passwd",
                                 "project/src/../../outside.txt",
                                 "project/../outside.txt",
                                 "project/..%2Foutside.txt",
                                 "project/..%2F..%2Fetc%2Fpasswd",
                                 "project/%2e%2e/outside.txt",
                                 "project/%2e%2e%2foutside.txt",
                                 "project/%252e%252e/outside.txt",
                                 "project/src/%2E%2E/%2E%2E/outside.txt",
                                 "project//etc/passwd",
                                 "project/.%2e/outside.txt",
                                 "project/src%2Fmain.cpp",
                                 "project/src%5C..%5C..%5Coutside.txt",
                                 "project/C:%5Cx",
                                 "project/C:/x",
                                 "project/%5C%5Cserver%5Cshare",
                                 "project/src//main.cpp",
                                 "project//inside.txt",
                                 "project//",
                                 "project/src//",
                                 "/project/inside.txt",
                                 "project/inside.txt/",
                                 "project/inside.txt/more"}) {
    const auto text = read_text(*files, whole_.uri(path));
    EXPECT_EQ(text.find("outside"), std::string::npos) << path;
    EXPECT_EQ(text.find("root:"), std::string::npos) << path;
    EXPECT_EQ(read_error(*files, whole_.uri(path)), errc::resource_not_found) << path;
  }
}

// attacks: traversal (.-segments kept by a client)
TEST_P(confinement, dot_segments_a_client_keeps_are_not_followed) {
  const auto files = open();
  // Past the canonical form, as no catalog would hand them over.
  for (const char* path : {"project/./inside.txt", "project/../outside.txt", "project/src/..", "project/.", "project//",
                           "project//inside.txt", "project/src//"}) {
    read_request request;
    request.uri = request.requested_uri = whole_.uri(path);
    EXPECT_FALSE(files->read(request).has_value()) << path;
  }
}

// attacks: traversal (NUL at start, middle and end)
TEST_P(confinement, a_nul_anywhere_is_an_error) {
  const auto files = open();
  for (const char* path :
       {"project/%00inside.txt", "project/ins%00ide.txt", "project/inside.txt%00", "project/inside.txt%00.png"}) {
    EXPECT_FALSE(read(*files, whole_.uri(path)).has_value()) << path;
    read_request request;
    request.uri = request.requested_uri = whole_.uri(path);
    ASSERT_FALSE(files->read(request).has_value()) << path;
    EXPECT_EQ(files->read(request).error().code, errc::resource_not_found) << path;
  }
}

// attacks: traversal (100 kB paths)
TEST_P(confinement, very_long_paths_are_not_found) {
  const auto files = open();
  read_request request;
  request.uri = request.requested_uri = whole_.uri("project/" + std::string(100'000, 'a'));
  EXPECT_EQ(files->read(request).error().code, errc::resource_not_found);
  std::string deep = "project";
  for (int i = 0; i < 20'000; ++i) deep += "/a";
  request.uri = request.requested_uri = whole_.uri(deep);
  EXPECT_EQ(files->read(request).error().code, errc::resource_not_found);
}

// attacks: symlinks (CVE-2025-53109)
TEST_P(confinement, links_that_leave_are_not_found_cve_2025_53109) {
  whole_.link("project/passwd", "/etc/passwd");
  whole_.link("project/etc", "/etc");
  whole_.link("project/up", "..");
  whole_.link("project/relative", "../outside.txt");
  whole_.link("project/src/deep", "../../outside.txt");
  whole_.link("project/chain", "chain2");
  whole_.link("project/chain2", "relative");
  whole_.link("project/dangling", "/nonexistent/outside");
  whole_.link("project/parent_and_back", "../project/inside.txt");
  whole_.link("project/environ", "/proc/self/environ");
  whole_.link("project/by_magic", "/proc/self/fd/0");
  const auto files = open();
  for (const char* path : {"passwd", "etc", "etc/passwd", "up", "up/outside.txt", "up/project/inside.txt", "relative",
                           "src/deep", "chain", "dangling", "parent_and_back", "environ", "by_magic"}) {
    EXPECT_EQ(read_error(*files, whole_.uri(std::string("project/") + path)), errc::resource_not_found) << path;
  }
  for (const auto& name : names_of(list_all(*files))) {
    EXPECT_TRUE(name == "project" || name == "inside.txt" || name == "src" || name == "src/main.cpp") << name;
  }
}

TEST_P(confinement, links_that_stay_beneath_are_read_and_not_walked) {
  whole_.link("project/alias.txt", "inside.txt");
  whole_.link("project/source", "src");
  whole_.link("project/src/back.txt", "../inside.txt");
  whole_.link("project/chain", "source/back.txt");
  whole_.link("project/absolute.txt", whole_.path("project/inside.txt"));
  const auto files = open();
  EXPECT_EQ(read_text(*files, whole_.uri("project/alias.txt")), "inside");
  EXPECT_EQ(read_text(*files, whole_.uri("project/source/main.cpp")), "int main() {}\n");
  EXPECT_EQ(read_text(*files, whole_.uri("project/src/back.txt")), "inside");
  EXPECT_EQ(read_text(*files, whole_.uri("project/chain")), "inside");
  EXPECT_EQ(read_text(*files, whole_.uri("project/absolute.txt")), "inside");
  const auto entries = list_all(*files);
  EXPECT_EQ(names_of(entries), (std::vector<std::string>{"project", "absolute.txt", "alias.txt", "chain", "inside.txt",
                                                         "source", "src", "src/back.txt", "src/main.cpp"}));
  EXPECT_EQ(entry_named(entries, "source").mime_type, "inode/symlink");
  EXPECT_EQ(entry_named(entries, "source").kind, "link");
}

// attacks: symlinks (chain)
TEST_P(confinement, link_loops_end) {
  whole_.link("project/self", "self");
  whole_.link("project/a", "b");
  whole_.link("project/b", "a");
  for (char c = 'c'; c < 'z'; ++c) {
    const std::string next(1, static_cast<char>(c + 1));
    whole_.link(std::string("project/").append(1, c), next + "/" + next);  // twice as many links at every step
  }
  const auto files = open();
  for (const char* path : {"self", "a", "c"}) {
    EXPECT_EQ(read_error(*files, whole_.uri(std::string("project/") + path)), errc::resource_not_found) << path;
  }
}

// attacks: secrets; symlinks
TEST_P(confinement, a_link_to_something_denied_is_denied) {
  whole_.write("project/.env", "PASSWORD=1");
  whole_.write("project/.git/config", "[core]");
  whole_.write("project/.gitignore", "*.o\n");
  whole_.write("project/main.o", "object");
  whole_.link("project/innocent.txt", ".env");
  whole_.link("project/settings", ".git/config");
  whole_.link("project/repository", ".git");
  whole_.link("project/object.txt", "main.o");
  whole_.link("project/.hidden_link", "inside.txt");
  const auto files = open();
  for (const char* path : {"innocent.txt", "settings", "repository", "repository/config", "object.txt", ".hidden_link"}) {
    EXPECT_EQ(read_error(*files, whole_.uri(std::string("project/") + path)), errc::resource_not_found) << path;
  }
}

// attacks: symlinks (a symlinked root)
TEST_P(confinement, a_symlinked_root_is_served_under_its_real_path) {
  whole_.link("alias", "project");
  const auto files = open(whole_.path("alias"));
  EXPECT_EQ(files->claims(), std::vector<std::string>{whole_.uri("project")});
  EXPECT_EQ(read_text(*files, whole_.uri("project/inside.txt")), "inside");
  EXPECT_EQ(read_error(*files, whole_.uri("alias/inside.txt")), errc::resource_not_found);
}

TEST_P(confinement, the_root_stays_the_folder_that_was_opened) {
  const auto files = open();
  whole_.write("other/inside.txt", "other");
  ASSERT_EQ(::rename(whole_.path("project").c_str(), whole_.path("moved").c_str()), 0);
  ASSERT_EQ(::symlink("other", whole_.path("project").c_str()), 0);
  EXPECT_EQ(read_text(*files, whole_.uri("project/inside.txt")), "inside");
}

/// Shows everything, and lets nothing with a text in its URI be read.
class listing_view final : public access_filter {
 public:
  explicit listing_view(std::string within) : within_(std::move(within)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 2; }
  [[nodiscard]] bool may_see(std::string_view) const override { return true; }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return uri.find(within_) == std::string_view::npos; }

 private:
  std::string within_;
};

TEST_P(confinement, what_a_view_lists_and_does_not_let_read_is_not_read_by_a_link_to_it) {
  whole_.write("project/keys/a.txt", "secret");
  whole_.link("project/alias.txt", "keys/a.txt");
  const auto files = open();
  read_request request;
  request.caller.access_filter = std::make_shared<const listing_view>("/keys/");
  request.uri = request.requested_uri = whole_.uri("project/alias.txt");
  const auto answer = files->read(request);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::resource_not_found);
  describe_request entry;
  entry.caller = request.caller;
  entry.uri = request.uri;
  EXPECT_TRUE(files->describe(entry).has_value());
}

// attacks: authorization (content that a rule guards, by whatever route)
TEST_P(confinement, links_are_judged_by_rules_about_links_and_by_what_they_lead_to) {
  whole_.write("project/keys/a.md", "secret\n");
  whole_.link("project/alias.md", "keys/a.md");
  whole_.link("project/other.md", "inside.txt");
  const auto files = open();
  const auto told_by = [&](const std::vector<access_rule>& rules) {
    request_context by;
    by.caller.access_filter = test::view_by(rules);
    std::string out;
    const auto listed = files->list({by, {}, 500});
    for (const auto& one : listed->entries)
      if (one.kind == "link") out += one.name + ' ';
    children_request inside;
    static_cast<request_context&>(inside) = by;
    inside.uri = whole_.uri("project");
    const auto children = files->children(inside);
    for (const auto& one : children->entries)
      if (one.kind == "link") out += one.name + ' ';
    describe_request entry;
    static_cast<request_context&>(entry) = by;
    entry.uri = whole_.uri("project/alias.md");
    const auto found = files->describe(entry);
    read_request content;
    static_cast<request_context&>(content) = by;
    content.uri = content.requested_uri = entry.uri;
    return out + (found ? found->kind : "none") + (files->read(content) ? " is read" : "");
  };
  const std::string all = "alias.md other.md alias.md other.md ";
  const access_rule everything{.level = access_level::read};
  const auto keys = whole_.uri("project/keys");
  EXPECT_EQ(told_by({everything}), all + "link is read");
  EXPECT_EQ(told_by({everything, {.uris = {keys}}}), "other.md other.md none");
  EXPECT_EQ(told_by({everything, {.uris = {keys}, .kinds = {"file"}}}), "other.md other.md none");
  EXPECT_EQ(told_by({everything, {.uris = {keys}, .kinds = {"file"}, .level = access_level::list}}), all + "link");
}

TEST_P(confinement, of_a_file_that_is_not_there_nothing_is_said_about_a_range) {
  const auto files = open();
  read_request request;
  request.uri = request.requested_uri = whole_.uri("project/absent?lines=none");
  const auto answer = files->read(request);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::resource_not_found);
}

// attacks: symlinks (link swapped between check and open)
TEST_P(confinement, a_link_swapped_in_between_check_and_open_leads_nowhere) {
  whole_.write("project/folder/file.txt", "inside");
  whole_.write("target/file.txt", "outside");
  whole_.link("project/other", "../target");
  const auto files = open();
  const auto folder = whole_.path("project/folder");
  const auto aside = whole_.path("project/aside");
  const auto link = whole_.path("project/other");
  std::atomic<bool> done{false};
  // The folder and a link that leaves change places as fast as they can.
  std::thread swapper([&] {
    while (!done.load()) {
      ::rename(folder.c_str(), aside.c_str());
      ::rename(link.c_str(), folder.c_str());
      ::rename(folder.c_str(), link.c_str());
      ::rename(aside.c_str(), folder.c_str());
    }
  });
  int inside = 0;
  std::string seen;
  const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  // Both places have to be met; on a busy machine one of them can stay away for long.
  for (int i = 0; seen != "outside" && (i < 4000 || (inside == 0 && std::chrono::steady_clock::now() < until)); ++i) {
    seen = read_text(*files, whole_.uri("project/folder/file.txt"));
    if (seen == "inside") ++inside;
  }
  done = true;
  swapper.join();
  EXPECT_NE(seen, "outside");
  EXPECT_GT(inside, 0);
}

// attacks: symlinks (link swapped between check and open)
TEST_P(confinement, names_exchanged_with_links_in_one_step_lead_nowhere_however_often) {
  whole_.write("project/folder/file.txt", "inside");
  whole_.write("target/file.txt", "outside");
  whole_.link("project/away", "../target");
  whole_.link("project/folder/link", "../../outside.txt");
  const auto files = open();
  const char* wanted = std::getenv("HONDANA_SWAPS");
  const long swaps = wanted == nullptr ? 20'000 : std::atol(wanted);
  std::atomic<bool> done{false};
  long made = 0;
  std::thread swapper([&] {
    const auto exchange = [&](const char* one, const char* other) {
      return ::syscall(SYS_renameat2, AT_FDCWD, whole_.path(one).c_str(), AT_FDCWD, whole_.path(other).c_str(),
                       RENAME_EXCHANGE) == 0;
    };
    while (made < swaps && exchange("project/folder", "project/away") &&
           (made % 2 == 0 || exchange("project/folder/file.txt", "project/folder/link"))) {
      ++made;
    }
    done = true;
  });
  long inside = 0;
  std::string outside;
  const auto look = [&] {
    for (const char* path : {"project/folder/file.txt", "project/away/file.txt", "project/folder", "project/away"}) {
      const auto seen = read_text(*files, whole_.uri(path));
      if (seen.find("inside") != std::string::npos && seen != "inside") continue;  // a folder, with the name of a file in it
      if (seen.find("outside") != std::string::npos) outside = seen;
      if (seen == "inside") ++inside;
    }
  };
  while (!done.load() && outside.empty()) look();
  swapper.join();
  look();
  EXPECT_EQ(made, swaps) << "the file system does not exchange names";
  EXPECT_EQ(outside, "");
  EXPECT_GT(inside, 0);
}

TEST_P(confinement, a_folder_may_be_read_with_one_trailing_slash) {
  const auto files = open();
  EXPECT_EQ(read_text(*files, whole_.uri("project/src/")), whole_.uri("project/src/main.cpp") + "\n");
  EXPECT_EQ(read_text(*files, whole_.uri("project/")).find("error"), std::string::npos);
}

/// Hides URIs with a text in them, and those that end in another.
class hiding_view final : public access_filter {
 public:
  hiding_view(std::string within, std::string at_end) : within_(std::move(within)), at_end_(std::move(at_end)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 1; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    return uri.find(within_) == std::string_view::npos && !uri.ends_with(at_end_);
  }

 private:
  std::string within_;
  std::string at_end_;
};

TEST_P(confinement, what_a_view_hides_is_not_found_by_any_other_name) {
  whole_.write("project/hidden/a.txt", "hidden");
  whole_.link("project/alias.txt", "hidden/a.txt");
  whole_.link("project/folder", "hidden");
  whole_.link("project/src/over", "../folder/a.txt");
  whole_.link("project/two", "one_hidden");
  whole_.link("project/one_hidden", "inside.txt");
  const auto files = open();
  for (const char* path : {"alias.txt", "folder/a.txt", "src/over"}) {
    EXPECT_EQ(read_text(*files, whole_.uri(std::string("project/") + path)), "hidden") << path;
  }
  read_request request;
  request.caller.access_filter = std::make_shared<const hiding_view>("hidden", "/src");
  const auto ask = [&](const std::string& path) {
    request.uri = request.requested_uri = whole_.uri("project/" + path);
    return files->read(request);
  };
  EXPECT_TRUE(ask("inside.txt").has_value());
  const auto absent = ask("absent");
  ASSERT_FALSE(absent.has_value());
  for (const std::string path : {"alias.txt", "folder", "folder/", "folder/a.txt", "src/over", "two", "one_hidden", "hidden",
                                 "hidden/", "hidden/a.txt", "src", "src/"}) {
    const auto answer = ask(path);
    ASSERT_FALSE(answer.has_value()) << path;
    EXPECT_EQ(answer.error().code, errc::resource_not_found) << path;
    auto same = answer.error().public_text;
    same.replace(same.find("project/" + path), 8 + path.size(), "project/absent");
    EXPECT_EQ(same, absent.error().public_text) << path;
  }
  children_request children;
  children.caller = request.caller;
  for (const char* path : {"folder", "hidden", "src"}) {
    children.uri = whole_.uri(std::string("project/") + path);
    ASSERT_FALSE(files->children(children).has_value()) << path;
    EXPECT_EQ(files->children(children).error().code, errc::resource_not_found) << path;
  }
}

// attacks: symlinks (link swapped between check and open); special files (FIFO)
TEST_P(confinement, a_file_swapped_for_a_link_or_a_fifo_is_never_followed_or_waited_for) {
  whole_.write("project/file", "inside");
  whole_.link("project/link", "../outside.txt");
  whole_.make_fifo("project/fifo");
  const auto files = open();
  const auto file = whole_.path("project/file");
  std::atomic<bool> done{false};
  std::thread swapper([&] {
    for (int i = 0; !done.load(); ++i) {
      const auto other = whole_.path(i % 2 == 0 ? "project/link" : "project/fifo");
      ::rename(file.c_str(), whole_.path("project/aside").c_str());
      ::rename(other.c_str(), file.c_str());
      ::rename(file.c_str(), other.c_str());
      ::rename(whole_.path("project/aside").c_str(), file.c_str());
    }
  });
  int inside = 0;
  std::string seen;
  const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  for (int i = 0; seen != "outside" && (i < 4000 || (inside == 0 && std::chrono::steady_clock::now() < until)); ++i) {
    seen = read_text(*files, whole_.uri("project/file"));
    if (seen == "inside") ++inside;
  }
  done = true;
  swapper.join();
  EXPECT_NE(seen, "outside");
  EXPECT_GT(inside, 0);
}

}  // namespace
}  // namespace hondana::files
