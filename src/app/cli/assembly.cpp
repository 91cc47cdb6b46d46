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
void add_analyses(config::section from, const std::function<void(const std::string&)>& add) {
  if (const auto store = from.string("store"); store && *store) return add(from.path_from(**store));
  if (from.string("redis").value_or(std::nullopt)) return;
  if (const auto usual = analyses_source::usual_store()) add(*usual);
}

/// Adds the files of a Drive source, including the defaults of keys that are not set.
void add_drive(config::section from, const std::function<void(const std::string&)>& add) {
  add(google::own_environment()(google::file_variable));
  const auto all = gdrive::read_settings(from);
  if (!all) return;
  add(all->who.log_in_file);
  add(all->how.store);
}

}  // namespace

std::vector<std::string> kept_back(const config::settings& settings, const std::string& config,
                                   const std::vector<std::string>& more) {
  std::set<std::string> all;
  const auto add = [&all](const std::string& path) {
    if (path.empty()) return;
    std::error_code problem;
    const auto whole = fs::absolute(path, problem).lexically_normal();
    if (problem) return;
    if (const auto real = fs::weakly_canonical(whole, problem); !problem) all.insert(real.string());
    if (const auto folder = fs::weakly_canonical(whole.parent_path(), problem); !problem)
      all.insert((folder / whole.filename()).string());
  };
  // SQLite writes additional files next to the database.
  const auto add_store = [&add](const std::string& path) {
    if (path.empty() || path == ":memory:") return;
    for (const auto* const ending : {"", "-wal", "-shm"}) add(path + ending);
  };
  add(config);
  if (settings.file)
    for (const auto& one : settings.file->own_files()) add(one);
  add(settings.auth.tokens);
  add(usual_tokens());
  if (settings.auth.oauth && settings.auth.oauth->introspection) add(settings.auth.oauth->introspection->secret_file);
  add(settings.http.tls.key);
  if (settings.audit) add(settings.audit->path);
  if (settings.tracing) add(settings.tracing->bearer_file);
  if (settings.search) {
    add(settings.search->path);
    if (!settings.search->postgres.empty())
      for (const auto& path : search::postgres_files(settings.search->postgres)) add(path);
    if (settings.search->embeddings) add(settings.search->embeddings->bearer_file);
  }
  for (const auto& one : settings.sources) {
    if (one.type == "analyses") add_analyses(one.options, add_store);
    if (one.type == "gdrive") add_drive(one.options, add_store);
  }
  for (const auto& one : more) add(one);
  return {all.begin(), all.end()};
}

namespace {

config::value text_value(std::string text) { return {std::move(text), 0}; }

config::list list_value(const std::vector<std::string>& items) {
  config::list values;
  for (const auto& item : items) values.push_back(text_value(item));
  return values;
}

/// The `[[source]]` table that PATH arguments are equivalent to.
config::source source_of(const what_to_serve& what, const std::vector<std::string>& paths) {
  config::table members;
  members.emplace("paths", config::value{list_value(paths), 0});
  members.emplace("allow", config::value{list_value(what.allow), 0});
  members.emplace("hidden", config::value{what.hidden, 0});
  return {"files", config::section("command line", {}, 0, std::move(members))};
}

/// The `[[source]]` table for the paths that are git repositories; no value if none is one. The source skips repositories that
/// it cannot serve.
std::optional<config::source> repositories_of(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(found), git::looks_like_repository);
  if (found.empty()) return std::nullopt;
  config::table members;
  members.emplace("roots", config::value{list_value(found), 0});
  members.emplace("depth", config::value{std::int64_t{0}, 0});
  return config::source{"git", config::section("command line", {}, 0, std::move(members))};
}

result<std::shared_ptr<provider>> make_links(const std::vector<resource>& configured) {
  std::vector<resource> checked;
  for (const auto& one : configured) {
    auto link = links::make_link(one);
    if (!link) return tl::unexpected(std::move(link.error()));
    const auto same = [&link](const resource& other) { return other.uri == link->uri; };
    if (const auto other = std::find_if(checked.begin(), checked.end(), same); other != checked.end()) {
      return fail(errc::invalid_argument, "The link " + link->uri + " is configured twice, as \"" + other->name +
                                              "\" and as \"" + link->name + "\". Remove one of the two [[link]] tables.");
    }
    checked.push_back(std::move(*link));
  }
  return std::shared_ptr<provider>(std::make_shared<links::links_provider>(std::move(checked)));
}

