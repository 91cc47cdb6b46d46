/// Creates options and providers from the command line and the configuration, again on every reload.
#include "app/cli/assembly.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <system_error>

#include "app/cli/callers/authenticators.hpp"
#include "app/cli/callers/rule_checks.hpp"
#include "auth/google/credentials.hpp"
#include "base/match/suggestion.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "search/index/index_location.hpp"
#include "sources/analyses/settings.hpp"
#include "sources/config/settings.hpp"
#include "sources/gdrive/settings.hpp"
#include "sources/git/git_provider.hpp"
#include "sources/git/repository_location.hpp"
#include "sources/links/links_provider.hpp"

namespace hondana::cli {
namespace fs = std::filesystem;
namespace {

/// Adds the store of analyses, also if the table does not name one.
void add_analyses_store(config::section section, const std::function<void(const std::string&)>& add) {
  if (const auto store = section.string("store"); store && *store) return add(section.resolve_path(**store));
  if (section.string("redis_url").value_or(std::nullopt)) return;
  if (const auto default_store = analyses_source::default_store_path()) add(*default_store);
}

/// Adds the files of a Drive source, including the defaults of keys that are not set.
void add_drive_files(config::section section, const std::function<void(const std::string&)>& add) {
  add(google::own_environment()(google::file_variable));
  const auto settings = gdrive::read_settings(section);
  if (!settings) return;
  add(settings->account.login_file);
  add(settings->options.store_path);
}

}  // namespace

std::vector<std::string> collect_own_files(const config::settings& settings, const std::string& config_file,
                                           const std::vector<std::string>& extra_paths) {
  std::set<std::string> paths;
  const auto add = [&paths](const std::string& path) {
    if (path.empty()) return;
    std::error_code problem;
    const auto absolute_path = fs::absolute(path, problem).lexically_normal();
    if (problem) return;
    if (const auto real = fs::weakly_canonical(absolute_path, problem); !problem) paths.insert(real.string());
    if (const auto folder = fs::weakly_canonical(absolute_path.parent_path(), problem); !problem)
      paths.insert((folder / absolute_path.filename()).string());
  };
  // SQLite writes additional files next to the database.
  const auto add_store = [&add](const std::string& path) {
    if (path.empty() || path == ":memory:") return;
    for (const auto* const suffix : {"", "-wal", "-shm"}) add(path + suffix);
  };
  add(config_file);
  if (settings.root_table)
    for (const auto& file : settings.root_table->find_own_files()) add(file);
  add(settings.auth.token_file);
  add(default_token_file());
  if (settings.auth.oauth && settings.auth.oauth->introspection) add(settings.auth.oauth->introspection->secret_file);
  if (settings.http.tls) add(settings.http.tls->key_file);
  if (settings.audit) add(settings.audit->path);
  if (settings.tracing && settings.tracing->bearer_file) add(*settings.tracing->bearer_file);
  if (settings.search) {
    if (settings.search->path) add(*settings.search->path);
    if (settings.search->postgres_url)
      for (const auto& path : search::postgres_files(*settings.search->postgres_url)) add(path);
    if (const auto& embeddings = settings.search->embeddings; embeddings && embeddings->bearer_file)
      add(*embeddings->bearer_file);
  }
  for (const auto& source : settings.sources) {
    if (source.type == "analyses") add_analyses_store(source.options, add_store);
    if (source.type == "gdrive") add_drive_files(source.options, add_store);
  }
  for (const auto& extra_path : extra_paths) add(extra_path);
  return {paths.begin(), paths.end()};
}

namespace {

config::value text_value(std::string text) { return {std::move(text), 0}; }

config::list list_value(const std::vector<std::string>& items) {
  config::list values;
  for (const auto& item : items) values.push_back(text_value(item));
  return values;
}

/// The `[[source]]` table that PATH arguments are equivalent to.
config::source make_files_source(const source_options& options, const std::vector<std::string>& paths) {
  config::table members;
  members.emplace("paths", config::value{list_value(paths), 0});
  members.emplace("allow", config::value{list_value(options.allow), 0});
  members.emplace("hidden", config::value{options.includes_hidden, 0});
  return {"files", config::section("command line", {}, 0, std::move(members))};
}

/// The `[[source]]` table for the paths that are git repositories; no value if none is one. The source skips repositories that
/// it cannot serve.
std::optional<config::source> make_git_source(const std::vector<std::string>& paths) {
  std::vector<std::string> repositories;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(repositories), git::looks_like_repository);
  if (repositories.empty()) return std::nullopt;
  config::table members;
  members.emplace("roots", config::value{list_value(repositories), 0});
  members.emplace("max_depth", config::value{std::int64_t{0}, 0});
  return config::source{"git", config::section("command line", {}, 0, std::move(members))};
}

result<std::shared_ptr<provider>> make_links(const std::vector<resource>& configured) {
  std::vector<resource> checked;
  for (const auto& entry : configured) {
    auto link = links::make_link(entry);
    if (!link) return tl::unexpected(std::move(link.error()));
    const auto has_same_uri = [&link](const resource& other) { return other.uri == link->uri; };
    if (const auto other = std::find_if(checked.begin(), checked.end(), has_same_uri); other != checked.end()) {
      return fail(errc::invalid_argument, "The link " + link->uri + " is configured twice, as \"" + other->name +
                                              "\" and as \"" + link->name + "\". Remove one of the two [[link]] tables.");
    }
    checked.push_back(std::move(*link));
  }
  return std::shared_ptr<provider>(std::make_shared<links::links_provider>(std::move(checked)));
}

/// A server can have only one source of type analyses, because URIs of analyses do not name their source. Errors:
/// invalid_argument.
result<void> check_analyses(const std::vector<config::source>& sources) {
  const config::source* first = nullptr;
  for (const auto& source : sources) {
    if (source.type != "analyses") continue;
    if (first != nullptr)
      return tl::unexpected(
          source.options.error_at("type", "a server can have only one source of type analyses; the other is in line " +
                                              std::to_string(first->options.line()) + "; remove one, or run a second server"));
    first = &source;
  }
  return {};
}

server_options make_server_options(const config::settings& settings, const log_function& log) {
  server_options options;
  options.name = settings.name;
  options.version = HONDANA_VERSION;
  options.title = settings.title;
  options.instructions = settings.instructions;
  options.has_resource_tools = settings.has_resource_tools;
  options.page_size = settings.page_size;
  options.max_read_bytes = settings.max_read_bytes;
  options.read_cache_bytes = settings.read_cache_bytes;
  options.page_cache_bytes = settings.page_cache_bytes;
  options.supports_list_changes = settings.supports_list_changes;
  options.supports_subscriptions = settings.supports_subscriptions;
  options.call_timeout = settings.call_timeout;
  options.stall_timeout = settings.stall_timeout;
  options.stdio_drain_timeout = settings.stdio_drain_timeout;
  options.scopes = settings.scopes;
  options.access = settings.access;
  options.limits = settings.limits;
  options.log = log;
  return options;
}

/// FILE:LINE of a table; "" if the table is not from a file.
std::string location_of(const config::section& table) {
  return table.line() == 0 ? std::string() : table.file() + ':' + std::to_string(table.line());
}

}  // namespace

