/// A server with an index over a shelf of texts, for each test.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/search.hpp>
#include <hondana/server.hpp>
#include <hondana/uri.hpp>

#include "deadline.hpp"
#include "search/index/search_engine.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "server/tools/search_engine.hpp"
#include "support/must.hpp"

namespace hondana::searched {

using namespace std::chrono_literals;

inline resource text_entry(const std::string& uri, std::optional<double> priority = {}) {
  resource out;
  out.uri = uri;
  out.name = uri.substr(uri.rfind('/') + 1);
  out.mime_type = "text/markdown";
  out.annotations.priority = priority;
  return out;
}

inline caller_info named(std::string identity) {
  caller_info out;
  out.identity = std::move(identity);
  return out;
}

/// The deadline of an event that must come.
inline monotonic_clock::time_point soon() { return monotonic_clock::now() + hondana_test::event_deadline; }

class searching_server : public testing::Test {
 protected:
  void SetUp() override {
    options_.tokenizer = tokenizer_kind::trigrams;
    options_.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + '\n';
    };
  }
  void TearDown() override {
    server_.reset();
    index_.reset();
  }

  void serve(server_options how = {}) {
    auto made = open_search_index(options_);
    ASSERT_TRUE(made) << made.error().public_text;
    index_ = *made;
    how.search = index_;
    server_ = std::make_unique<server>(must(server::create(std::move(how))));
    ASSERT_TRUE(server_->add(shelf_));
    wait();
    // The index of a server before ends a moment after that. Until then this one follows it, and hears of no changes itself.
    ASSERT_TRUE(hondana_test::eventually([this] {
      return times_in_log("another process writes the index") <= times_in_log("this process writes the index");
    })) << log();
    wait();
  }
  /// Everybody sees `memo:///open` and `search:///`, the boss all.
  static server_options with_rules() {
    server_options how;
    how.access.rules = {{.identities = {"*"}, .uris = {"memo:///open", "search:///"}, .level = access_level::read},
                        {.identities = {"boss"}, .uris = {"memo:///", "search:///"}, .level = access_level::read}};
    return how;
  }
  static std::string folder_of_an_index() {
    std::string made = (std::filesystem::temp_directory_path() / "search-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) std::abort();
    return made;
  }
  void put(const std::string& uri, const std::string& text, std::optional<double> priority = {}) {
    ASSERT_TRUE(shelf_->add(text_entry(uri, priority), text));
  }
  void wait() { ASSERT_TRUE(wait_until_indexed(*index_, soon())); }
  void wait_for_vectors() {
    const auto has_all = [this] { return search_state_of(*index_).vectors >= search_state_of(*index_).passages; };
    ASSERT_TRUE(hondana_test::eventually([&] {
      if (!has_all()) wait();
      return has_all();
    }));
  }
  tools::tool_services around() const {
    const auto context = server_->core()->current();
    return {context->catalog, context->gate, context->timers, nullptr};
  }
  result<search::search_results> find(const std::string& q, const caller_info& who = {}, search::document_filter which = {}) {
    request_context by;
    by.caller = who;
    by.deadline = soon();
    const auto& engine = dynamic_cast<const search::engine&>(*index_->engine());
    return engine.find(by, around(), {q, 10, std::move(which)});
  }
  std::vector<std::string> uris(const std::string& q, const caller_info& who = {}) {
    std::vector<std::string> out;
    const auto got = find(q, who);
    EXPECT_TRUE(got) << got.error().public_text;
    if (!got) return out;
    for (const auto& one : got->hits) out.push_back(one.entry.uri);
    return out;
  }
  /// What `search:///…` gives.
  result<std::string> read(const std::string& uri, const caller_info& who = {}, std::stop_token stop = {}) {
    read_request asked;
    asked.caller = who;
    asked.uri = asked.requested_uri = uri;
    asked.deadline = soon();
    asked.stop = std::move(stop);
    auto got = index_->source()->read(asked);
    if (!got) return tl::unexpected(std::move(got.error()));
    return *std::get<shared_bytes>(got->contents.front().data);
  }
  std::string log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::size_t times_in_log(std::string_view words) const {
    const auto all = log();
    std::size_t out = 0;
    for (auto at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++out;
    return out;
  }

  search_options options_{};
  std::shared_ptr<memory_provider> shelf_ = std::make_shared<memory_provider>("shelf", "memo:///");
  std::shared_ptr<search_index> index_;
  std::unique_ptr<server> server_;

 private:
  mutable std::mutex mutex_;
  std::string log_;
};

}  // namespace hondana::searched