/// A server can have only one source of type analyses, because URIs of analyses do not name their source. Errors:
/// invalid_argument.
result<void> check_analyses(const std::vector<config::source>& all) {
  const config::source* first = nullptr;
  for (const auto& one : all) {
    if (one.type != "analyses") continue;
    if (first != nullptr)
      return tl::unexpected(
          one.options.wrong("type", "a server can have only one source of type analyses; the other is in line " +
                                        std::to_string(first->options.line()) + "; remove one, or run a second server"));
    first = &one;
  }
  return {};
}

server_options options_of(const config::settings& settings, const log_function& log) {
  server_options options;
  options.name = settings.name;
  options.version = HONDANA_VERSION;
  options.title = settings.title;
  options.instructions = settings.instructions;
  options.resource_tools = settings.tools;
  options.page_size = settings.page_size;
  options.read_limit = settings.read_limit;
  options.read_cache = settings.read_cache;
  options.page_cache = settings.page_cache;
  options.announces_lists = settings.announces_lists;
  options.announces_contents = settings.announces_contents;
  options.call_deadline = settings.call_deadline;
  options.stall_limit = settings.stall_limit;
  options.stdio_drain = settings.stdio_drain;
  options.scopes = settings.scopes;
  options.access = settings.access;
  options.limits = settings.limits;
  options.log = log;
  return options;
}

/// FILE:LINE of a table; "" if the table is not from a file.
std::string place_of(const config::section& table) {
  return table.line() == 0 ? std::string() : table.file() + ':' + std::to_string(table.line());
}

}  // namespace

assembly::assembly(what_to_serve what, log_function log) : what_(std::move(what)), log_(std::move(log)) {}

result<config::settings> assembly::read_settings() {
  config::settings settings;
  if (!what_.config.empty()) {
    auto loaded = config::load(what_.config);
    if (!loaded) return loaded;
    settings = std::move(*loaded);
  }
  if (what_.no_tools) settings.tools = false;
  if (const auto mode = config::sandbox_mode_named(what_.sandbox)) settings.sandbox.mode = *mode;
  if (what_.paths.empty() && !what_.config.empty() && settings.sources.empty() && settings.links.empty()) {
    return fail(errc::invalid_argument, "The configuration file " + what_.config +
                                            " names neither a source nor a link. Add a [[source]], or give a PATH.");
  }
  const auto own = kept_back(settings, what_.config, what_.kept_back);
  own_.insert(own.begin(), own.end());
  return settings;
}

std::vector<std::string> assembly::paths() const {
  if (what_.paths.empty() && what_.config.empty()) return {"."};
  return what_.paths;
}

void assembly::add_files(config::settings& to, const made* repositories) const {
  const auto* git = repositories == nullptr ? nullptr : dynamic_cast<const git::git_provider*>(repositories->provider.get());
  auto folders = paths();
  // Drop bare repositories that git serves: they contain only git's own files, including content that the git source does not
  // show.
  if (git != nullptr) std::erase_if(folders, [git](const std::string& one) { return git->serves_bare(one); });
  if (!folders.empty()) to.sources.push_back(source_of(what_, folders));
  for (auto& one : to.sources) {
    if (one.type != "mcp") one.options.keep_back({own_.begin(), own_.end()});  // all types that open files of this machine
  }
}

std::optional<assembly::made> assembly::make_repositories(const config::settings& settings) const {
  const auto is_git = [](const config::source& one) { return one.type == "git"; };
  if (what_.no_git || std::any_of(settings.sources.begin(), settings.sources.end(), is_git)) return std::nullopt;
  auto source = repositories_of(paths());
  if (!source) return std::nullopt;
  source->options.keep_back({own_.begin(), own_.end()});
  auto one = make(*source);
  if (one) return std::move(*one);
  // invalid_argument: no repository can be served, and the reason for each has been logged.
  if (one.error().code != errc::invalid_argument && log_) log_("git: " + one.error().public_text);
  return std::nullopt;
}

