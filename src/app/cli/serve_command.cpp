/// `hondana serve` and `hondana stdio`: serving, reloads and orderly shutdown.

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/search.hpp>
#include <hondana/server.hpp>
#include <hondana/tracing.hpp>

#include "app/cli/arguments.hpp"
#include "app/cli/assembly.hpp"
#include "app/cli/callers/authenticators.hpp"
#include "app/cli/callers/rule_checks.hpp"
#include "app/cli/exit_codes.hpp"
#include "app/cli/greeting.hpp"
#include "app/cli/listening.hpp"
#include "app/cli/log.hpp"
#include "app/cli/output.hpp"
#include "app/cli/sandbox/permissions.hpp"
#include "app/cli/sandbox/server_sandbox.hpp"
#include "app/cli/search_checks.hpp"
#include "app/cli/signals.hpp"
#include "protocol/model/provider_extensions.hpp"
#include "search/index/index_location.hpp"
#include "server/core/core.hpp"
#include "sources/config/observability_settings.hpp"
#include "sources/config/search_settings.hpp"

namespace hondana::cli {

/// The open audit logs, one writer for each path. An audit log that was removed from the configuration stays open while streams
/// that began with it still write. If the configuration names it again, the same writer is used. Threads: one at a time.
class audit_records {
 public:
  explicit audit_records(log_function log) : log_(std::move(log)) {}

  /// The configured audit log. One that is open already keeps its options. Null: none is configured.
  [[nodiscard]] result<std::shared_ptr<audit_file>> open(const std::optional<audit_file_options>& as);
  /// Whether the audit log is open with options other than `as`.
  [[nodiscard]] bool is_open_otherwise(const std::optional<audit_file_options>& as) const;
  /// Reopens the files by path, after log rotation renamed them.
  void reopen();
  /// Returns false if not everything is on disk by `until`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point until);

 private:
  struct opened {
    std::weak_ptr<audit_file> file;
    audit_file_options as;
  };

  log_function log_;
  std::map<std::string, opened> all_;  // by path
};

result<std::shared_ptr<audit_file>> audit_records::open(const std::optional<audit_file_options>& as) {
  if (!as) return nullptr;
  std::erase_if(all_, [](const auto& one) { return one.second.file.expired(); });
  if (const auto found = all_.find(as->path); found != all_.end()) {
    if (auto there = found->second.file.lock()) return there;
  }
  auto with = *as;
  with.log = log_;
  auto made = audit_file::open(std::move(with));
  if (made) all_.insert_or_assign(as->path, opened{*made, *as});
  return made;
}

bool audit_records::is_open_otherwise(const std::optional<audit_file_options>& as) const {
  const auto found = as ? all_.find(as->path) : all_.end();
  return found != all_.end() && !found->second.file.expired() && !says_the_same(*as, found->second.as);
}

void audit_records::reopen() {
  for (const auto& [path, one] : all_) {
    if (const auto there = one.file.lock()) there->reopen();
  }
}

bool audit_records::flush(std::chrono::steady_clock::time_point until) {
  bool is_whole = true;
  for (const auto& [path, one] : all_) {
    const auto there = one.file.lock();
    is_whole = (!there || there->flush(until)) && is_whole;
  }
  return is_whole;
}

namespace {

/// The arguments with which a host starts the same server over stdio. Paths are absolute.
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
  if (what.no_git) arguments.emplace_back("--no-git");
  if (what.no_tools) arguments.emplace_back("--no-tools");
  if (!what.sandbox.empty()) arguments.insert(arguments.end(), {"--sandbox", what.sandbox});
  for (const auto& one : what.allow) arguments.insert(arguments.end(), {"--allow", one});
  for (const auto& one : what.paths) arguments.push_back(absolute(one));
  if (what.paths.empty() && what.config.empty()) arguments.push_back(absolute("."));
  return arguments;
}

/// A server that can be reassembled while it serves.
class reloadable {
 public:
  explicit reloadable(const what_to_serve& what)
      : log_(standard_log()), config_(what.config), assembly_(what, log_), records_(log_) {}