assembly::assembly(source_options options, log_function log) : options_(std::move(options)), log_(std::move(log)) {}

result<config::settings> assembly::read_settings() {
  config::settings settings;
  if (!options_.config_file.empty()) {
    auto loaded = config::load(options_.config_file);
    if (!loaded) return loaded;
    settings = std::move(*loaded);
  }
  if (options_.no_tools) settings.has_resource_tools = false;
  if (const auto mode = config::parse_sandbox_mode(options_.sandbox)) settings.sandbox.mode = *mode;
  if (options_.paths.empty() && !options_.config_file.empty() && settings.sources.empty() && settings.links.empty()) {
    return fail(errc::invalid_argument, "The configuration file " + options_.config_file +
                                            " names neither a source nor a link. Add a [[source]], or give a PATH.");
  }
  const auto own_files = collect_own_files(settings, options_.config_file, options_.own_files);
  own_files_.insert(own_files.begin(), own_files.end());
  return settings;
}

std::vector<std::string> assembly::paths() const {
  if (options_.paths.empty() && options_.config_file.empty()) return {"."};
  return options_.paths;
}

void assembly::add_files_source(config::settings& settings, const source_instance* repositories) const {
  const auto* git = repositories == nullptr ? nullptr : dynamic_cast<const git::git_provider*>(repositories->provider.get());
  auto folders = paths();
  // Drop bare repositories that git serves: they contain only git's own files, including content that the git source does not
  // show.
  if (git != nullptr) std::erase_if(folders, [git](const std::string& path) { return git->serves_bare(path); });
  if (!folders.empty()) settings.sources.push_back(make_files_source(options_, folders));
  for (auto& source : settings.sources) {
    if (source.type != "mcp")
      source.options.set_own_files({own_files_.begin(), own_files_.end()});  // all types that open files of this machine
  }
}

std::optional<assembly::source_instance> assembly::make_repositories(const config::settings& settings) const {
  const auto is_git = [](const config::source& source) { return source.type == "git"; };
  if (options_.no_git || std::any_of(settings.sources.begin(), settings.sources.end(), is_git)) return std::nullopt;
  auto source = make_git_source(paths());
  if (!source) return std::nullopt;
  source->options.set_own_files({own_files_.begin(), own_files_.end()});
  auto instance = make_instance(*source);
  if (instance) return std::move(*instance);
  // invalid_argument: no repository can be served, and the reason for each has been logged.
  if (instance.error().code != errc::invalid_argument && log_) log_("git: " + instance.error().public_text);
  return std::nullopt;
}

