/// A descriptor for each pack, and too few of them.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/git/confined_roots.hpp"
#include "sources/git/repository_location.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int pack_count = 200;

/// One pack for each commit, and one commit for each file.
void make_packs(const made_repository& in) {
  std::string stream;
  for (int i = 1; i <= pack_count; ++i) {
    const auto number = std::to_string(i);
    const auto text = "file " + number + '\n';
    stream += "commit refs/heads/main\ncommitter A <a@example.com> " + std::to_string(1'700'000'000 + i) +
              " +0000\ndata 2\nx\nM 644 inline f" + number + "\ndata " + std::to_string(text.size()) + '\n' + text +
              "\ncheckpoint\n\n";
  }
  in.git({"-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"}, stream);
  let_settle(in);  // or nothing is kept open of it
}

/// Lets no more than `most` descriptors be open, until it goes.
class fewer_descriptors {
 public:
  explicit fewer_descriptors(std::size_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    auto now = before_;
    now.rlim_cur = most;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  ~fewer_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  fewer_descriptors(const fewer_descriptors&) = delete;
  fewer_descriptors& operator=(const fewer_descriptors&) = delete;

 private:
  rlimit before_{};
};

/// The number of the next one.
std::size_t next_descriptor() {
  const int next = ::open("/", O_PATH | O_CLOEXEC);
  EXPECT_GE(next, 0);
  ::close(next);
  return static_cast<std::size_t>(next);
}

std::string text_of_file(int which) { return "file " + std::to_string(which) + '\n'; }
std::string uri_of_file(int which) { return "git://shelf/blob/HEAD/f" + std::to_string(which); }

TEST(git_many_packs, are_read_by_several_threads_and_closed_with_the_source) {
  made_repository made;
  make_packs(made);
  std::size_t packs = 0;
  for (const auto& one : std::filesystem::directory_iterator(made.path() + "/.git/objects/pack"))
    packs += one.path().extension() == ".pack" ? 1 : 0;
  ASSERT_EQ(packs, std::size_t{pack_count});
  const auto before = next_descriptor();
  {
    const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
    const auto log = shelf.json("git://shelf/log?limit=1000&format=json");
    EXPECT_EQ(log.find("commits")->as_array()->size(), std::size_t{pack_count});
    std::vector<std::thread> readers;
    for (int which = 0; which < 4; ++which)
      readers.emplace_back([&shelf, which] {
        for (int i = 1 + which; i <= pack_count; i += 3) EXPECT_EQ(shelf.text(uri_of_file(i)), text_of_file(i));
      });
    for (auto& one : readers) one.join();
    EXPECT_GE(next_descriptor(), before + pack_count);
  }
  EXPECT_EQ(next_descriptor(), before);
}

TEST(git_many_packs, more_than_there_are_descriptors_for_are_refused_with_what_to_do) {
  made_repository made;
  make_packs(made);
  const fewer_descriptors limited(4 * (pack_count - 1));
  const auto refused = locate(made.path(), {made.above()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unsupported);
  EXPECT_THAT(refused.error().public_text, AllOf(HasSubstr("more packs than can be open at once (199)"), HasSubstr("git gc")));
  EXPECT_TRUE(locate(made.path(), {made.above()}, {.packs = pack_count}));
  EXPECT_FALSE(locate(made.path(), {made.above()}, {.packs = pack_count - 1}));
  made.git({"repack", "-a", "-d", "-q"});
  EXPECT_TRUE(locate(made.path(), {made.above()}));
}

TEST(git_many_packs, are_closed_and_read_on_when_descriptors_are_used_up) {
  made_repository made;
  make_packs(made);
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const fewer_descriptors limited(next_descriptor() + 40);
  for (int i = 1; i <= pack_count; ++i) EXPECT_EQ(shelf.text(uri_of_file(i)), text_of_file(i));
}

TEST(git_many_packs, of_another_repository_give_way_to_who_finds_no_descriptor) {
  made_repository made, few;
  make_packs(made);
  few.write("f1", text_of_file(1));
  few.commit("first");
  let_settle(few);
  const served_repository idle(git_options{.repositories = {made.path()}, .watch = false});
  const served_repository shelf(git_options{.repositories = {few.path()}, .watch = false});
  const auto before = next_descriptor();
  for (int i = 1; i <= pack_count; ++i) EXPECT_EQ(idle.text(uri_of_file(i)), text_of_file(i));
  const auto used_up = next_descriptor();
  EXPECT_GE(used_up, before + pack_count);
  const fewer_descriptors limited(used_up);
  // It is screened anew, and so nothing of it waits.
  std::filesystem::last_write_time(few.path() + "/.git/config", std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(shelf.text(uri_of_file(1)), text_of_file(1));
  EXPECT_LT(next_descriptor(), used_up);
}

TEST(git_many_packs, that_wait_are_no_more_than_a_quarter_of_the_descriptors) {
  made_repository one, other;
  make_packs(one);
  make_packs(other);
  const fewer_descriptors limited(1000);
  const served_repository first(git_options{.repositories = {one.path()}, .watch = false});
  const served_repository second(git_options{.repositories = {other.path()}, .watch = false});
  const auto before = next_descriptor();
  for (int i = 1; i <= pack_count; ++i) EXPECT_EQ(first.text(uri_of_file(i)), text_of_file(i));
  EXPECT_GE(next_descriptor(), before + pack_count);
  for (int i = 1; i <= pack_count; ++i) EXPECT_EQ(second.text(uri_of_file(i)), text_of_file(i));
  EXPECT_LT(next_descriptor(), before + pack_count + 20);
}

TEST(git_many_packs, of_repositories_that_are_served_no_more_are_not_counted) {
  made_repository made, few;
  make_packs(made);
  few.write("f1", text_of_file(1));
  few.commit("first");
  let_settle(few);
  const fewer_descriptors limited(1000);
  for (int i = 0; i < 3; ++i) {
    const served_repository once(git_options{.repositories = {made.path()}, .watch = false});
    EXPECT_EQ(once.text(uri_of_file(1)), text_of_file(1));
  }
  const served_repository many(git_options{.repositories = {made.path()}, .watch = false});
  const served_repository other(git_options{.repositories = {few.path()}, .watch = false});
  const auto before = next_descriptor();
  for (int i = 1; i <= pack_count; ++i) EXPECT_EQ(many.text(uri_of_file(i)), text_of_file(i));
  EXPECT_EQ(other.text(uri_of_file(1)), text_of_file(1));
  EXPECT_GE(next_descriptor(), before + pack_count) << "they still wait";
}

TEST(git_many_packs, that_no_descriptor_is_left_for_are_not_told_as_missing) {
  made_repository made;
  made.write("a", "1\n");
  const auto first = made.commit("first");
  made.git({"repack", "-a", "-d", "-q"});
  const auto shelf = served_repository(git_options{.repositories = {made.path()}, .watch = false});
  const confined_roots inside({made.above()});
  {
    const fewer_descriptors none(next_descriptor());
    // It is screened anew, and finds nothing.
    std::filesystem::last_write_time(made.path() + "/.git/config", std::filesystem::file_time_type::clock::now());
    for (const auto& uri : {"git://shelf/blob/" + first + "/a", "git://shelf/tree/" + first, "git://shelf/commit/" + first}) {
      const auto why = shelf.error(uri);
      EXPECT_EQ(why.code, errc::source_unavailable) << uri << ' ' << why.public_text;
      EXPECT_THAT(why.public_text, HasSubstr("too many files open")) << uri;
    }
    const auto led = inside.resolve_file(made.path() + "/.git/HEAD");
    ASSERT_FALSE(led);
    EXPECT_EQ(led.error(), path_error::unreadable);
    const auto later = confined_roots({made.above()}).resolve_file(made.path() + "/.git/HEAD");
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error(), path_error::unreadable);
  }
  EXPECT_EQ(shelf.text("git://shelf/blob/" + first + "/a"), "1\n");
  EXPECT_TRUE(inside.resolve_file(made.path() + "/.git/HEAD"));
}

}  // namespace
}  // namespace hondana::git
