/// A folder of documents for each test, a set that serves it, and a renderer that starts nothing.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/docs/docs_provider.hpp"
#include "unit/sources/recorded_changes.hpp"

namespace hondana::docs {

namespace fs = std::filesystem;

/// Takes what follows the first line of a file for its text. A text with ENCRYPTED in it is refused, one with BROKEN is wrong,
/// one with CUT is not whole; the line `title: …` is the title, `extra_text: …` what stands beside the text.
class paper_renderer final : public rendering::renderer {
 public:
  [[nodiscard]] result<rendering::document> render(rendering::format, int input, const rendering::limits&,
                                                   const std::stop_token&,
                                                   std::chrono::steady_clock::time_point) const override {
    ++renders;
    std::string bytes(1u << 16, '\0');
    const auto count = ::pread(input, bytes.data(), bytes.size(), 0);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (bytes.find("ENCRYPTED") != std::string::npos) return fail(errc::access_denied, "The file is encrypted.");
    if (bytes.find("BROKEN") != std::string::npos) return fail(errc::invalid_argument, "The file is broken.");
    rendering::document made;
    if (bytes.find("title: ") == bytes.find('\n') + 1 && bytes.find("title: ") != std::string::npos) {
      bytes.erase(0, bytes.find('\n') + 1);
      made.title = bytes.substr(7, bytes.find('\n') - 7);
    }
    made.text = bytes.substr(bytes.find('\n') + 1);
    if (made.text.starts_with("beside: ")) {
      made.extra_text = made.text.substr(0, made.text.find('\n'));
      made.text.erase(0, made.extra_text.size() + 1);
    }
    made.is_truncated = made.text.find("CUT") != std::string::npos;
    made.pages = static_cast<std::size_t>(std::count(made.text.begin(), made.text.end(), '\f'));
    return made;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> commands() const override { return {{"/usr/bin/paper", "render"}}; }
  [[nodiscard]] std::string missing_for(rendering::format) const override { return missing; }

  mutable std::atomic<int> renders{0};
  std::string missing{};
};

/// Hides whatever URI has a word in it.
class without_word final : public access_filter {
 public:
  explicit without_word(std::string word) : word_(std::move(word)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return uri.find(word_) == std::string_view::npos; }

 private:
  std::string word_;
};

struct served_documents : testing::Test {
  fs::path root;
  std::vector<std::string> log;
  std::shared_ptr<paper_renderer> paper = std::make_shared<paper_renderer>();

  served_documents() {
    std::string made = (fs::temp_directory_path() / "docs-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    root = made;
  }
  ~served_documents() override { fs::remove_all(root); }

  void write(const std::string& below, const std::string& bytes) const {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below, std::ios::binary) << bytes;
  }
  /// In one step: nobody finds it empty meanwhile, however slow this is.
  void replace(const std::string& below, const std::string& bytes) const {
    const auto aside = root.string() + "-new";
    std::ofstream(aside, std::ios::binary) << bytes;
    fs::rename(aside, root / below);
  }
  /// Until the file is older than the time in which a change may leave no trace.
  void settle(const std::string& below) const {
    struct stat facts{};
    EXPECT_TRUE(hondana_test::eventually([&] {
      return ::stat((root / below).c_str(), &facts) == 0 && !is_racy(disk::stamp_of(facts), disk::wall_clock());
    })) << below
        << " does not settle";
  }
  /// Not watched, and looked at whenever somebody lists.
  [[nodiscard]] set_options plain_options() {
    set_options made;
    made.name = "book";
    made.path = root.string();
    made.watch = false;
    made.log = [this](std::string_view line) {
      const std::lock_guard lock(log_mutex_);
      log.emplace_back(line);
    };
    return made;
  }
  std::shared_ptr<docs_provider> serve(const set_options& how) {
    auto made = docs_provider::open(how);
    EXPECT_TRUE(made) << made.error().public_text;
    if (!made) std::abort();
    return *made;
  }
  std::shared_ptr<docs_provider> serve() { return serve(plain_options()); }
  std::shared_ptr<docs_provider> serve_rendered() {
    auto how = plain_options();
    how.renderer = paper;
    return serve(how);
  }

