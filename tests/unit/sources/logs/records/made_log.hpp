/// A log in a folder of its own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/file_log.hpp"
#include "sources/logs/records/matcher.hpp"

namespace hondana::records {

class made_log {
 public:
  made_log() {
    std::string name = testing::TempDir() + "/hondana-records-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no folder for a test";
    folder_ = name;
    with.path = folder_ + "/app.log";
    with.zone = "UTC";
  }
  ~made_log() {
    std::error_code ignored;  // what is left is the test's own folder
    std::filesystem::remove_all(folder_, ignored);
  }
  made_log(const made_log&) = delete;
  made_log& operator=(const made_log&) = delete;

  file_log_options with;

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string path(std::string_view name = "app.log") const { return folder_ + "/" + std::string(name); }
  void write(std::string_view name, std::string_view text) const { put(name, text, std::ios::trunc); }
  void append(std::string_view name, std::string_view text) const { put(name, text, std::ios::app); }
  /// Runs a program's command in the folder.
  void run(const std::string& command) const {
    const auto whole = "cd '" + folder_ + "' && " + command;
    ASSERT_EQ(std::system(whole.c_str()), 0) << command;
  }
  [[nodiscard]] std::shared_ptr<log_backend> open() const {
    auto made = open_file_log(with);
    if (!made) ADD_FAILURE() << made.error().public_text;
    return made ? *made : nullptr;
  }

 private:
  void put(std::string_view name, std::string_view text, std::ios::openmode how) const {
    std::ofstream out(path(name), std::ios::binary | how);
    out << text;
    if (!out.flush()) ADD_FAILURE() << "writing " << name;
  }
  std::string folder_;
};

/// Asks for so many.
[[nodiscard]] inline log_query newest(std::size_t lines) {
  log_query out;
  out.lines = lines;
  return out;
}

/// One page; a failure fails the test.
[[nodiscard]] inline log_page page_of(log_backend& from, const log_query& what = {}, const read_budget& most = {}) {
  auto got = from.read(what, most, {});
  if (!got) ADD_FAILURE() << got.error().public_text << " / " << got.error().private_text;
  return got ? std::move(*got) : log_page{};
}

/// All pages, so many records each.
[[nodiscard]] inline std::vector<log_record> all_pages(log_backend& from, log_query what, const read_budget& most = {}) {
  std::vector<log_record> out;
  for (int i = 0; i < 100'000; ++i) {
    auto one = page_of(from, what, most);
    out.insert(out.end(), std::make_move_iterator(one.records.begin()), std::make_move_iterator(one.records.end()));
    if (!one.next) return out;
    what.cursor = *one.next;
  }
  ADD_FAILURE() << "pages without end";
  return out;
}

[[nodiscard]] inline std::vector<log_record> walked(log_backend& from, std::optional<instant> since = {},
                                                    std::optional<instant> until = {}) {
  std::vector<log_record> out;
  const auto done = from.walk(since, until, {.max_scanned_bytes = UINT64_MAX}, {}, [&out](const log_record& one) {
    out.push_back(one);
    return true;
  });
  if (!done) ADD_FAILURE() << done.error().public_text;
  EXPECT_TRUE(!done || done->is_complete);
  return out;
}

[[nodiscard]] inline std::vector<std::string> texts_of(const std::vector<log_record>& all) {
  std::vector<std::string> out;
  for (const auto& one : all) out.push_back(one.text);
  return out;
}

}  // namespace hondana::records
