/// A Drive that is a map, a store for each test, and somebody who hears of changes.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "deadline.hpp"
#include "sources/gdrive/gdrive_provider.hpp"
#include "unit/sources/recorded_changes.hpp"

namespace hondana::gdrive {

namespace fs = std::filesystem;

inline drive::drive_error refusal(drive::error_kind what, errc code = errc::source_unavailable,
                                  std::string text = "Drive says no.") {
  drive::drive_error made;
  made.kind = what;
  made.details = {code, std::move(text), {}};
  return made;
}

/// Drive's, which may pass.
inline drive::drive_error problem_of_drive() {
  auto made = refusal(drive::error_kind::unavailable, errc::source_unavailable, "Drive has a problem.");
  made.status = 503;
  return made;
}

inline drive::file paper_file(std::string id, std::string name, std::string type = "text/plain", std::string parent = "root0") {
  drive::file made;
  made.id = std::move(id);
  made.name = std::move(name);
  made.mime_type = std::move(type);
  if (!parent.empty()) made.parents = {std::move(parent)};
  made.version = "1";
  made.modified = drive::time(std::chrono::milliseconds(1'700'000'000'000));
  made.created = drive::time(std::chrono::milliseconds(1'600'000'000'000));
  made.web_link = "https://drive.google.com/file/d/" + made.id + "/view";
  return made;
}
inline drive::file paper_folder(std::string id, std::string name, std::string parent = "root0") {
  return paper_file(std::move(id), std::move(name), std::string(drive::folder_type), std::move(parent));
}

/// Pages of files have the token "p" and a number; logs of changes are lists, and their tokens "c" and where they go on.
class paper_drive final : public drive_api {
 public:
  drive::api_result<drive::drive_page> list_drives(const std::string&, const drive::call_options&) override {
    const std::lock_guard lock(mutex_);
    if (auto no = refused("drives")) return tl::unexpected(*no);
    return drive::drive_page{shared, {}, odd};
  }

  drive::api_result<drive::file_page> list_files(const drive::list_request& what, const drive::call_options& how) override {
    std::unique_lock lock(mutex_);
    if (auto no = refused("files")) return tl::unexpected(*no);
    if (before_page) {
      auto first = before_page;
      lock.unlock();
      first(what, how);
      lock.lock();
    }
    queries.push_back(what.q);
    std::vector<drive::file> all;
    for (const auto& [id, one] : held) {
      const bool is_there = what.corpus == drive::list_request::search_corpus::drive
                                ? one.drive_id == what.drive_id
                                : one.drive_id.empty() || seen_by_user.contains(id);
      const bool is_inside = what.q.find("in parents") == std::string::npos ||
                             (!one.parents.empty() && what.q.find('\'' + one.parents.front() + '\'') != std::string::npos);
      if (is_there && is_inside && !one.is_trashed) all.push_back(one);
    }
    std::size_t at = 0;
    if (!what.page_token.empty()) {
      if (!tokens_are_good) return tl::unexpected(gdrive::refusal(drive::error_kind::page_token_gone));
      at = std::stoul(what.page_token.substr(1));
    }
    tokens_asked.push_back(what.page_token);
    drive::file_page page;
    page.warnings = odd;
    for (; at < all.size() && page.files.size() < page_size; ++at) page.files.push_back(all[at]);
    if (at < all.size()) page.next_page_token = "p" + std::to_string(at);
    return page;
  }

  drive::api_result<drive::file> get_file(const std::string& id, const drive::call_options& how) override {
    const std::lock_guard lock(mutex_);
    if (id == "root") {
      if (auto no = refused("root")) return tl::unexpected(*no);
      return paper_folder(root, "My Drive", {});
    }
    asked_until = how.deadline;
    asked_at = monotonic_clock::now();
    if (auto no = refused("file")) return tl::unexpected(*no);
    keys = how.resource_keys;
    const auto found = held.find(id);
    if (found == held.end())
      return tl::unexpected(gdrive::refusal(drive::error_kind::not_found, errc::resource_not_found, "Share the file."));
    return found->second;
  }

