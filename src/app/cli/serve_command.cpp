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
class audit_logs {
 public:
  explicit audit_logs(log_function log) : log_(std::move(log)) {}

  /// The configured audit log. One that is open already keeps its options. Null: none is configured.
  [[nodiscard]] result<std::shared_ptr<audit_file>> open(const std::optional<audit_file_options>& options);
  /// Whether the audit log is open with options other than `options`.
  [[nodiscard]] bool has_other_options(const std::optional<audit_file_options>& options) const;
  /// Reopens the files by path, after log rotation renamed them.
  void reopen();
  /// Returns false if not everything is on disk by `deadline`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point deadline);

 private:
  struct open_log {
    std::weak_ptr<audit_file> file;
    audit_file_options options;
  };

  log_function log_;
  std::map<std::string, open_log> logs_;  // by path
};

result<std::shared_ptr<audit_file>> audit_logs::open(const std::optional<audit_file_options>& options) {
  if (!options) return nullptr;
  std::erase_if(logs_, [](const auto& entry) { return entry.second.file.expired(); });
  if (const auto match = logs_.find(options->path); match != logs_.end()) {
    if (auto file = match->second.file.lock()) return file;
  }
  auto file_options = *options;
  file_options.log = log_;
  auto opened = audit_file::open(std::move(file_options));
  if (opened) logs_.insert_or_assign(options->path, open_log{*opened, *options});
  return opened;
}

bool audit_logs::has_other_options(const std::optional<audit_file_options>& options) const {
  const auto match = options ? logs_.find(options->path) : logs_.end();
  return match != logs_.end() && !match->second.file.expired() && !is_equivalent(*options, match->second.options);
}

void audit_logs::reopen() {
  for (const auto& [path, log] : logs_) {
    if (const auto file = log.file.lock()) file->reopen();
  }
}

bool audit_logs::flush(std::chrono::steady_clock::time_point deadline) {
  bool is_flushed = true;
  for (const auto& [path, log] : logs_) {
    const auto file = log.file.lock();
    is_flushed = (!file || file->flush(deadline)) && is_flushed;
  }
  return is_flushed;
}

namespace {

/// The arguments with which a host starts the same server over stdio. Paths are absolute.
std::vector<std::string> stdio_arguments(const source_options& options) {
  const auto absolute = [](const std::string& path) {
    std::error_code problem;
    auto absolute_path = std::filesystem::absolute(path, problem).lexically_normal().string();
    if (absolute_path.size() > 1 && absolute_path.ends_with('/')) absolute_path.pop_back();
    return problem ? path : absolute_path;
  };
  std::vector<std::string> arguments{"stdio"};
  if (!options.config_file.empty()) arguments.insert(arguments.end(), {"--config", absolute(options.config_file)});
  if (options.includes_hidden) arguments.emplace_back("--hidden");
  if (options.no_git) arguments.emplace_back("--no-git");
  if (options.no_tools) arguments.emplace_back("--no-tools");
  if (!options.sandbox.empty()) arguments.insert(arguments.end(), {"--sandbox", options.sandbox});
  for (const auto& pattern : options.allow) arguments.insert(arguments.end(), {"--allow", pattern});
  for (const auto& path : options.paths) arguments.push_back(absolute(path));
  if (options.paths.empty() && options.config_file.empty()) arguments.push_back(absolute("."));
  return arguments;
}

/// A server that can be reassembled while it serves.
class reloadable_server {
 public:
  explicit reloadable_server(const source_options& options)
      : log_(standard_log()), config_file_(options.config_file), assembly_(options, log_), audit_logs_(log_) {}

