/// Folders that are looked at when something has happened in them.
#include "os/watch/folder_watcher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"

namespace hondana::watch {
namespace {

/// Two folders, and what they were looked at for.
class looked_at_folders : public testing::Test {
 protected:
  looked_at_folders() {
    std::string pattern = std::filesystem::temp_directory_path() / "hondana-lookout-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    for (const char* one : {"/a", "/b"}) {
      paths_.push_back(top_ + one);
      std::filesystem::create_directory(paths_.back());
    }
  }
  ~looked_at_folders() override { std::filesystem::remove_all(top_); }

  void watch(watcher_options with) {
    lookout_ = std::make_unique<folder_watcher>(
        paths_,
        [this](const request_context&, const folder_watcher::trees& which) {
          const std::lock_guard lock(mutex_);
          looks_.push_back(which);
          changed_.notify_all();
          return !fails_;
        },
        std::move(with));
    lookout_->start();
    ASSERT_TRUE(looks(1)) << "it begins with a look";
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const int descriptor = ::open(paths_[i].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      ASSERT_GE(descriptor, 0);
      lookout_->add_folder(i, "", descriptor);
      ::close(descriptor);
    }
  }
  bool looks(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return looks_.size() >= count; });
  }
  folder_watcher::trees look(std::size_t which) {
    const std::lock_guard lock(mutex_);  // another may be coming
    return looks_.at(which);
  }
  void replace(std::size_t which) const {
    std::ofstream(paths_[which] + "/new.lock") << "one";
    std::filesystem::rename(paths_[which] + "/new.lock", paths_[which] + "/new");
  }

  std::string top_;
  std::vector<std::string> paths_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<folder_watcher::trees> looks_;
  bool fails_ = false;
  std::unique_ptr<folder_watcher> lookout_;
};

TEST_F(looked_at_folders, are_named_when_something_has_happened_in_them) {
  watch({});
  EXPECT_TRUE(look(0).empty()) << "at first anything may have changed";
  replace(1);
  ASSERT_TRUE(looks(2));
  EXPECT_EQ(look(1), folder_watcher::trees{1});
}

TEST_F(looked_at_folders, are_looked_at_at_once_when_nothing_more_belongs_to_it) {
  watcher_options with;
  with.quiet_time = with.max_delay = std::chrono::hours(1);
  with.allows_immediate_rescan = [](const folder_event& what) { return what.kind == folder_event::event_kind::moved_in; };
  watch(with);
  replace(0);
  ASSERT_TRUE(looks(2)) << "without it, in an hour";
  EXPECT_EQ(look(1), folder_watcher::trees{0});
}

TEST_F(looked_at_folders, may_all_have_changed_after_a_look_that_failed) {
  watcher_options with;
  with.quiet_time = std::chrono::milliseconds(1);
  with.rescan_interval = std::chrono::milliseconds(1);
  watch(with);
  {
    const std::lock_guard lock(mutex_);
    fails_ = true;
  }
  replace(0);
  ASSERT_TRUE(looks(3));
  EXPECT_TRUE(look(2).empty());
}

TEST_F(looked_at_folders, are_looked_at_when_somebody_wants_it) {
  watcher_options with;
  with.quiet_time = with.max_delay = std::chrono::minutes(1);
  watch(with);
  lookout_->request_rescan(1);
  ASSERT_TRUE(looks(2)) << "although nothing has happened";
  EXPECT_EQ(look(1), folder_watcher::trees{1});
}

/// Holds on to one end of what it makes, and knows when nobody has the other any more.
class last_holder {
 public:
  std::shared_ptr<int> hold() {
    return {&held_, [this](int*) {
              const std::lock_guard lock(mutex_);
              is_gone_ = true;
              changed_.notify_all();
            }};
  }
  bool is_gone() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [this] { return is_gone_; });
  }

 private:
  int held_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_gone_ = false;
};

TEST(lookout, is_not_kept_alive_by_who_looks_for_it) {
  last_holder known;
  {
    const auto cover = std::make_shared<std::function<void(std::size_t, const std::string&, int)>>();
    auto one = std::make_unique<folder_watcher>(
        std::vector<std::string>{"/"},
        [cover, held = known.hold()](const request_context&, const folder_watcher::trees&) { return held != nullptr; },
        watcher_options{});
    *cover = one->folder_adder();
    one->start();
    one.reset();
    (*cover)(0, "", 0);
  }
  EXPECT_TRUE(known.is_gone());
}

}  // namespace
}  // namespace hondana::watch