  drive::api_result<void> get_content(const std::string& id, const drive::content_sink& into,
                                      const drive::call_options&) override {
    return send("content", id, "", into);
  }
  drive::api_result<void> export_content(const std::string& id, const std::string& type, const drive::content_sink& into,
                                         const drive::call_options&) override {
    return send("export", id, type, into);
  }
  drive::api_result<void> export_by_link(const drive::file& of, const std::string& type, const drive::content_sink& into,
                                         const drive::call_options&) override {
    return send("link", of.id, type, into);
  }

  drive::api_result<std::string> get_start_page_token(const std::string& home, const drive::call_options&) override {
    const std::lock_guard lock(mutex_);
    if (auto no = refused("start")) return tl::unexpected(*no);
    return "c" + std::to_string(log[home].size());
  }
  drive::api_result<drive::change_page> list_changes(const drive::changes_request& what, const drive::call_options&) override {
    std::unique_lock lock(mutex_);
    if (before_changes) {
      auto first = before_changes;
      lock.unlock();
      first(what);
      lock.lock();
    }
    ++polls;
    if (auto no = refused("changes")) return tl::unexpected(*no);
    if (auto no = refused("changes of " + what.drive_id)) return tl::unexpected(*no);
    const auto& all = log[what.drive_id];
    drive::change_page page;
    page.warnings = odd;
    std::size_t at = std::stoul(what.page_token.substr(1));
    for (; at < all.size() && page.changes.size() < page_size; ++at) page.changes.push_back(all[at]);
    (at < all.size() ? page.next_page_token : page.new_start_page_token) = "c" + std::to_string(at);
    return page;
  }
  drive::api_result<drive::channel> watch_changes(const drive::watch_request& what, const drive::call_options&) override {
    const std::lock_guard lock(mutex_);
    if (auto no = refused("watch")) return tl::unexpected(*no);
    watches.push_back(what);
    drive::channel made;
    made.id = what.id;
    made.resource_id = "resource" + std::to_string(watches.size());
    made.expires_at = channel_ends;
    return made;
  }
  drive::api_result<void> stop_channel(const drive::channel& what, const drive::call_options&) override {
    const std::lock_guard lock(mutex_);
    if (auto no = refused("stop")) return tl::unexpected(*no);
    stopped.push_back(what.id + ' ' + what.resource_id);
    return {};
  }
  [[nodiscard]] std::uint64_t request_count() const override {
    const std::lock_guard lock(mutex_);
    return count;
  }
  [[nodiscard]] std::vector<std::string> addresses() const override { return {"www.googleapis.com:443"}; }

  void hold(const drive::file& one) {
    const std::lock_guard lock(mutex_);
    held[one.id] = one;
  }
  /// It is so from now on, and the log says it.
  void change(const drive::file& now, const std::string& home = {}) {
    const std::lock_guard lock(mutex_);
    held[now.id] = now;
    drive::change one;
    one.id = now.id;
    one.current_file = now;
    log[home].push_back(std::move(one));
  }
  void remove(const std::string& id, const std::string& home = {}) {
    const std::lock_guard lock(mutex_);
    held.erase(id);
    drive::change one;
    one.id = id;
    one.is_removed = true;
    log[home].push_back(std::move(one));
  }
  /// There are no shared drives any more, and the log says so of one.
  void leave(const std::string& drive) {
    const std::lock_guard lock(mutex_);
    shared.clear();
    drive::change left;
    left.kind = drive::change::change_kind::drive;
    left.id = drive;
    left.is_removed = true;
    log[""].push_back(std::move(left));
  }
  /// It is not there any more, and nobody has said so.
  void drop(const std::string& id) {
    const std::lock_guard lock(mutex_);
    held.erase(id);
  }
  /// Anything else.
  void alter(const std::function<void(paper_drive&)>& how) {
    const std::lock_guard lock(mutex_);
    how(*this);
  }
  void put(const std::string& id, const std::string& type, std::string bytes) {
    const std::lock_guard lock(mutex_);
    bodies[{id, type}] = std::move(bytes);
  }
  /// Calls of a sort are refused so, until it is taken back.
  void refuse(const std::string& what, const drive::drive_error& why) {
    const std::lock_guard lock(mutex_);
    refusals.insert_or_assign(what, why);
  }
  void allow(const std::string& what) {
    const std::lock_guard lock(mutex_);
    refusals.erase(what);
  }
  std::size_t count_of(const std::string& what) const {
    const std::lock_guard lock(mutex_);
    const auto found = counts.find(what);
    return found == counts.end() ? 0 : found->second;
  }

