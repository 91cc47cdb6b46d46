/// FIFOs that take the places of files after a repository has been looked through.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deadline.hpp"
#include "sources/git/repository_watcher.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// Does something that must end by itself: the test fails where it waits for the writer of `fifo`, who then comes.
void without_waiting(const std::string& fifo, const std::string& what, const std::function<void()>& does) {
  using namespace std::chrono_literals;
  auto done = std::async(std::launch::async, does);
  if (done.wait_for(hondana_test::event_deadline) == std::future_status::ready) return;
  ADD_FAILURE() << what << " waits for " << fifo;
  while (done.wait_for(10ms) != std::future_status::ready) ::close(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK));
}

std::string kept_bytes(const std::string& path) {
  std::ifstream from(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}

class late_fifo {
 public:
  explicit late_fifo(std::string path) : path_(std::move(path)), text_(kept_bytes(path_)) {
    std::filesystem::remove(path_);
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0) << path_;
  }
  ~late_fifo() {
    std::filesystem::remove(path_);
    if (!text_.empty()) std::ofstream(path_, std::ios::binary) << text_;
  }
  late_fifo(const late_fifo&) = delete;
  late_fifo& operator=(const late_fifo&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const std::string path_, text_;
};

TEST(git_late_fifos, in_the_places_of_references_hang_nobody) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  made.git({"tag", "old"});
  made.git({"pack-refs", "--all"});
  made.write("a", "2\n");
  const auto second = made.commit("second");
  made.git({"tag", "new"});
  let_settle(made);  // or everything is looked through again for each read, and refused as a whole
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  const auto branches = shelf.text("git://shelf/branches");
  for (const std::string victim : {"HEAD", "packed-refs", "refs/heads/main", "refs/tags/new", "refs/heads/side"}) {
    {
      const late_fifo fifo(made.path() + "/.git/" + victim);
      for (const std::string uri :
           {"git://shelf/overview", "git://shelf/branches", "git://shelf/tags", "git://shelf/log", "git://shelf/tree/HEAD",
            "git://shelf/blob/main/a", "git://shelf/changes", "git://shelf/stashes", "git://shelf/worktrees"})
        without_waiting(fifo.path(), uri, [&] { static_cast<void>(shelf.try_read(uri)); });
      without_waiting(fifo.path(), "the list", [&] { EXPECT_TRUE(shelf.provider().list({})); });
      complete_request typed;
      typed.uri_template = "git://{repo}/tree/{rev}";
      typed.argument = "rev";
      typed.value = "m";
      typed.context = {{"repo", "shelf"}};
      without_waiting(fifo.path(), "completion", [&] { static_cast<void>(shelf.provider().complete(typed)); });
      // What is named by whole ids needs no reference; but without a HEAD there is no repository.
      const auto fixed = "git://shelf/blob/" + second + "/a";
      if (victim == "HEAD") {
        // Whoever looks through the repository again refuses all of it.
        EXPECT_THAT(shelf.error(fixed).code, AnyOf(errc::source_unavailable, errc::invalid_argument));
      } else {
        EXPECT_EQ(shelf.text(fixed), "2\n") << victim;
      }
      if (victim == "refs/heads/main" || victim == "packed-refs" || victim == "refs/heads/side") {
        const auto why = shelf.error("git://shelf/branches");
        EXPECT_EQ(why.code, errc::source_unavailable);
        EXPECT_THAT(why.public_text, HasSubstr('"' + victim + "\" is not a regular file"));
      }
    }
    EXPECT_EQ(shelf.text("git://shelf/branches"), branches) << victim;
  }
}

TEST(git_late_fifos, in_the_places_of_references_hang_no_look_at_what_is_followed) {
  made_repository made;
  made.commit("first");
  const auto at = locate(made.path(), {made.above()});
  ASSERT_TRUE(at);
  const auto shelf = repository::open("shelf", *at, {made.above()});
  ASSERT_TRUE(shelf);
  for (const std::string victim : {"HEAD", "packed-refs", "refs/heads/main"}) {
    const auto handle = (*shelf)->acquire();
    ASSERT_TRUE(handle) << victim;
    const late_fifo fifo(made.path() + "/.git/" + victim);
    without_waiting(fifo.path(), "a look", [&] {
      const auto marks = read_reference_etags(handle->get(), *at, [] { return false; });
      EXPECT_EQ(marks.has_value(), victim == "HEAD") << victim;
    });
  }
}

TEST(git_late_fifos, in_the_places_of_loose_objects_hang_nobody) {
  made_repository made;
  made.write("a", "1\n");
  made.commit("first");
  made.git({"tag", "-a", "-m", "words", "old"});
  const served_repository shelf(git_options{.repositories = {made.path()}, .watch = false});
  for (const std::string revision : {"HEAD", "HEAD:a", "HEAD^{tree}", "old"}) {
    const auto id = made.git({"rev-parse", revision});
    const late_fifo fifo(made.path() + "/.git/objects/" + id.substr(0, 2) + '/' + id.substr(2, 38));
    for (const std::string uri : {"git://shelf/tags", "git://shelf/tree/HEAD", "git://shelf/blob/HEAD/a", "git://shelf/log",
                                  "git://shelf/commit/HEAD", "git://shelf/blame/HEAD/a"})
      without_waiting(fifo.path(), uri, [&] { static_cast<void>(shelf.try_read(uri)); });
  }
}

}  // namespace
}  // namespace hondana::git
