/// Repositories made to lead astray.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <gtest/gtest.h>

#include "sources/git/repository_location.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {

/// A repository that is served alone, and another one, outside.
struct hostile_pair {
  made_repository inside, outside;

  hostile_pair() {
    inside.write("a.txt", "one\n");
    inside.commit("first");
    outside.write("secret.txt", "secret\n");
    outside.commit("secret");
  }
  [[nodiscard]] std::string git_folder() const { return inside.path() + "/.git"; }
  [[nodiscard]] result<repository_location> find() const { return locate(inside.path(), {inside.path()}); }

  /// Refused, by a text that tells nothing of where things are on this machine.
  void expect_refusal(errc code, std::string_view word) const {
    const auto found = find();
    ASSERT_FALSE(found) << word;
    EXPECT_EQ(found.error().code, code) << found.error().public_text;
    EXPECT_NE(found.error().public_text.find(word), std::string::npos) << found.error().public_text;
    EXPECT_EQ(found.error().public_text.find(inside.above()), std::string::npos) << found.error().public_text;
    EXPECT_EQ(found.error().public_text.find(outside.above()), std::string::npos) << found.error().public_text;
  }
};

/// Whatever is at a path makes room, and comes back in the end.
class room_at {
 public:
  room_at(std::string path, const std::string& aside) : path_(std::move(path)), aside_(aside + "/aside") {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    was_there_ = std::filesystem::exists(path_);
    if (was_there_) std::filesystem::rename(path_, aside_);
  }
  room_at(const room_at&) = delete;
  room_at& operator=(const room_at&) = delete;
  ~room_at() {
    std::error_code ignored;  // the test that follows sees what could not be put back
    std::filesystem::remove(path_, ignored);
    if (was_there_) std::filesystem::rename(aside_, path_, ignored);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  const std::string path_, aside_;
  bool was_there_ = false;
};

inline void append_to(const std::string& file, std::string_view text) {
  std::ofstream(file, std::ios::app | std::ios::binary) << text;
}
inline void overwrite(const std::string& file, std::string_view text) { std::ofstream(file, std::ios::binary) << text; }

}  // namespace hondana::git