  /// Reads the configuration and creates its sources. Call before serving and while there is one thread.
  result<server_parts> assemble() {
    auto parts = assemble_checked();
    if (!parts) return parts;
    HONDANA_TRY(check_search(parts->settings));
    http_ = parts->settings.http;
    auth_ = parts->settings.auth;
    sandbox_settings_ = parts->settings.sandbox;
    tracing_ = parts->settings.tracing;
    search_ = parts->settings.search;
    return parts;
  }
  /// Confines this process to what the sources need. Call before other threads exist.
  result<void> confine(const server_parts& parts, serving_context context) {
    context.config_file = config_file_;
    if (search_) {
      HONDANA_TRY(search::make_folder_for(*search_));
    }
    HONDANA_TRY(auto sandbox, server_sandbox::create(parts, context, log_));
    sandbox_ = std::move(sandbox);
    return {};
  }
  result<void> start(server_parts& parts) {
    const std::lock_guard lock(mutex_);
    HONDANA_TRY(start_tracing());
    HONDANA_TRY(open_index());
    auto started = apply(parts);
    if (started) {
      for (const auto& line : describe_active_settings(parts)) log_(line);
    }
    return started;
  }

  /// From here on, a reload also reads the certificates of `service`; null: no longer.
  void set_tls_service(http_service* service) {
    const std::lock_guard lock(mutex_);
    tls_service_ = service;
  }

  /// Reloads configuration, certificates and audit logs. Invalid parts keep their old state, and the log says why.
  void reload() {
    const std::lock_guard lock(mutex_);
    if (!config_file_.empty()) reload_configuration();
    if (tls_service_ != nullptr) reload_certificates();
    // Log rotation may have renamed the audit log.
    audit_logs_.reopen();
    if (config_file_.empty() && tls_service_ == nullptr) log_("no configuration file to reload; start with --config FILE");
  }

  /// Names the changed tables that take effect only at the next start; empty: none.
  [[nodiscard]] std::string describe_pending_changes(const config::settings& settings) const {
    std::string tables;
    const auto add = [&tables](bool has_changed, const char* name) {
      if (has_changed) tables += (tables.empty() ? "" : " and ") + std::string(name);
    };
    add(!(settings.http == http_), "[http]");
    add(!(settings.sandbox == sandbox_settings_), "[sandbox]");
    add(!config::is_equivalent(settings.tracing, tracing_), "[tracing]");
    add(!config::is_equivalent(settings.search, search_), "[search]");
    add(audit_logs_.has_other_options(settings.audit), "[audit]");
    add(!(settings.auth == auth_), "[auth] except its scopes and rules");
    return tables.empty() ? tables : "; changes in " + tables + " take effect at the next start";
  }

  /// Call once the server listens over HTTP. Sources, also those of later reloads, can then receive notifications over HTTP.
  void mark_listening() {
    const std::lock_guard lock(mutex_);
    is_listening_ = true;
    notify_listening();
  }

  /// Requires a successful `start`.
  hondana::server& server() noexcept { return *server_; }
  const log_function& log() const noexcept { return log_; }

  void log_read_statistics() {
    const auto reads = server_->read_statistics();
    if (reads.hits + reads.misses == 0) return;
    log_("reads: " + std::to_string(reads.misses) + " from sources, " + std::to_string(reads.hits) + " from the cache");
  }

  /// Waits up to 5 s until all audit records are on disk.
  void flush_audit_logs() {
    constexpr std::chrono::seconds timeout{5};
    const std::lock_guard lock(mutex_);
    if (!audit_logs_.flush(monotonic_clock::now() + timeout)) log_("audit log: some records could not be written");
  }

  /// Waits up to 3 s until all traces have been sent.
  void drain_traces() {
    constexpr std::chrono::seconds timeout{3};
    const std::lock_guard lock(mutex_);
    if (tracer_ && !flush_traces(*tracer_, monotonic_clock::now() + timeout)) log_("traces: some spans could not be sent");
  }

  /// Shuts down. Ends the process if a source is stuck in a call that cannot be interrupted; otherwise returns.
  void close(int exit_code) {
    flush_audit_logs();
    drain_traces();
    if (server_->core()->close(monotonic_clock::now() + std::chrono::seconds(1))) return;
    log_("a source does not stop; exiting without it");
    std::fflush(nullptr);
    _exit(exit_code);
  }