result<assembly::source_instance> assembly::make_instance(const config::source& source) const {
  const auto existing = std::find_if(instances_.begin(), instances_.end(), [&source](const source_instance& instance) {
    return instance.type == source.type && instance.section.is_equivalent_to(source.options);
  });
  if (existing != instances_.end()) return *existing;
  const auto types = provider_types();
  const auto type =
      std::find_if(types.begin(), types.end(), [&source](const auto& candidate) { return candidate.name == source.type; });
  if (type == types.end()) {
    std::vector<std::string_view> known;
    for (const auto& candidate : types) known.push_back(candidate.name);
    return tl::unexpected(source.options.error_at(
        "type", "unknown source type \"" + source.type + '"' + match::suggest_known(source.type, known)));
  }
  auto options = source.options;
  HONDANA_TRY(auto limits, config::read_source_limits(options));
  auto provider = type->configure(options, log_);
  if (!provider) {
    auto error = std::move(provider.error());
    const auto location = location_of(source.options);
    if (!location.empty() && error.public_text.rfind(source.options.file(), 0) != 0)
      error.public_text = location + ": " + error.public_text;
    return tl::unexpected(std::move(error));
  }
  return source_instance{source.type, source.options, std::move(*provider), limits};
}

/// The logs, logins, stores and notification addresses of a Drive source are found by its name, so names must be unique.
result<void> assembly::check_name(const config::source& source, const source_instance& instance,
                                  const std::vector<source_instance>& previous) {
  if (source.type != "gdrive") return {};
  const auto name = instance.provider->name();
  const bool is_duplicate = std::any_of(previous.begin(), previous.end(), [&name](const source_instance& other) {
    return other.type == "gdrive" && other.provider->name() == name;
  });
  if (!is_duplicate) return {};
  return tl::unexpected(
      source.options.error_at("name", "another source of type gdrive is named \"" + name +
                                          "\" too, and logins and stores are found by name; use different names"));
}

result<server_parts> assembly::assemble() {
  disk::raise_descriptor_limit();  // for connections, and for the pack files of repositories
  auto settings = read_settings();
  if (!settings) return tl::unexpected(std::move(settings.error()));
  HONDANA_TRY(check_analyses(settings->sources));
  auto repositories = make_repositories(*settings);
  add_files_source(*settings, repositories ? &*repositories : nullptr);
  std::vector<source_instance> instances;
  server_parts parts;
  std::map<const provider*, source_limits> by_source;
  for (const auto& source : settings->sources) {
    HONDANA_TRY(auto instance, make_instance(source));
    HONDANA_TRY(check_name(source, instance, instances));
    parts.providers.push_back(instance.provider);
    if (auto location = location_of(source.options); !location.empty())
      parts.locations.insert_or_assign(instance.provider.get(), std::move(location));
    if (!(instance.limits == source_limits())) by_source.insert_or_assign(instance.provider.get(), instance.limits);
    instances.push_back(std::move(instance));
  }
  if (repositories) {
    parts.providers.push_back(repositories->provider);
    instances.push_back(std::move(*repositories));
  }
  if (!settings->links.empty()) {
    HONDANA_TRY(auto links, make_links(settings->links));
    parts.providers.push_back(std::move(links));
  }
  HONDANA_TRY(check_rule_targets(*settings, parts.providers));
  parts.options = make_server_options(*settings, log_);
  parts.options.limits.sources = std::move(by_source);
  parts.settings = std::move(*settings);
  auto without_record = parts.settings;
  without_record.audit.reset();
  parts.own_files = collect_own_files(without_record, options_.config_file, options_.own_files);
  previous_ = std::exchange(instances_, std::move(instances));
  if (parts.settings.root_table && log_)
    for (const auto& warning : parts.settings.root_table->old_name_warnings()) log_(warning);
  return parts;
}

std::vector<std::string> describe_active_settings(const server_parts& parts) {
  std::vector<std::string> out;
  if (const auto rules = parts.settings.access.rules.size(); rules != 0) {
    out.push_back("access  " + std::to_string(rules) + (rules == 1 ? " rule" : " rules") +
                  "; resources that no rule matches do not exist for callers");
  }
  for (const auto& provider : parts.providers) {
    if (provider->traits().masking == secret_masking::none)
      out.push_back("redact = false  secrets in contents of " + provider->name() + " are not masked");
  }
  if (parts.settings.audit) out.push_back("audit  " + parts.settings.audit->path);
  if (parts.settings.tracing) {
    const auto& url = parts.settings.tracing->url;
    out.push_back("tracing  " + url.substr(0, url.find('?')));
  }
  if (const auto& search = parts.settings.search) {
    const auto location = search->path.value_or(search->postgres_url ? "in PostgreSQL" : "in memory");
    auto line = "search  index " + location;
    if (search->embeddings) {
      const auto& url = search->embeddings->url;
      line += ", vectors of " + search->embeddings->model + " from " + url.substr(0, url.find('?'));
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace hondana::cli