  std::string root = "root0";
  std::vector<drive::shared_drive> shared{};
  std::map<std::string, drive::file> held{};
  std::set<std::string> seen_by_user{};  // of shared drives, and in the user's list, too
  std::map<std::pair<std::string, std::string>, std::string> bodies{};
  std::set<std::string> too_large_to_export{};
  std::map<std::string, std::vector<drive::change>> log{};
  std::map<std::string, drive::drive_error> refusals{};
  std::map<std::string, std::size_t> counts{};
  std::vector<std::string> queries{}, tokens_asked{};
  std::vector<drive::entry_warning> odd{};  // of each page
  std::vector<drive::resource_key> keys{};
  std::optional<std::chrono::steady_clock::time_point> asked_until{}, asked_at{};  // of who asked for a file last
  std::vector<drive::watch_request> watches{};
  std::vector<std::string> stopped{};
  std::optional<drive::time> channel_ends{};
  std::function<void(const drive::list_request&, const drive::call_options&)> before_page{};
  std::function<void(const drive::changes_request&)> before_changes{};
  std::size_t page_size = 1'000;
  std::size_t polls = 0;
  std::uint64_t count = 0;
  bool tokens_are_good = true;

 private:
  std::optional<drive::drive_error> refused(const std::string& what) {
    ++count;
    ++counts[what];
    const auto found = refusals.find(what);
    return found == refusals.end() ? std::nullopt : std::optional(found->second);
  }
  drive::api_result<void> send(const std::string& what, const std::string& id, const std::string& type,
                               const drive::content_sink& into) {
    std::string body;
    {
      const std::lock_guard lock(mutex_);
      if (auto no = refused(what)) return tl::unexpected(*no);
      if (what == "export" && too_large_to_export.contains(id))
        return tl::unexpected(gdrive::refusal(drive::error_kind::export_too_large));
      const auto found = bodies.find({id, type});
      if (found == bodies.end()) return tl::unexpected(gdrive::refusal(drive::error_kind::not_exportable, errc::unsupported));
      body = found->second;
    }
    if (body.size() > into.max_bytes)
      return tl::unexpected(gdrive::refusal(drive::error_kind::too_large, errc::response_too_large));
    for (std::string_view rest = body; !rest.empty(); rest.remove_prefix(std::min<std::size_t>(rest.size(), 7)))
      if (auto taken = into.on_data(rest.substr(0, 7)); !taken) return tl::unexpected(gdrive::refusal(drive::error_kind::sink));
    return {};
  }
  mutable std::mutex mutex_;
};

/// Says of what it is given; BROKEN is wrong. Sheets are lines "NAME=CSV".
class paper_renderer final : public rendering::renderer {
 public:
  [[nodiscard]] result<rendering::document> render(rendering::format, int input, const rendering::limits&,
                                                   const std::stop_token&,
                                                   std::chrono::steady_clock::time_point) const override {
    auto bytes = all_of(input);
    if (bytes.find("BROKEN") != std::string::npos) return fail(errc::invalid_argument, "the file is damaged");
    rendering::document made;
    made.text = "text of " + bytes;
    return made;
  }
  [[nodiscard]] result<std::vector<rendering::sheet>> sheets(int input, const rendering::limits&, const std::stop_token&,
                                                             std::chrono::steady_clock::time_point) const override {
    std::vector<rendering::sheet> made;
    auto bytes = all_of(input);
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto line = rest.substr(0, rest.find('\n'));
      made.push_back({std::string(line.substr(0, line.find('='))), std::string(line.substr(line.find('=') + 1)) + '\n', false});
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
    return made;
  }
  [[nodiscard]] std::vector<std::vector<std::string>> commands() const override { return {{"/usr/bin/paper", "render"}}; }
  [[nodiscard]] std::string missing_for(rendering::format) const override { return {}; }

 private:
  static std::string all_of(int input) {
    std::string bytes(1u << 16, '\0');
    const auto count = ::pread(input, bytes.data(), bytes.size(), 0);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }
};

/// Lets nothing be seen whose URI has a word in it.
class without_word final : public access_filter {
 public:
  explicit without_word(std::string word) : word_(std::move(word)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return uri.find(word_) == std::string_view::npos; }

