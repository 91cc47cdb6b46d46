/// The commands that serve: stdio and HTTP, with reload and orderly end.
#include <unistd.h>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <utility>

#include <hondana/server.hpp>

#include "cli/activation.hpp"
#include "cli/assembly.hpp"
#include "cli/callers/ways.hpp"
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/greeting.hpp"
#include "cli/listening.hpp"
#include "cli/log.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "server/core.hpp"
#include "transport/http/descriptors.hpp"

namespace hondana::cli {
namespace {

/// The arguments that make a host start the same server over stdio, with paths that hold from any folder.
std::vector<std::string> stdio_arguments(const what_to_serve& what) {
  const auto absolute = [](const std::string& path) {
    std::error_code problem;
    auto made = std::filesystem::absolute(path, problem).lexically_normal().string();
    if (made.size() > 1 && made.ends_with('/')) made.pop_back();
    return problem ? path : made;
  };
  std::vector<std::string> arguments{"stdio"};
  if (!what.config.empty()) arguments.insert(arguments.end(), {"--config", absolute(what.config)});
  if (what.hidden) arguments.emplace_back("--hidden");
  if (what.no_tools) arguments.emplace_back("--no-tools");
  for (const auto& one : what.allow) arguments.insert(arguments.end(), {"--allow", one});
  for (const auto& one : what.paths) arguments.push_back(absolute(one));
  if (what.paths.empty() && what.config.empty()) arguments.push_back(absolute("."));
  return arguments;
}

/// A server that can be assembled again while it serves.
class reloadable {
 public:
  explicit reloadable(const what_to_serve& what)
      : log_(standard_log()), has_file_(!what.config.empty()), assembly_(what, log_) {}

  result<parts> start() {
    const std::lock_guard lock(mutex_);
    auto whole = assembly_.assemble();
    if (!whole) return whole;
    if (auto arranged = server_.replace(whole->options, whole->providers); !arranged) {
      return tl::unexpected(std::move(arranged.error()));
    }
    http_ = whole->settings.http;
    auth_ = whole->settings.auth;
    return whole;
  }

  /// From here on a reload reads the certificates of `service`, too; null: no longer.
  void reload_certificates_of(http_service* service) {
    const std::lock_guard lock(mutex_);
    secured_ = service;
  }

  /// Reads again what may be; what is wrong stays as it was, and the log says why.
  void reload() {
    const std::lock_guard lock(mutex_);
    if (has_file_) reload_configuration();
    if (secured_ != nullptr) reload_certificates();
    if (!has_file_ && secured_ == nullptr) log_("there is no configuration file to read again; start with --config FILE");
  }

  /// What of it holds from the next start on only.
  [[nodiscard]] std::string waiting_for_start(const config::settings& read) const {
    const bool is_http = !(read.http == http_);
    const bool is_auth = !(read.auth == auth_);
    if (!is_http && !is_auth) return {};
    const std::string where = !is_auth ? "[http]" : is_http ? "[http] and [auth]" : "[auth]";
    return "; what changed below " + where + (is_auth ? ", but scopes and rules," : "") + " holds from the next start on";
  }

  hondana::server& server() noexcept { return server_; }
  const log_function& log() const noexcept { return log_; }

  void say_how_reads_went() {
    const auto reads = server_.cached_reads();
    if (reads.hits + reads.misses == 0) return;
    log_("reads: " + std::to_string(reads.misses) + " of sources, " + std::to_string(reads.hits) +
         " of what was kept and had not changed");
  }

  /// Ends the process when a source is stuck in a call that cannot be interrupted; otherwise returns.
  void close(int exit_code) {
    if (server_.engine()->close(std::chrono::steady_clock::now() + std::chrono::seconds(1))) return;
    log_("a source is stuck; leaving it behind");
    std::fflush(nullptr);
    _exit(exit_code);
  }

 private:
  static std::string told(const failure& why) {
    return why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
  }

  /// Swaps the configuration whole, or keeps the old one.
  void reload_configuration() {
    auto whole = assembly_.assemble();
    auto outcome =
        whole ? server_.replace(whole->options, whole->providers) : result<void>(tl::unexpected(std::move(whole.error())));
    if (outcome) {
      log_("reloaded the configuration" + waiting_for_start(whole->settings));
    } else {
      log_("kept the old configuration: " + told(outcome.error()));
    }
  }

  void reload_certificates() {
    const auto outcome = secured_->reload_certificates();
    log_(outcome ? "read the certificate again" : "kept the old certificate: " + told(outcome.error()));
  }

  log_function log_;
  bool has_file_;
  std::mutex mutex_;  // a reload may arrive while the start is under way
  assembly assembly_;
  config::http_settings http_;  // as of the start
  config::auth_settings auth_;
  hondana::server server_;
  http_service* secured_ = nullptr;
};

/// Set once, from the signal thread.
class stop_flag {
 public:
  void set() {
    {
      const std::lock_guard lock(mutex_);
      is_set_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

}  // namespace

int run(const stdio_command& what) {
  reloadable serving(what.what);
  const signals watch([] { stop_serving_stdio(); }, [&serving] { serving.reload(); });
  const auto whole = serving.start();
  if (!whole) {
    complain(whole.error());
    return exit_usage;
  }
  if (isatty(STDIN_FILENO) != 0) {
    std::fputs(greeting({running_program(), stdio_arguments(what.what), whole->providers}).c_str(), stderr);
  }
  const int code = serve_stdio(serving.server()) == 0 ? exit_ok : exit_server;
  serving.close(code);
  return code;
}

int run(const serve_command& what) {
  auto inherited = take_inherited_sockets();
  if (!inherited) {
    complain(inherited.error());
    return exit_usage;
  }
  transport::http::raise_descriptor_limit();
  reloadable serving(what.what);
  stop_flag stop;
  const signals watch([&stop] { stop.set(); }, [&serving] { serving.reload(); });
  const auto whole = serving.start();
  if (!whole) {
    complain(whole.error());
    return exit_usage;
  }
  auto http = listening_options(what, whole->settings.http, *inherited);
  auto callers =
      ways_from(whole->settings, what.tokens,
                {!http.tls.client_authorities.empty(), !http.socket.empty() || !http.inherited.empty()}, serving.log());
  if (!callers) {
    complain(callers.error());
    return exit_usage;
  }
  http.authenticator = callers->authenticator;
  auto service = http_service::start(serving.server(), http);
  if (!service) {
    complain(service.error());
    return exit_server;
  }
  if (!http.tls.certificate.empty()) serving.reload_certificates_of(&*service);
  auto facts = place_of(http, service->port());
  facts.program = running_program();
  facts.arguments = stdio_arguments(what.what);
  facts.providers = whole->providers;
  facts.callers = callers->told;
  std::fputs(greeting(facts).c_str(), stderr);
  stop.wait();
  const auto patience = whole->settings.http.drain_time;
  serving.log()("stopping; requests under way have at most " + std::to_string(patience.count()) +
                " ms; a second signal ends them at once");
  service->drain(patience);
  serving.reload_certificates_of(nullptr);
  serving.say_how_reads_went();
  serving.close(exit_ok);
  return exit_ok;
}

}  // namespace hondana::cli
