/// Logs that tests write, and what their provider answers.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "sources/logs/log_provider.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/records/file_log.hpp"
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/records/matcher.hpp"
#include "unit/sources/recorded_changes.hpp"

namespace hondana::logs {

/// 2026-01-31T12:00:00Z
inline constexpr records::instant noon = 1'769'860'800LL * second;

/// A folder for one test.
class made_folder {
 public:
  made_folder() {
    std::string name = testing::TempDir() + "/hondana-logs-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no folder for a test";
    path_ = name;
  }
  ~made_folder() {
    std::error_code ignored;  // what is left is the test's own folder
    std::filesystem::remove_all(path_, ignored);
  }
  made_folder(const made_folder&) = delete;
  made_folder& operator=(const made_folder&) = delete;
  [[nodiscard]] std::string path(std::string_view name) const { return path_ + '/' + std::string(name); }
  void append(std::string_view name, std::string_view text) const {
    std::ofstream out(path(name), std::ios::binary | std::ios::app);
    out << text << std::flush;
    if (!out) ADD_FAILURE() << "writing " << name;
  }

 private:
  std::string path_;
};

/// Records in memory.
class kept_log final : public records::log_backend {
 public:
  void add(records::instant time, std::string text, std::optional<records::severity> level = records::severity::info) {
    const std::lock_guard lock(mutex_);
    all_.push_back(
        {.time = time, .has_own_time = true, .level = level, .text = std::move(text), .cut_bytes = 0, .source = "kept"});
  }
  void add_untimed(std::string text) {
    const std::lock_guard lock(mutex_);
    all_.push_back({.time = {}, .has_own_time = false, .level = {}, .text = std::move(text), .cut_bytes = 0, .source = "kept"});
  }
  void change() {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex_);
      call = changed_;
    }
    if (call) call();
  }
  [[nodiscard]] bool is_followed() const {
    const std::lock_guard lock(mutex_);
    return changed_ != nullptr;
  }

  std::atomic<int> walks{0}, looks{0};
  std::atomic<std::size_t> walked{0};
  std::vector<std::string> remarks;
  std::string ended_early;
  std::function<void()> before_walk;

  result<records::log_page> read(const records::log_query& what, const records::read_budget&, const request_context&) override {
    const auto wanted = records::record_matcher::compile(what);
    if (!wanted) return tl::unexpected(wanted.error());
    records::log_page out;
    out.notes = remarks;
    out.early_end_reason = ended_early;
    const std::lock_guard lock(mutex_);
    auto at = what.cursor.empty() ? all_.size() : static_cast<std::size_t>(std::strtoull(what.cursor.c_str(), nullptr, 10));
    while (at > 0 && out.records.size() < what.lines)
      if (wanted->accepts(all_[--at])) out.records.push_back(all_[at]);
    if (at != 0) out.next = std::to_string(at);
    return out;
  }
  result<records::walk_result> walk(std::optional<records::instant> since, std::optional<records::instant> until,
                                    const records::read_budget& most, const request_context&,
                                    const std::function<bool(const records::log_record&)>& each) override {
    ++walks;
    if (before_walk) before_walk();
    std::vector<records::log_record> all;
    {
      const std::lock_guard lock(mutex_);
      all = all_;
    }
    std::uint64_t scanned = 0;
    for (const auto& one : all) {
      if (!one.time || (since && *one.time < *since) || (until && *one.time >= *until)) continue;
      if (scanned >= most.max_scanned_bytes) return records::walk_result{.is_complete = false};
      scanned += one.text.size() + 1;
      ++walked;
      if (!each(one)) return records::walk_result{.is_complete = false};
    }
    return records::walk_result{};
  }
  result<std::string> version(const request_context&) override {
    const std::lock_guard lock(mutex_);
    return std::to_string(all_.size());
  }
  void follow(std::function<void()> changed) override {
    const std::lock_guard lock(mutex_);
    changed_ = std::move(changed);
  }
  [[nodiscard]] system_requirements requirements() const override {
    return {.folders = {{"/var/log"}}, .sockets = {}, .programs = {}};
  }
  void check() override { ++looks; }
  [[nodiscard]] std::string last_error() const override {
    const std::lock_guard lock(mutex_);
    return trouble_;
  }
  void is_in_trouble(std::string why) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(why);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<records::log_record> all_;
  std::function<void()> changed_;
  std::string trouble_;
};

/// A provider called "app" whose clock stands at `noon`, and whose answers may take minutes.
class served_log {
 public:
  explicit served_log(std::shared_ptr<records::log_backend> of, const std::function<void(provider_options&)>& change = {}) {
    provider_options options;
    options.name = "app";
    options.backend = std::move(of);
    options.clock = [] { return noon; };
    options.timeout = hondana_test::event_deadline;
    if (change) change(options);
    provider_ = std::make_shared<log_provider>(std::move(options));
  }
  /// In files, with times in UTC.
  explicit served_log(const std::string& path, const std::function<void(provider_options&)>& change = {})
      : served_log(opened(path), change) {}

  [[nodiscard]] log_provider& provider() const { return *provider_; }
  [[nodiscard]] result<read_result> try_read(const std::string& uri) const {
    read_request request;
    request.uri = request.requested_uri = uri;
    return provider_->read(request);
  }
  [[nodiscard]] read_result read(const std::string& uri) const {
    auto got = try_read(uri);
    if (!got) ADD_FAILURE() << uri << ": " << got.error().public_text << " / " << got.error().private_text;
    return got ? *got : read_result{};
  }
  [[nodiscard]] std::string text(const std::string& uri) const {
    const auto got = read(uri);
    return got.contents.empty() ? std::string() : *std::get<shared_bytes>(got.contents.front().data);
  }
  [[nodiscard]] value json(const std::string& uri) const {
    auto parsed = value::parse(text(uri));
    if (!parsed) ADD_FAILURE() << parsed.error().public_text;
    return parsed ? *parsed : value();
  }
  /// Texts of records, and the next page's URI.
  [[nodiscard]] std::pair<std::vector<std::string>, std::string> page(const std::string& uri) const {
    const auto got = json(uri);
    std::vector<std::string> texts;
    if (const auto* const all = got.find("records"); all != nullptr && all->as_array() != nullptr)
      for (const auto& one : *all->as_array()) texts.push_back(*one.find("text")->as_string());
    const auto* const next = got.find("next");
    return {texts, next == nullptr ? std::string() : *next->as_string()};
  }
  [[nodiscard]] failure error(const std::string& uri) const {
    const auto got = try_read(uri);
    if (got) ADD_FAILURE() << uri << " is answered";
    return got ? failure{} : got.error();
  }
  [[nodiscard]] std::vector<std::string> completed(const std::string& argument, const std::string& typed,
                                                   std::shared_ptr<const access_filter> through = nullptr) const {
    complete_request request;
    request.uri_template = provider_->templates().front().uri_template;
    request.argument = argument;
    request.value = typed;
    request.caller.access_filter = std::move(through);
    const auto got = provider_->complete(request);
    if (!got) ADD_FAILURE() << got.error().public_text;
    return got ? got->values : std::vector<std::string>{};
  }

 private:
  static std::shared_ptr<records::log_backend> opened(const std::string& path) {
    records::file_log_options with;
    with.path = path;
    with.zone = "UTC";
    auto made = records::open_file_log(with);
    if (!made) ADD_FAILURE() << made.error().public_text;
    return made ? *made : nullptr;
  }
  std::shared_ptr<log_provider> provider_;
};

}  // namespace hondana::logs
