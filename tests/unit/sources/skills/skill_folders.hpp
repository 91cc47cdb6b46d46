/// A folder of skills on disk for each test, and a provider that serves it.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "sources/skills/folder_skills_provider.hpp"
#include "unit/sources/skills/skill_texts.hpp"

namespace hondana::skills {

namespace fs = std::filesystem;

/// A folder of its own for each test, and a provider that serves it.
struct skill_folders : testing::Test {
  fs::path root;
  std::vector<std::string> log;

  skill_folders() {
    std::string made = (fs::temp_directory_path() / "skills-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    root = made;
  }
  ~skill_folders() override { fs::remove_all(root); }

  void write(const std::string& below, const std::string& bytes) const {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below, std::ios::binary) << bytes;
  }
  /// Until the file is older than the time in which a change may leave no trace.
  void wait_until_settled(const std::string& below) const {
    struct stat facts{};
    EXPECT_TRUE(hondana_test::eventually([&] {
      return ::stat((root / below).c_str(), &facts) == 0 && !is_racy(disk::stamp_of(facts), disk::wall_clock());
    })) << below
        << " does not settle";
  }
  /// Not watched, so that changes are told by questions.
  std::shared_ptr<folder_skills_provider> open(const std::string& prefix = {}, const std::vector<std::string>& below = {""}) {
    std::vector<std::string> paths;
    for (const auto& one : below) paths.push_back((root / one).string());
    auto opened = folder_skills_provider::open(prefix, paths, [this](std::string_view line) { log.emplace_back(line); }, false);
    if (!opened) throw std::runtime_error(opened.error().public_text);
    return *opened;
  }
  /// What is left out, with the reason.
  static std::map<std::string, std::string> left_out(inventory_source& from) {
    std::map<std::string, std::string> all;
    const auto done = from.inventory({}, [&all](const inventory_item& item) {
      if (!item.is_served) all.emplace(item.name, item.reason);
    });
    if (!done) all.emplace("error", done.error().public_text);
    return all;
  }
};

}  // namespace hondana::skills