 private:
  std::string word_;
};

/// Lets only these be seen, with what lies below them.
class only_these final : public access_filter {
 public:
  explicit only_these(std::vector<std::string> uris) : uris_(std::move(uris)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 8; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    return std::any_of(uris_.begin(), uris_.end(),
                       [uri](const auto& one) { return uri == one || (one.ends_with('/') && uri.starts_with(one)); });
  }

 private:
  std::vector<std::string> uris_;
};

struct served_drive : testing::Test {
  fs::path root;
  std::shared_ptr<paper_drive> paper = std::make_shared<paper_drive>();
  std::shared_ptr<recorded_changes> ears = std::make_shared<recorded_changes>();

  served_drive() {
    std::string made = (fs::temp_directory_path() / "gdrive-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    root = made;
  }
  ~served_drive() override { fs::remove_all(root); }

  [[nodiscard]] provider_options usual() {
    provider_options how;
    how.api = paper;
    how.renderer = std::make_shared<paper_renderer>();
    how.store_path = (root / "store" / "drive.db").string();
    how.min_interval = std::chrono::milliseconds(5);
    how.max_interval = std::chrono::milliseconds(20);
    how.freshness_ttl = std::chrono::milliseconds(0);
    how.first_list_timeout = hondana_test::event_deadline;
    how.log = [this](std::string_view line) {
      const std::lock_guard lock(log_mutex_);
      lines_.emplace_back(line);
    };
    return how;
  }
  [[nodiscard]] std::shared_ptr<gdrive_provider> serve(provider_options how) {
    auto made = gdrive_provider::open(std::move(how));
    EXPECT_TRUE(made) << made.error().public_text;
    if (!made) std::abort();
    (*made)->set_listener(ears);
    return *made;
  }
  [[nodiscard]] std::shared_ptr<gdrive_provider> serve() { return serve(usual()); }

  [[nodiscard]] bool was_said(std::string_view words) { return times_said(words) > 0; }
  [[nodiscard]] std::ptrdiff_t times_said(std::string_view words) {
    const std::lock_guard lock(log_mutex_);
    return std::count_if(lines_.begin(), lines_.end(),
                         [words](const auto& line) { return line.find(words) != std::string::npos; });
  }
  [[nodiscard]] static std::vector<std::string> listed(gdrive_provider& of) {
    list_request request;
    request.limit = 100'000;
    const auto page = of.list(request);
    EXPECT_TRUE(page) << page.error().public_text;
    std::vector<std::string> uris;
    if (page) {
      for (const auto& one : page->entries) uris.push_back(one.uri);
    }
    return uris;
  }
  [[nodiscard]] static bool lists(gdrive_provider& of, const std::string& uri) {
    const auto all = listed(of);
    return std::find(all.begin(), all.end(), uri) != all.end();
  }
  /// Whether anything is listed with this in its URI.
  [[nodiscard]] static bool lists_some(gdrive_provider& of, std::string_view word) {
    const auto all = listed(of);
    return std::any_of(all.begin(), all.end(), [word](const auto& uri) { return uri.find(word) != std::string::npos; });
  }
  /// So goes everything that is asked.
  void refuse_all(const drive::drive_error& why) {
    for (const auto* what : {"root", "drives", "files", "changes", "file", "content", "export", "start"})
      paper->refuse(what, why);
  }
  /// Looks every few milliseconds until it is so.
  [[nodiscard]] static bool becomes(const std::function<bool()>& is_so) { return hondana_test::eventually(is_so); }
  [[nodiscard]] static result<read_result> read(gdrive_provider& of, const std::string& uri, std::uint64_t most = 64u << 20) {
    read_request request;
    request.uri = request.requested_uri = uri;
    request.max_bytes = most;
    request.deadline = monotonic_clock::now() + hondana_test::event_deadline;
    return of.read(request);
  }
  [[nodiscard]] static std::string bytes_of(const resource_content& of) {
    const auto* bytes = std::get_if<shared_bytes>(&of.data);
    return bytes != nullptr ? **bytes : "(a reader)";
  }
  [[nodiscard]] static std::string fact(const metadata& in, std::string_view key) {
    for (const auto& [name, value] : in) {
      if (name != key) continue;
      if (const auto* text = std::get_if<std::string>(&value)) return *text;
      return "there";
    }
    return {};
  }

 private:
  std::mutex log_mutex_;
  std::vector<std::string> lines_;
};

}  // namespace hondana::gdrive
