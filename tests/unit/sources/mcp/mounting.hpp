/// Servers to mount, servers that mount them, and what is heard of both.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/mount.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "sources/mcp/mcp_provider.hpp"
#include "support/must.hpp"

namespace hondana::test {

inline constexpr std::chrono::seconds patience = hondana_test::event_deadline;

/// Collects lines or URIs for a test to wait for. Threads: any.
class hearing {
 public:
  void add(std::string_view one) {
    const std::lock_guard lock(mutex_);
    all_.emplace_back(one);
    changed_.notify_all();
  }
  /// Whether one that has `part` in it comes in time, among those after the first `from`.
  bool hears(std::string_view part, std::size_t from = 0) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] {
      return all_.size() > from && std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(from), all_.end(),
                                               [part](const std::string& one) { return one.find(part) != std::string::npos; });
    });
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return all_.size();
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& one : all_) out += one + '\n';
    return out;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

/// Writes down what a provider tells, as "list" and "content URI".
class note_taker final : public change_listener {
 public:
  explicit note_taker(hearing& into) : into_(into) {}
  void list_changed() override { into_.add("list"); }
  void content_changed(std::string_view uri, std::string_view) override { into_.add("content " + std::string(uri) + ' '); }

 private:
  hearing& into_;
};

/// A server with memos, to be mounted.
struct memo_server {
  explicit memo_server(server_options options = {})
      : memos(std::make_shared<memory_provider>("memos", "memo:///")), here(must(server::create(std::move(options)))) {
    add("memo:///b", "second");
    add("memo:///a", "first");
    add("memo:///a/deep", "third");
    EXPECT_TRUE(here.add(memos));
  }
  void add(const std::string& uri, const std::string& text) { EXPECT_TRUE(memos->add({.uri = uri, .name = uri}, text)); }

  std::shared_ptr<memory_provider> memos;
  server here;
};

inline mount_options mounted_from(server& other, hearing& log) {
  mount_options made;
  made.name = "team";
  made.target = memory_target{&other};
  made.call_timeout = made.list_timeout = patience;
  made.log = [&log](std::string_view line) { log.add(line); };
  return made;
}

/// A server of 2025-11-25 in the shell's language; `cases` answers further requests, whose id is $id.
inline mount_options mounted_script(const std::string& cases, hearing& log) {
  const std::string script = R"sh(
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
tell() { printf '{"jsonrpc":"2.0","method":"notifications/%s"%s}\n' "$1" "$2"; }
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"method":"notifications/'*) ;;
)sh" + cases + R"sh(
    *'"method":"initialize"'*) answer '{"protocolVersion":"2025-11-25","serverInfo":{"name":"odd","version":"1"},
"capabilities":{"resources":{"subscribe":true,"listChanged":true}}}' | tr -d '\n'; echo ;;
    *'"method":"resources/list"'*) answer '{"resources":[{"uri":"memo:///a","name":"a"}]}' ;;
    *'"method":"resources/templates/list"'*) answer '{"resourceTemplates":[]}' ;;
    *) answer '{}' ;;
  esac
done)sh";
  mount_options made;
  made.name = "team";
  made.revision = "2025-11-25";
  made.target = child_target{.command = {"/bin/sh", "-c", script}};
  made.call_timeout = made.list_timeout = patience;
  made.log = [&log](std::string_view line) { log.add(line); };
  return made;
}

inline std::shared_ptr<mcp::mcp_provider> mount(mount_options options) {
  auto made = make_mcp_provider(std::move(options));
  EXPECT_TRUE(made) << (made ? "" : made.error().public_text);
  return std::dynamic_pointer_cast<mcp::mcp_provider>(made.value_or(nullptr));
}

/// A call with time enough.
template <class Request>
Request asking(Request made = {}) {
  made.deadline = monotonic_clock::now() + patience;
  return made;
}

inline read_request reading_of(const std::string& uri) {
  auto made = asking<read_request>();
  made.uri = uri;
  made.requested_uri = uri;
  return made;
}

inline std::vector<std::string> uris_of(provider& of) {
  std::vector<std::string> all;
  auto request = asking<list_request>();
  for (;;) {
    auto page = of.list(request);
    EXPECT_TRUE(page) << (page ? "" : page.error().public_text);
    if (!page) return all;
    for (const auto& one : page->entries) all.push_back(one.uri);
    if (!page->next_key) return all;
    request.after_key = *page->next_key;
  }
}

/// The bytes of a content, whichever way it has them.
inline std::string bytes_of(const resource_content& one) {
  if (const auto* whole = std::get_if<shared_bytes>(&one.data)) return **whole;
  const auto& from = std::get<std::shared_ptr<byte_reader>>(one.data);
  std::string all;
  std::string part(1u << 16, '\0');
  for (;;) {
    const auto got = from->read(part);
    EXPECT_TRUE(got);
    if (!got || *got == 0) return all;
    all.append(part, 0, *got);
  }
}

inline client connected(server& to) {
  client_options with;
  with.call_timeout = patience;
  auto made = client::connect(memory_target{&to}, with);
  EXPECT_TRUE(made) << (made ? "" : made.error().public_text);
  return std::move(*made);
}

}  // namespace hondana::test