result<assembly::made> assembly::make(const config::source& from) const {
  const auto kept = std::find_if(made_.begin(), made_.end(), [&from](const made& one) {
    return one.type == from.type && one.from.says_the_same_as(from.options);
  });
  if (kept != made_.end()) return *kept;
  const auto types = provider_types();
  const auto type = std::find_if(types.begin(), types.end(), [&from](const auto& one) { return one.name == from.type; });
  if (type == types.end()) {
    std::string known;
    for (const auto& one : types) known += (known.empty() ? "\"" : ", \"") + std::string(one.name) + '"';
    return tl::unexpected(from.options.wrong("type", "unknown source type \"" + from.type + "\"; known: " + known));
  }
  auto options = from.options;
  HONDANA_TRY(auto limits, config::read_source_limits(options));
  auto provider = type->configure(options, log_);
  if (!provider) {
    auto why = std::move(provider.error());
    const auto at = place_of(from.options);
    if (!at.empty() && why.public_text.rfind(from.options.file(), 0) != 0) why.public_text = at + ": " + why.public_text;
    return tl::unexpected(std::move(why));
  }
  return made{from.type, from.options, std::move(*provider), limits};
}

/// The logs, logins, stores and notification addresses of a Drive source are found by its name, so names must be unique.
result<void> assembly::check_name(const config::source& from, const made& one, const std::vector<made>& before) {
  if (from.type != "gdrive") return {};
  const auto name = one.provider->name();
  const bool is_taken = std::any_of(before.begin(), before.end(), [&name](const made& other) {
    return other.type == "gdrive" && other.provider->name() == name;
  });
  if (!is_taken) return {};
  return tl::unexpected(from.options.wrong("name", "another source of type gdrive is named \"" + name +
                                                       "\" too, and logins and stores are found by name; use different names"));
}

result<parts> assembly::assemble() {
  disk::raise_descriptor_limit();  // for connections, and for the pack files of repositories
  auto settings = read_settings();
  if (!settings) return tl::unexpected(std::move(settings.error()));
  HONDANA_TRY(check_analyses(settings->sources));
  auto repositories = make_repositories(*settings);
  add_files(*settings, repositories ? &*repositories : nullptr);
  std::vector<made> all;
  parts whole;
  std::map<const provider*, source_limits> by_source;
  for (const auto& source : settings->sources) {
    HONDANA_TRY(auto one, make(source));
    HONDANA_TRY(check_name(source, one, all));
    whole.providers.push_back(one.provider);
    if (auto at = place_of(source.options); !at.empty()) whole.places.insert_or_assign(one.provider.get(), std::move(at));
    if (!(one.limits == source_limits())) by_source.insert_or_assign(one.provider.get(), one.limits);
    all.push_back(std::move(one));
  }
  if (repositories) {
    whole.providers.push_back(repositories->provider);
    all.push_back(std::move(*repositories));
  }
  if (!settings->links.empty()) {
    HONDANA_TRY(auto links, make_links(settings->links));
    whole.providers.push_back(std::move(links));
  }
  HONDANA_TRY(check_reach(*settings, whole.providers));
  whole.options = options_of(*settings, log_);
  whole.options.limits.sources = std::move(by_source);
  whole.settings = std::move(*settings);
  auto without_record = whole.settings;
  without_record.audit.reset();
  whole.own = kept_back(without_record, what_.config, what_.kept_back);
  before_ = std::exchange(made_, std::move(all));
  return whole;
}

std::vector<std::string> in_force(const parts& whole) {
  std::vector<std::string> out;
  if (const auto rules = whole.settings.access.rules.size(); rules != 0) {
    out.push_back("access  " + std::to_string(rules) + (rules == 1 ? " rule" : " rules") +
                  "; resources that no rule matches do not exist for callers");
  }
  for (const auto& one : whole.providers) {
    if (one->masking() == masking::none)
      out.push_back("redact = false  secrets in contents of " + one->name() + " are not masked");
  }
  if (whole.settings.audit) out.push_back("audit  " + whole.settings.audit->path);
  if (whole.settings.tracing) {
    const auto& url = whole.settings.tracing->url;
    out.push_back("tracing  " + url.substr(0, url.find('?')));
  }
  if (const auto& search = whole.settings.search) {
    const auto& where = search->path.empty()
                            ? (search->postgres.empty() ? std::string("in memory") : std::string("in PostgreSQL"))
                            : search->path;
    auto line = "search  index " + where;
    if (search->embeddings) {
      const auto& url = search->embeddings->url;
      line += ", vectors of " + search->embeddings->model + " from " + url.substr(0, url.find('?'));
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace hondana::cli
