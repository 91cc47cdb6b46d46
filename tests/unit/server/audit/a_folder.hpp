/// A folder for logs, gone with the test, and what stands in its files.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace hondana::test {

class audit_folder : public testing::Test {
 protected:
  audit_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hondana-audit-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~audit_folder() override {
    std::error_code left_behind;
    std::filesystem::remove_all(folder_, left_behind);
  }

  [[nodiscard]] std::string path(std::string_view name = "audit.jsonl") const { return (folder_ / name).string(); }
  [[nodiscard]] static std::string text(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& file, std::string_view content) {
    std::ofstream out(file, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  [[nodiscard]] static std::vector<std::string> lines(const std::string& file) {
    std::vector<std::string> all;
    std::ifstream in(file, std::ios::binary);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  [[nodiscard]] audit_file_options options() {
    audit_file_options with;
    with.path = path();
    with.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      said_ += std::string(line) + '\n';
    };
    return with;
  }
  [[nodiscard]] std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  /// The deadline of a flush that must succeed.
  [[nodiscard]] static monotonic_clock::time_point soon() { return monotonic_clock::now() + hondana_test::event_deadline; }
  [[nodiscard]] static audit_decision reading(std::string uri, std::string who = "alice") {
    audit_decision out;
    out.time = std::chrono::system_clock::now();
    out.identity = std::move(who);
    out.method = "resources/read";
    out.uris.push_back(std::move(uri));
    return out;
  }

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::string said_;
};

}  // namespace hondana::test
