/// A running HTTP server over a provider whose reads the test controls.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "deadline.hpp"
#include "support/must.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/service.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/run_over_tls.hpp"

namespace hondana_test {

/// Counts events that threads report, and waits for them.
class tally {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  [[nodiscard]] bool reaches(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, event_deadline, [&] { return count_ >= count; });
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

/// Serves `memo:///…` by functions. One thread, so that a held thread is noticed.
class shelf final : public hondana::provider, public hondana::health_source {
 public:
  using maker = std::function<hondana::result<hondana::read_result>(const hondana::read_request&)>;

  std::map<std::string, maker> entries;
  std::atomic<bool> is_well{true};

  std::string name() const override { return "shelf"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  hondana::scheme_documentation documentation() const override { return {"memo", "Texts of the test.", {}, {}}; }
  hondana::provider_traits traits() const noexcept override { return {.max_concurrency = 1}; }
  hondana::provider_health health() const override { return {is_well, "cannot open /home/user/secret"}; }
  hondana::result<hondana::list_result> list(const hondana::list_request&) override { return hondana::list_result{}; }
  hondana::result<hondana::read_result> read(const hondana::read_request& request) override {
    const auto found = entries.find(request.uri);
    if (found == entries.end()) return hondana::fail(hondana::errc::resource_not_found, "Resource not found");
    return found->second(request);
  }
};

/// Gives `size` times one letter in pieces, and counts what was asked for.
class letters final : public hondana::byte_reader {
 public:
  letters(std::uint64_t size, std::shared_ptr<std::atomic<std::uint64_t>> given,
          std::uint64_t fails_in_second_pass_after = ~0ull)
      : size_(size), given_(std::move(given)), fails_after_(fails_in_second_pass_after) {}

  std::uint64_t size() const noexcept override { return size_; }
  hondana::result<std::size_t> read(std::span<char> into) override {
    if (passes_ > 0 && at_ >= fails_after_)
      return hondana::fail(hondana::errc::source_unavailable, "The source has gone.", "EIO");
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - at_));
    std::fill_n(into.begin(), count, 'x');
    at_ += count;
    if (passes_ > 0) *given_ += count;
    return count;
  }
  hondana::result<void> rewind() override {
    if (at_ > 0) ++passes_;
    at_ = 0;
    return {};
  }

 private:
  std::uint64_t size_;
  std::shared_ptr<std::atomic<std::uint64_t>> given_;  // in the pass that is sent
  std::uint64_t fails_after_;
  std::uint64_t at_ = 0;
  int passes_ = 0;
};

/// A server on a free port.
class library {
 public:
  explicit library(hondana::transport::http_server::limits with = {}, hondana::server_options options = {},
                   std::optional<std::string> admin = {}, std::optional<hondana::tls_options> tls = tls_of_this_run())
      : server(must(hondana::server::create(log_into(std::move(options))))) {
    source->entries["memo:///a"] = [](const auto&) { return hondana::text_read_result("hello"); };
    if (const auto added = server.add(source); !added) throw std::runtime_error(added.error().public_text);
    with.loops = 2;
    hondana::http_options where;
    where.port = 0;
    where.admin_address = std::move(admin);
    where.tls = std::move(tls);
    auto started = hondana::transport::http_server::service::start(server.core(), where, with);
    if (!started) throw std::runtime_error(started.error().public_text);
    service = std::move(*started);
    if (where.tls && where.tls == tls_of_this_run()) speaks_tls(tls_port_ = port(), true);
  }
  ~library() { speaks_tls(tls_port_, false); }
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  std::uint16_t port() const { return service->port(); }
  /// A request to read `uri` as a stateless peer sends it.
  static std::string read(std::string_view uri, std::string_view id = "1") {
    return modern("resources/read", id, R"("uri":")" + std::string(uri) + "\",");
  }
  std::string log() {
    const std::lock_guard lock(*mutex_);
    return *lines_;
  }

  std::shared_ptr<tally> logged = std::make_shared<tally>();  ///< Lines in the log.

 private:
  hondana::server_options log_into(hondana::server_options options) {
    options.log = [mutex = mutex_, lines = lines_, count = logged](std::string_view line) {
      const std::lock_guard lock(*mutex);
      *lines += std::string(line) + "\n";
      count->add();
    };
    return options;
  }

  std::uint16_t tls_port_ = 0;
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
  std::shared_ptr<std::string> lines_ = std::make_shared<std::string>();

 public:
  std::shared_ptr<shelf> source = std::make_shared<shelf>();
  hondana::server server;
  std::unique_ptr<hondana::transport::http_server::service> service;
};

}  // namespace hondana_test
