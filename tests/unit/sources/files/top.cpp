/// Roots that are deleted, moved or replaced while they are served.
#include "sources/files/root_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "scratch_folder.hpp"
#include "unit/sources/ear.hpp"

namespace hondana::files {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A root within a folder of the test, and what the log says of it.
class replaced_roots : public testing::Test {
 protected:
  void open(const std::function<void(options&)>& with) {
    auto from = serving(above_.path("served"));
    from.log = [this](std::string_view line) {
      if (line.find("the folder ") != 0) return;
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
    with(from);
    files_ = open_provider(from);
  }
  void open_unwatched() {
    open([](options& with) { with.watches = false; });
  }
  [[nodiscard]] std::string uri(std::string_view below) const { return above_.uri("served/" + std::string(below)); }
  [[nodiscard]] errc error_of(std::string_view below) { return read_error(*files_, uri(below)); }
  void expect_listed(const std::vector<std::string>& names) {
    const auto found = list_until(*files_, [&names](const auto& all) { return names_of(all) == names; });
    EXPECT_EQ(names_of(found), names);
  }

  scratch_folder above_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::shared_ptr<files_provider> files_;
};

TEST_F(replaced_roots, that_are_deleted_and_made_again_are_served_anew) {
  above_.write("served/a.txt", "a");
  open_unwatched();
  expect_listed({"served", "a.txt"});
  fs::remove_all(above_.path("served"));
  EXPECT_EQ(error_of("a.txt"), errc::resource_not_found);
  (void)list_all(*files_);
  EXPECT_FALSE(files_->health().is_healthy);
  EXPECT_THAT(files_->health().detail, HasSubstr(above_.path("served") + " is gone"));
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(above_.path("served") + " is gone")));
  above_.write("served/b.txt", "b");
  EXPECT_EQ(read_text(*files_, uri("b.txt")), "b");
  EXPECT_EQ(error_of("a.txt"), errc::resource_not_found);
  expect_listed({"served", "b.txt"});
  EXPECT_TRUE(files_->health().is_healthy);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" is gone"), HasSubstr("served exists again")));
}

TEST_F(replaced_roots, that_are_moved_are_what_is_put_in_their_place) {
  above_.write("served/a.txt", "one");
  above_.write("next/a.txt", "two");
  above_.write("next/.gitignore", "b.txt");
  above_.write("next/b.txt", "ignored");
  open_unwatched();
  EXPECT_EQ(read_text(*files_, uri("a.txt")), "one");
  fs::rename(above_.path("served"), above_.path("before"));
  EXPECT_EQ(read_text(*files_, uri("a.txt")), "one");  // as long as there is no other
  fs::rename(above_.path("next"), above_.path("served"));
  EXPECT_EQ(read_text(*files_, uri("a.txt")), "two");
  EXPECT_EQ(error_of("b.txt"), errc::resource_not_found);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" is gone"), HasSubstr("exists again")));
}

TEST_F(replaced_roots, are_not_what_a_link_or_a_file_in_their_place_leads_to) {
  above_.write("served/a.txt", "a");
  above_.write("other/b.txt", "b");
  open_unwatched();
  fs::remove_all(above_.path("served"));
  above_.link("served", "other");
  EXPECT_EQ(error_of("b.txt"), errc::resource_not_found);
  EXPECT_FALSE(files_->health().is_healthy);
  fs::remove(above_.path("served"));
  above_.write("served", "a file");
  EXPECT_EQ(error_of("b.txt"), errc::resource_not_found);
  EXPECT_FALSE(files_->health().is_healthy);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr(" is gone")));
}

TEST_F(replaced_roots, are_told_of_unasked_and_watched_from_then_on) {
  above_.write("served/a.txt", "a");
  open([](options& with) { with.refresh_interval = std::chrono::milliseconds(20); });
  const auto hearing = std::make_shared<ear>();
  files_->set_listener(hearing);
  expect_listed({"served", "a.txt"});
  files_->watch(uri("a.txt"));
  fs::remove_all(above_.path("served"));
  EXPECT_TRUE(hearing->hears(uri("a.txt")));
  ASSERT_TRUE(hearing->hears_lists(1));
  (void)hearing->take();
  // Made at once with all that is in it, so that only the folder itself can be noticed.
  above_.write("made/a.txt", "new");
  above_.write("made/b.txt", "b");
  fs::rename(above_.path("made"), above_.path("served"));
  EXPECT_TRUE(hearing->hears(uri("a.txt")));
  EXPECT_TRUE(hearing->hears_lists(2));
  expect_listed({"served", "a.txt", "b.txt"});
  const auto lists = hearing->lists();
  above_.write("served/c.txt", "c");
  EXPECT_TRUE(hearing->hears_lists(lists + 1));
  (void)hearing->take();
  above_.write("served/a.txt", "newer");
  EXPECT_TRUE(hearing->hears(uri("a.txt")));
}

}  // namespace
}  // namespace hondana::files
