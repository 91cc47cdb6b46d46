/// A folder of configuration for each test, and a set that serves it.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "deadline.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/config/section.hpp"
#include "sources/config_files/config_files_provider.hpp"

namespace hondana::config_files {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log);

namespace fs = std::filesystem;

struct served_set : testing::Test {
  fs::path root;
  std::vector<std::string> log;

  served_set() {
    std::string made = (fs::temp_directory_path() / "config-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    root = made;
  }
  ~served_set() override { fs::remove_all(root); }

  void write(const std::string& below, const std::string& bytes) const {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below, std::ios::binary) << bytes;
  }
  /// As editors and programs do that mean well.
  void replace(const std::string& below, const std::string& bytes) const {
    write(below + ".new", bytes);
    fs::rename(root / (below + ".new"), root / below);
  }
  /// Until the file is older than the time in which a change may leave no trace.
  void settle(const std::string& below) const {
    struct stat facts{};
    EXPECT_TRUE(hondana_test::eventually([&] {
      return ::stat((root / below).c_str(), &facts) == 0 && !is_racy(disk::stamp_of(facts), disk::wall_clock());
    })) << below
        << " does not settle";
  }

  /// What a `[[source]]` table of a file in the folder makes; the log goes to `log`.
  result<std::shared_ptr<provider>> try_to_serve(const std::string& table, std::vector<std::string> kept_back = {}) {
    auto section = config::parse_toml(table, (root / "hondana.toml").string());
    if (!section) return tl::unexpected(section.error());
    section->set_own_files(std::move(kept_back));
    return configure(*section, [this](std::string_view line) {
      const std::lock_guard lock(log_mutex_);
      log.emplace_back(line);
    });
  }
  std::shared_ptr<config_files_provider> serve(const std::string& table, std::vector<std::string> kept_back = {}) {
    auto made = try_to_serve(table, std::move(kept_back));
    EXPECT_TRUE(made) << made.error().public_text;
    if (!made) std::abort();
    return std::dynamic_pointer_cast<config_files_provider>(*made);
  }

 private:
  std::mutex log_mutex_;
};

inline result<read_result> read(config_files_provider& from, const std::string& uri, std::optional<std::string> if_version = {},
                                std::uint64_t max_bytes = 64u << 20) {
  read_request request;
  request.uri = canonical_uri(uri).value_or(uri);
  request.requested_uri = uri;
  request.cached_version = std::move(if_version);
  request.max_bytes = max_bytes;
  return from.read(request);
}

/// What a read gives, or "error: " and why not.
inline std::string text_at(config_files_provider& from, const std::string& uri) {
  const auto got = read(from, uri);
  if (!got) return "error: " + got.error().public_text;
  const auto* text = got->contents.empty() ? nullptr : std::get_if<shared_bytes>(&got->contents.front().data);
  return text == nullptr ? "error: no text" : **text;
}

inline value json_at(config_files_provider& from, const std::string& uri) {
  const auto text = text_at(from, uri);
  const auto parsed = value::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(value());
}

inline value json(std::string_view text) {
  const auto parsed = value::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(value());
}

inline errc error_at(config_files_provider& from, const std::string& uri) {
  const auto got = read(from, uri);
  EXPECT_FALSE(got) << uri;
  return got ? errc{} : got.error().code;
}

inline std::vector<std::string> listed(config_files_provider& from) {
  std::vector<std::string> all;
  list_request request;
  for (;;) {
    const auto page = from.list(request);
    if (!page) return {"error: " + page.error().public_text};
    for (const auto& one : page->entries) all.push_back(one.uri);
    if (!page->next_key) return all;
    request.after_key = *page->next_key;
  }
}

/// What is left out, with the reason.
inline std::map<std::string, std::string> left_out(config_files_provider& from) {
  std::map<std::string, std::string> all;
  const auto done = from.inventory({}, [&all](const inventory_item& item) {
    if (!item.is_served) all.emplace(item.name, item.reason);
  });
  if (!done) all.emplace("error", done.error().public_text);
  return all;
}

inline std::vector<std::string> completed(config_files_provider& from, std::string uri_template, std::string argument,
                                          std::string typed, std::vector<std::pair<std::string, std::string>> context = {}) {
  complete_request request;
  request.uri_template = std::move(uri_template);
  request.argument = std::move(argument);
  request.value = std::move(typed);
  request.context = std::move(context);
  const auto found = from.complete(request);
  return found ? found->values : std::vector{"error: " + found.error().public_text};
}

/// A fact of the first content, as text; empty when there is none.
inline std::string fact_at(config_files_provider& from, const std::string& uri, std::string_view key) {
  const auto got = read(from, uri);
  if (!got || got->contents.empty()) return "error";
  for (const auto& [name, what] : got->contents.front().metadata) {
    if (name != key) continue;
    if (const auto* text = std::get_if<std::string>(&what)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&what)) return std::to_string(*number);
  }
  return {};
}

}  // namespace hondana::config_files