  /// Reads the configuration and creates its sources. Call before serving and while there is one thread.
  result<parts> assemble() {
    auto whole = assemble_soundly();
    if (!whole) return whole;
    HONDANA_TRY(check_search(whole->settings));
    http_ = whole->settings.http;
    auth_ = whole->settings.auth;
    sandboxed_ = whole->settings.sandbox;
    tracing_ = whole->settings.tracing;
    search_ = whole->settings.search;
    return whole;
  }
  /// Confines this process to what the sources need. Call before other threads exist.
  result<void> confine(const parts& whole, serving_place at) {
    at.config = config_;
    if (search_) {
      HONDANA_TRY(search::make_folder_for(*search_));
    }
    HONDANA_TRY(auto sandbox, server_sandbox::put_up(whole, at, log_));
    sandbox_ = std::move(sandbox);
    return {};
  }
  result<void> start(parts& whole) {
    const std::lock_guard lock(mutex_);
    HONDANA_TRY(start_tracing());
    HONDANA_TRY(open_index());
    auto started = take(whole);
    if (started) {
      for (const auto& one : in_force(whole)) log_(one);
    }
    return started;
  }

  /// From here on, a reload also reads the certificates of `service`; null: no longer.
  void reload_certificates_of(http_service* service) {
    const std::lock_guard lock(mutex_);
    secured_ = service;
  }

  /// Reloads configuration, certificates and audit logs. Invalid parts keep their old state, and the log says why.
  void reload() {
    const std::lock_guard lock(mutex_);
    if (!config_.empty()) reload_configuration();
    if (secured_ != nullptr) reload_certificates();
    // Log rotation may have renamed the audit log.
    records_.reopen();
    if (config_.empty() && secured_ == nullptr) log_("no configuration file to reload; start with --config FILE");
  }

  /// Names the changed tables that take effect only at the next start; empty: none.
  [[nodiscard]] std::string waiting_for_start(const config::settings& read) const {
    std::string where;
    const auto add = [&where](bool has_changed, const char* name) {
      if (has_changed) where += (where.empty() ? "" : " and ") + std::string(name);
    };
    add(!(read.http == http_), "[http]");
    add(!(read.sandbox == sandboxed_), "[sandbox]");
    add(!config::says_the_same(read.tracing, tracing_), "[tracing]");
    add(!config::says_the_same(read.search, search_), "[search]");
    add(records_.is_open_otherwise(read.audit), "[audit]");
    add(!(read.auth == auth_), "[auth] except its scopes and rules");
    return where.empty() ? where : "; changes in " + where + " take effect at the next start";
  }

  /// Call once the server listens over HTTP. Sources, also those of later reloads, can then receive notifications over HTTP.
  void listens() {
    const std::lock_guard lock(mutex_);
    is_listening_ = true;
    tell_of_listening();
  }

  hondana::server& server() noexcept { return server_; }
  const log_function& log() const noexcept { return log_; }

  void say_how_reads_went() {
    const auto reads = server_.cached_reads();
    if (reads.hits + reads.misses == 0) return;
    log_("reads: " + std::to_string(reads.misses) + " from sources, " + std::to_string(reads.hits) + " from the cache");
  }

  /// Waits up to 5 s until all audit records are on disk.
  void finish_record() {
    constexpr std::chrono::seconds most{5};
    const std::lock_guard lock(mutex_);
    if (!records_.flush(monotonic_clock::now() + most)) log_("audit log: some records could not be written");
  }

  /// Waits up to 3 s until all traces have been sent.
  void finish_traces() {
    constexpr std::chrono::seconds most{3};
    const std::lock_guard lock(mutex_);
    if (traces_ && !flush_traces(*traces_, monotonic_clock::now() + most)) log_("traces: some spans could not be sent");
  }

