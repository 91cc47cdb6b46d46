/// Where XDG says that state is kept.
#include "sources/config/state_folder.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace hondana::config {
namespace {

/// Puts it back at the end.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    const char* const before = std::getenv(name);
    was_set_ = before != nullptr;
    if (was_set_) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~variable() { was_set_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  bool was_set_ = false;
  std::string before_;
};

TEST(state_folder, is_where_xdg_says_or_below_the_home) {
  const variable home("HOME", "/home/ann");
  {
    const variable state("XDG_STATE_HOME", "/srv/state");
    EXPECT_EQ(state_folder(), "/srv/state/hondana");
  }
  for (const char* const odd : {"", "state"}) {
    const variable state("XDG_STATE_HOME", odd);
    EXPECT_EQ(state_folder(), "/home/ann/.local/state/hondana") << "relative paths are invalid";
  }
}

TEST(state_folder, is_nowhere_without_a_home) {
  const variable state("XDG_STATE_HOME", nullptr);
  for (const char* const none : {static_cast<const char*>(nullptr), "", "home"}) {
    const variable home("HOME", none);
    EXPECT_EQ(state_folder(), "");
  }
}

}  // namespace
}  // namespace hondana::config
