/// An index in a file of a test's own, which others have open, damage and take over.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "search/index/embedded/embedded_store.hpp"
#include "unit/search/index/store_contract.hpp"

namespace hondana::search {

class embedded_file : public testing::Test {
 protected:
  static constexpr std::uint64_t page_bytes = 8192;

  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ + "/index.db"; }
  std::shared_ptr<store> opened(const std::string& words = "plain-1") {
    auto made = open_embedded({path(), plain_words(words), [this](std::string_view line) {
                                 const std::lock_guard lock(mutex_);
                                 log_ += std::string(line) + '\n';
                               }});
    EXPECT_TRUE(made) << made.error().public_text << " | " << made.error().private_text;
    return made ? std::move(*made) : nullptr;
  }
  static void put(store& into, const std::string& name, const std::string& text) {
    const std::vector of{said(text), said(text + " again")};
    const auto put = into.put(named_document(name), of);
    ASSERT_TRUE(put) << put.error().public_text << " | " << put.error().private_text;
    const auto done = into.commit();
    ASSERT_TRUE(done) << done.error().public_text << " | " << done.error().private_text;
  }
  static word_matches find(const store& in, const std::string& query) {
    auto got = in.find(words_of(query), {}, 100'000);
    EXPECT_TRUE(got) << got.error().public_text << " | " << got.error().private_text;
    return got ? std::move(*got) : word_matches();
  }
  static std::size_t having(const store& in, const std::string& query) { return find(in, query).passages.size(); }
  /// As somebody else does it: closing the file here would give up SQLite's locks of it.
  void damage(std::uint64_t offset, std::size_t count) const {
    const auto child = ::fork();
    if (child == 0) {
      std::mt19937 draw(1);
      std::string garbage(count, 0);
      for (auto& byte : garbage) byte = static_cast<char>(draw());
      const int file = ::open(path().c_str(), O_WRONLY | O_CLOEXEC);
      ::_exit(::pwrite(file, garbage.data(), count, static_cast<off_t>(offset)) == static_cast<ssize_t>(count) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  void forget_set_aside() const {
    const std::filesystem::directory_iterator all(folder_);
    for (const auto& one : all) {
      if (one.path().filename().string().starts_with("index.db.damaged-")) std::filesystem::remove(one.path());
    }
  }
  std::size_t set_aside() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& one) {
      const auto name = one.path().filename().string();
      return name.starts_with("index.db.damaged-") && !name.ends_with("-wal");
    }));
  }
  std::size_t said_so(std::string_view what) const {
    const std::lock_guard lock(mutex_);
    std::size_t out = 0;
    for (auto at = log_.find(what); at != std::string::npos; at = log_.find(what, at + 1)) ++out;
    return out;
  }

  std::string folder_ = "/tmp/search_XXXXXX";
  mutable std::mutex mutex_;
  std::string log_;
};

}  // namespace hondana::search