  /// Shuts down. Ends the process if a source is stuck in a call that cannot be interrupted; otherwise returns.
  void close(int exit_code) {
    finish_record();
    finish_traces();
    if (server_.engine()->close(monotonic_clock::now() + std::chrono::seconds(1))) return;
    log_("a source does not stop; exiting without it");
    std::fflush(nullptr);
    _exit(exit_code);
  }

 private:
  result<parts> assemble_soundly() {
    auto whole = assembly_.assemble();
    if (!whole) return whole;
    const auto sound = check_written_folders(*whole);
    if (!sound) {
      assembly_.undo();
      return tl::unexpected(sound.error());
    }
    for (const auto& one : *sound) log_(one);
    if (!whole->settings.tracing) {
      auto said = config::tracing_by([](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
      });
      // The variables may be meant for another program, so an error in them does not prevent serving.
      if (said) {
        whole->settings.tracing = std::move(*said);
        traces_by_environment_ = true;
      } else {
        log_("tracing is off: " + told(said.error()));
      }
    }
    return whole;
  }

  static std::string told(const failure& why) {
    return why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ')');
  }

  /// Errors: the reason why the old configuration stays in force.
  result<parts> assemble_again() {
    HONDANA_TRY(sandbox_.lets_read(config_));
    auto whole = assemble_soundly();
    if (!whole) return whole;
    auto done = sandbox_.suffices_for(*whole);
    if (done) done = take(*whole);
    if (!done) {
      assembly_.undo();
      return tl::unexpected(std::move(done.error()));
    }
    assembly_.keep();
    return whole;
  }

  /// Replaces the whole configuration, or keeps the old one.
  void reload_configuration() {
    if (const auto whole = assemble_again()) {
      log_("reloaded the configuration" + waiting_for_start(whole->settings));
    } else {
      log_("kept the old configuration: " + told(whole.error()));
    }
  }

  /// Replaces all assembled parts, or none.
  result<void> take(parts& whole) {
    HONDANA_TRY(auto record, records_.open(whole.settings.audit));
    whole.options.audit = std::move(record);
    whole.options.traces = traces_;
    whole.options.search = index_;
    auto done = server_.replace(whole.options, whole.providers);
    if (!done) return done;
    served_.assign(whole.providers.begin(), whole.providers.end());
    if (is_listening_) tell_of_listening();
    return done;
  }

  void tell_of_listening() const {
    for (const auto& one : served_) {
      const auto there = one.lock();
      if (auto* const told = dynamic_cast<model::told_of_listening*>(there.get())) told->server_listens();
    }
  }

  /// Runs once: the collector stays the same until the process ends.
  result<void> start_tracing() {
    if (!tracing_) return {};
    auto with = *tracing_;
    with.service_version = HONDANA_VERSION;
    with.log = log_;
    auto made = export_traces(std::move(with));
    if (!made && traces_by_environment_) {
      log_("tracing is off: the collector in the environment variables: " + told(made.error()));
      return {};
    }
    if (!made) {
      return tl::unexpected(failure{made.error().code, "[tracing]: " + made.error().public_text, made.error().private_text});
    }
    traces_ = std::move(*made);
    return {};
  }

  /// Runs once: the index stays the same until the process ends.
  result<void> open_index() {
    if (!search_) return {};
    auto with = *search_;
    with.log = log_;
    auto made = open_search_index(std::move(with));
    if (!made) {
      return tl::unexpected(failure{made.error().code, "[search]: " + made.error().public_text, made.error().private_text});
    }
    index_ = std::move(*made);
    return {};
  }

  void reload_certificates() {
    const auto outcome = secured_->reload_certificates();
    log_(outcome ? "read the certificate again" : "kept the old certificate: " + told(outcome.error()));
  }