 private:
  result<server_parts> assemble_checked() {
    auto parts = assembly_.assemble();
    if (!parts) return parts;
    const auto warnings = check_written_folders(*parts);
    if (!warnings) {
      assembly_.rollback();
      return tl::unexpected(warnings.error());
    }
    for (const auto& warning : *warnings) log_(warning);
    if (!parts->settings.tracing) {
      auto environment_tracing = config::read_tracing_environment([](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
      });
      // The variables may be meant for another program, so an error in them does not prevent serving.
      if (environment_tracing) {
        parts->settings.tracing = std::move(*environment_tracing);
        tracing_from_environment_ = true;
      } else {
        log_("tracing is off: " + error_text(environment_tracing.error()));
      }
    }
    return parts;
  }

  static std::string error_text(const failure& error) {
    return error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')');
  }

  /// Errors: the reason why the old configuration stays in force.
  result<server_parts> reassemble() {
    HONDANA_TRY(sandbox_.check_readable(config_file_));
    auto parts = assemble_checked();
    if (!parts) return parts;
    auto status = sandbox_.check_parts(*parts);
    if (status) status = apply(*parts);
    if (!status) {
      assembly_.rollback();
      return tl::unexpected(std::move(status.error()));
    }
    assembly_.commit();
    return parts;
  }

  /// Replaces the whole configuration, or keeps the old one.
  void reload_configuration() {
    if (const auto parts = reassemble()) {
      log_("reloaded the configuration" + describe_pending_changes(parts->settings));
    } else {
      log_("kept the old configuration: " + error_text(parts.error()));
    }
  }

  /// Replaces all assembled parts, or none.
  result<void> apply(server_parts& parts) {
    HONDANA_TRY(auto audit_log, audit_logs_.open(parts.settings.audit));
    parts.options.audit = std::move(audit_log);
    parts.options.traces = tracer_;
    parts.options.search = index_;
    if (!server_) {
      HONDANA_TRY(auto created, server::create());
      server_.emplace(std::move(created));
    }
    auto status = server_->replace(parts.options, parts.providers);
    if (!status) return status;
    providers_.assign(parts.providers.begin(), parts.providers.end());
    if (is_listening_) notify_listening();
    return status;
  }

  void notify_listening() const {
    for (const auto& weak_provider : providers_) {
      const auto provider = weak_provider.lock();
      if (auto* const observer = dynamic_cast<model::listening_observer*>(provider.get())) observer->on_server_listening();
    }
  }

  /// Runs once: the collector stays the same until the process ends.
  result<void> start_tracing() {
    if (!tracing_) return {};
    auto options = *tracing_;
    options.service_version = HONDANA_VERSION;
    options.log = log_;
    auto tracer = make_tracer(std::move(options));
    if (!tracer && tracing_from_environment_) {
      log_("tracing is off: the collector in the environment variables: " + error_text(tracer.error()));
      return {};
    }
    if (!tracer) {
      return tl::unexpected(
          failure{tracer.error().code, "[tracing]: " + tracer.error().public_text, tracer.error().private_text});
    }
    tracer_ = std::move(*tracer);
    return {};
  }

  /// Runs once: the index stays the same until the process ends.
  result<void> open_index() {
    if (!search_) return {};
    auto options = *search_;
    options.log = log_;
    auto index = open_search_index(std::move(options));
    if (!index) {
      return tl::unexpected(failure{index.error().code, "[search]: " + index.error().public_text, index.error().private_text});
    }
    index_ = std::move(*index);
    return {};
  }

  void reload_certificates() {
    const auto outcome = tls_service_->reload_certificates();
    log_(outcome ? "read the certificate again" : "kept the old certificate: " + error_text(outcome.error()));
  }