 private:
  std::mutex log_mutex_;
};

inline caller_info somebody(const std::string& hidden_word) {
  caller_info who;
  who.identity = "somebody";
  who.access_filter = std::make_shared<without_word>(hidden_word);
  return who;
}

inline result<read_result> read(docs_provider& from, const std::string& uri, caller_info who = {},
                                std::uint64_t max_bytes = 64u << 20) {
  read_request request;
  request.caller = std::move(who);
  request.uri = canonical_uri(uri).value_or(uri);
  request.requested_uri = uri;
  request.max_bytes = max_bytes;
  return from.read(request);
}

/// What the first content of a read is, or "error: " and why not.
inline std::string text_at(docs_provider& from, const std::string& uri, caller_info who = {}) {
  const auto got = read(from, uri, std::move(who));
  if (!got) return "error: " + got.error().public_text;
  const auto* text = got->contents.empty() ? nullptr : std::get_if<shared_bytes>(&got->contents.front().data);
  return text == nullptr ? "error: no text" : **text;
}

inline std::string original_at(docs_provider& from, const std::string& uri) {
  const auto got = read(from, uri);
  if (!got) return "error: " + got.error().public_text;
  if (got->contents.size() != 2) return "none";
  EXPECT_EQ(got->contents[1].kind, content_kind::blob);
  return *std::get<shared_bytes>(got->contents[1].data);
}

inline errc error_at(docs_provider& from, const std::string& uri, caller_info who = {}) {
  const auto got = read(from, uri, std::move(who));
  EXPECT_FALSE(got) << uri;
  return got ? errc{} : got.error().code;
}

inline value json_at(docs_provider& from, const std::string& uri, caller_info who = {}) {
  const auto text = text_at(from, uri, std::move(who));
  auto parsed = value::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(value());
}

inline std::vector<resource> entries_of(docs_provider& from, caller_info who = {}) {
  list_request request;
  request.caller = std::move(who);
  request.limit = 10'000;
  auto page = from.list(request);
  EXPECT_TRUE(page) << page.error().public_text;
  return page ? std::move(page->entries) : std::vector<resource>();
}

inline std::vector<std::string> listed(docs_provider& from, caller_info who = {}) {
  std::vector<std::string> all;
  for (auto& one : entries_of(from, std::move(who))) all.push_back(std::move(one.uri));
  return all;
}

inline resource entry_at(docs_provider& from, const std::string& uri) {
  for (auto& one : entries_of(from)) {
    if (one.uri == canonical_uri(uri).value_or(uri)) return one;
  }
  ADD_FAILURE() << uri << " is not listed";
  return {};
}

inline std::string fact_of(const metadata& all, std::string_view key) {
  for (const auto& [name, what] : all) {
    if (name != "dev.hondana/" + std::string(key)) continue;
    if (const auto* text = std::get_if<std::string>(&what)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&what)) return std::to_string(*number);
    return "?";
  }
  return {};
}

/// What `hondana check` says of each, by name.
inline std::map<std::string, std::string> surveyed(docs_provider& from, bool served) {
  std::map<std::string, std::string> all;
  const auto done = from.inventory({}, [&](const inventory_item& item) {
    if (item.is_served == served) all.emplace(item.name, item.reason);
  });
  if (!done) all.emplace("error", done.error().public_text);
  return all;
}

inline std::vector<std::string> completed(docs_provider& from, const std::string& below, std::string argument,
                                          std::string typed, std::vector<std::pair<std::string, std::string>> context = {},
                                          caller_info who = {}) {
  complete_request request;
  request.caller = std::move(who);
  request.uri_template = "docs://book/" + below;
  request.argument = std::move(argument);
  request.value = std::move(typed);
  request.context = std::move(context);
  const auto found = from.complete(request);
  return found ? found->values : std::vector{"error: " + found.error().public_text};
}

}  // namespace hondana::docs