  log_function log_;
  const std::string config_;  // empty: none
  std::mutex mutex_;          // a reload may arrive during the start
  assembly assembly_;
  config::http_settings http_;  // as of the start
  config::auth_settings auth_;
  config::sandbox_settings sandboxed_;
  std::optional<tracing_options> tracing_;
  std::optional<search_options> search_;
  std::shared_ptr<search_index> index_;
  std::vector<std::weak_ptr<provider>> served_;  // providers of the current configuration
  bool traces_by_environment_ = false;
  std::shared_ptr<tracer> traces_;  // null: tracing is off
  server_sandbox sandbox_;
  audit_records records_;
  hondana::server server_;
  http_service* secured_ = nullptr;
  bool is_listening_ = false;  // over HTTP
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
  signals::hold_reloads();
  reloadable serving(what.what);
  auto whole = serving.assemble();
  if (!whole) {
    complain(whole.error());
    return exit_usage;
  }
  if (const auto confined = serving.confine(*whole, {}); !confined) {
    complain(confined.error());
    return exit_server;
  }
  const signals watch([] { stop_serving_stdio(); }, [&serving] { serving.reload(); });
  if (const auto started = serving.start(*whole); !started) {
    complain(started.error());
    return exit_usage;
  }
  for (const auto& one : unknown_callers_of_stdio(whole->settings)) serving.log()(one);
  if (isatty(STDIN_FILENO) != 0) {
    std::fputs(greeting({running_program(), stdio_arguments(what.what), whole->providers}).c_str(), stderr);
  }
  // Only the server may own the providers, so that a reload releases them.
  whole->providers.clear();
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
  signals::hold_reloads();
  auto sources = what.what;
  sources.kept_back = {what.tokens, what.tls_key};
  reloadable serving(sources);
  auto whole = serving.assemble();
  if (!whole) {
    complain(whole.error());
    return exit_usage;
  }
  if (auto sound = check_listening(what, whole->settings); !sound) {
    complain(sound.error());
    return exit_usage;
  }
  auto http = listening_options(what, whole->settings.http, *inherited);
  if (const auto confined = serving.confine(*whole, {.http = &http, .config = {}, .tokens = what.tokens}); !confined) {
    complain(confined.error());
    return exit_server;
  }
  stop_flag stop;
  const signals watch([&stop] { stop.set(); }, [&serving] { serving.reload(); });
  if (const auto started = serving.start(*whole); !started) {
    complain(started.error());
    return exit_usage;
  }
  auto callers =
      ways_from(whole->settings, what.tokens,
                {!http.tls.client_authorities.empty(), !http.socket.empty() || !http.inherited.empty()}, serving.log());
  if (!callers) {
    complain(callers.error());
    return exit_usage;
  }
  for (const auto& one : unknown_callers(whole->settings, what.tokens, false)) serving.log()(one);
  http.authenticator = callers->authenticator;
  auto service = http_service::start(serving.server(), http);
  if (!service) {
    complain(service.error());
    return exit_server;
  }
  serving.listens();
  if (!http.tls.certificate.empty()) serving.reload_certificates_of(&*service);
  if (shows_tokens(http))
    serving.log()(
        "tokens are sent unencrypted to this address; use --tls-certificate FILE and --tls-key FILE, or a proxy with TLS "
        "(trusted_proxies in [http])");
  // Only the server may own the providers, so that a reload releases them.
  auto facts = place_of(http, service->port());
  facts.program = running_program();
  facts.arguments = stdio_arguments(what.what);
  facts.providers = std::exchange(whole->providers, {});
  facts.callers = callers->told;
  facts.takes_tokens = callers->authenticator && callers->authenticator->takes_tokens();
  facts.has_log_in = callers->authenticator && callers->authenticator->metadata() != nullptr;
  facts.shows_certificate = http.tls.needs_client_certificate || (whole->settings.auth.certificates && !facts.takes_tokens);
  std::fputs(greeting(facts).c_str(), stderr);
  facts.providers.clear();
  stop.wait();
  const auto patience = whole->settings.http.drain_time;
  serving.log()("stopping; requests in progress have at most " + std::to_string(patience.count()) +
                " ms; a second signal ends them at once");
  service->drain(patience);
  serving.reload_certificates_of(nullptr);
  serving.say_how_reads_went();
  serving.close(exit_ok);
  return exit_ok;
}

}  // namespace hondana::cli