  log_function log_;
  const std::string config_file_;  // empty: none
  std::mutex mutex_;               // a reload may arrive during the start
  assembly assembly_;
  config::http_settings http_;  // as of the start
  config::auth_settings auth_;
  config::sandbox_settings sandbox_settings_;
  std::optional<tracing_options> tracing_;
  std::optional<search_options> search_;
  std::shared_ptr<search_index> index_;
  std::vector<std::weak_ptr<provider>> providers_;  // providers of the current configuration
  bool tracing_from_environment_ = false;
  std::shared_ptr<tracer> tracer_;  // null: tracing is off
  server_sandbox sandbox_;
  audit_logs audit_logs_;
  std::optional<hondana::server> server_;  // nullopt before the first `apply`
  http_service* tls_service_ = nullptr;
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

int run(const stdio_command& command) {
  signals::block_reloads();
  reloadable_server serving(command.sources);
  auto parts = serving.assemble();
  if (!parts) {
    print_error(parts.error());
    return exit_usage;
  }
  if (const auto confined = serving.confine(*parts, {}); !confined) {
    print_error(confined.error());
    return exit_server;
  }
  const signals watch([] { stop_serving_stdio(); }, [&serving] { serving.reload(); });
  if (const auto started = serving.start(*parts); !started) {
    print_error(started.error());
    return exit_usage;
  }
  for (const auto& warning : unknown_stdio_caller_warnings(parts->settings)) serving.log()(warning);
  if (isatty(STDIN_FILENO) != 0) {
    std::fputs(greeting({executable_path(), stdio_arguments(command.sources), parts->providers}).c_str(), stderr);
  }
  // Only the server may own the providers, so that a reload releases them.
  parts->providers.clear();
  const int code = serve_stdio(serving.server()) == 0 ? exit_ok : exit_server;
  serving.close(code);
  return code;
}

int run(const serve_command& command) {
  auto inherited = adopt_inherited_sockets();
  if (!inherited) {
    print_error(inherited.error());
    return exit_usage;
  }
  signals::block_reloads();
  auto sources = command.sources;
  sources.own_files = {command.token_file, command.tls_key_file};
  reloadable_server serving(sources);
  auto parts = serving.assemble();
  if (!parts) {
    print_error(parts.error());
    return exit_usage;
  }
  if (auto status = check_listening(command, parts->settings); !status) {
    print_error(status.error());
    return exit_usage;
  }
  auto http = listening_options(command, parts->settings.http, *inherited);
  if (const auto confined = serving.confine(*parts, {.http = &http, .config_file = {}, .token_file = command.token_file});
      !confined) {
    print_error(confined.error());
    return exit_server;
  }
  stop_flag stop;
  const signals watch([&stop] { stop.set(); }, [&serving] { serving.reload(); });
  if (const auto started = serving.start(*parts); !started) {
    print_error(started.error());
    return exit_usage;
  }
  auto authentication = make_authentication_setup(
      parts->settings, command.token_file,
      {http.tls && http.tls->client_ca_file, http.socket_path || !http.inherited_sockets.empty()}, serving.log());
  if (!authentication) {
    print_error(authentication.error());
    return exit_usage;
  }
  for (const auto& warning : unknown_caller_warnings(parts->settings, command.token_file, false)) serving.log()(warning);
  http.authenticator = authentication->authenticator;
  auto service = http_service::start(serving.server(), http);
  if (!service) {
    print_error(service.error());
    return exit_server;
  }
  serving.mark_listening();
  if (http.tls) serving.set_tls_service(&*service);
  if (exposes_tokens(http))
    serving.log()(
        "tokens are sent unencrypted to this address; use --tls-certificate FILE and --tls-key FILE, or a proxy with TLS "
        "(trusted_proxies in [http])");
  // Only the server may own the providers, so that a reload releases them.
  auto info = make_greeting_info(http, service->port());
  info.program = executable_path();
  info.arguments = stdio_arguments(command.sources);
  info.providers = std::exchange(parts->providers, {});
  info.authentication_methods = authentication->method_descriptions;
  info.accepts_tokens = authentication->authenticator && authentication->authenticator->accepts_tokens();
  info.has_login = authentication->authenticator && authentication->authenticator->metadata() != nullptr;
  info.requires_certificate =
      (http.tls && http.tls->requires_client_certificate) || (parts->settings.auth.certificates && !info.accepts_tokens);
  std::fputs(greeting(info).c_str(), stderr);
  info.providers.clear();
  stop.wait();
  const auto drain_timeout = parts->settings.http.drain_timeout;
  serving.log()("stopping; requests in progress have at most " + std::to_string(drain_timeout.count()) +
                " ms; a second signal ends them at once");
  service->drain(drain_timeout);
  serving.set_tls_service(nullptr);
  serving.log_read_statistics();
  serving.close(exit_ok);
  return exit_ok;
}

}  // namespace hondana::cli
