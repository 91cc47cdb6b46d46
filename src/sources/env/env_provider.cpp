/// The provider of environment variables.
#include "sources/env/env_provider.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/digest.hpp"
#include "base/uri/query_parameters.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config/section.hpp"
#include "sources/env/env_file.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::env {

scheme_documentation describe_scheme() {
  return {
      "env",
      "Environment variables of the server's process and of .env files that an allow-list permits, with secrets masked.",
      {{"environment", "All variables of the process or of a file that the allow-list permits, as one JSON object of strings."},
       {"variable", "The value of one variable, with secrets masked by name, format and entropy."}},
      {{"env:///", "All variables of the server's process that the allow-list permits."},
       {"env:///NAME", "One of them. In NAME, all bytes except letters, digits and - . _ ~ are percent-encoded."},
       {"env://FILE/",
        "All variables of a file that the allow-list permits. FILE is the configured name, or comes from the file's name."},
       {"env://FILE/NAME", "One of them."}},
  };
}

namespace {

constexpr std::string_view process_prefix = "env:///";
constexpr std::string_view process_origin = "the server's process";

/// No URI of this source has a query.
tl::unexpected<failure> no_such_variable(std::string_view uri) {
  HONDANA_TRY(uri::parse_query(split_uri(uri).query, {}, "env://"));
  return fail(errc::resource_not_found, "Unknown variable. List the resources to see what is available.");
}

variable_set::raw_variables parse_environment(const std::vector<std::string>& environment) {
  variable_set::raw_variables parsed;
  for (const auto& assignment : environment) {
    const auto equals = assignment.find('=');
    if (equals == 0 || equals == std::string::npos) continue;  // without a name, as some programs pass on
    parsed.push_back({assignment.substr(0, equals), assignment.substr(equals + 1)});
  }
  return parsed;
}

result<read_result> make_read_result(const read_request& request, std::string version, resource_content item,
                                     std::uint64_t size) {
  if (request.cached_version && *request.cached_version == version) return read_result{{}, std::move(version)};
  if (size > request.max_bytes) {
    return fail(errc::response_too_large, "It has " + std::to_string(size) + " bytes; the read limit is " +
                                              std::to_string(request.max_bytes) +
                                              " bytes. Ask the operator of the server to raise max_read_bytes.");
  }
  read_result response;
  response.version = std::move(version);
  response.contents.push_back(std::move(item));
  return response;
}

std::string error_text(const std::optional<failure>& error) { return error ? error->public_text : std::string(); }

/// The version of a content together with the reason why it is not current, since both are sent.
std::string combine_version(std::string version, const std::optional<failure>& error) {
  if (!error) return version;
  return bytes::to_hex(bytes::digest_of(version + '\n' + error->public_text));
}

}  // namespace

std::vector<std::string> process_environment() {
  std::vector<std::string> environment;
  for (auto* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

env_provider::env_provider(std::shared_ptr<const variable_set> process, std::shared_ptr<watched_files> files, bool redacts)
    : process_(std::move(process)), files_(std::move(files)), redacts_(redacts) {}

env_provider::~env_provider() {
  for (const auto& file : *files_) file->disable_log();
}

result<std::shared_ptr<env_provider>> env_provider::open(env_options options) {
  HONDANA_TRY(auto allow, allow_list::create(std::move(options.allow)));
  if (!options.process && options.files.empty()) {
    return fail(errc::invalid_argument, "there is nothing to serve. Serve the process or name a file.");
  }
  const variable_rules rules{std::move(allow), options.redact, options.file_format};
  std::shared_ptr<const variable_set> process;
  if (options.process)
    process = std::make_shared<const variable_set>(std::string(process_prefix), parse_environment(*options.process), rules);
  auto files = std::make_shared<watched_files>();
  std::set<std::string> slugs;
  for (const auto& file_options : options.files) {
    if (!is_slug(file_options.slug)) {
      return fail(
          errc::invalid_argument,
          "\"" + file_options.slug + "\" cannot be the name of a file in URIs. Use 1 to 40 of a-z, 0-9 and -, such as prod.");
    }
    if (!slugs.insert(file_options.slug).second) {
      return fail(errc::invalid_argument, "two files would have the name \"" + file_options.slug +
                                              "\" in URIs. Move one of them to its own [[source]] and set name there.");
    }
    HONDANA_TRY(auto file, env_file::open(file_options.path, options.own_files));
    files->push_back(std::make_unique<watched_file>(file_options.slug, std::move(file), rules, options.log));
  }
  std::shared_ptr<env_provider> created(new env_provider(std::move(process), std::move(files), options.redact));
  if (options.watch && !created->files_->empty()) created->create_watcher(std::move(options.log));
  // The first state, with which later ones are compared.
  for (const auto& file : *created->files_) {
    HONDANA_TRY(file->refresh(request_context{}));
  }
  return created;
}

void env_provider::create_watcher(std::function<void(std::string_view)> log) {
  std::vector<std::string> folders;
  std::vector<std::size_t> tree_indexes;  // by index of the file
  std::vector<const watched_file*> first_files;
  std::set<std::pair<std::size_t, std::string>> names;
  for (const auto& file : *files_) {
    const auto match = std::find_if(first_files.begin(), first_files.end(), [&file](const watched_file* other) {
      return other->file().is_in_same_folder(file->file());
    });
    tree_indexes.push_back(static_cast<std::size_t>(match - first_files.begin()));
    if (match == first_files.end()) {
      first_files.push_back(file.get());
      folders.push_back(file->file().folder());
    }
    names.emplace(tree_indexes.back(), file->file().name());
  }
  watch::watcher_options watcher_options;
  watcher_options.subject = "environment files";
  watcher_options.log = std::move(log);
  watcher_options.allows_immediate_rescan = [names](const watch::folder_event& event) {
    const bool is_written =
        event.kind == watch::folder_event::event_kind::closed || event.kind == watch::folder_event::event_kind::moved_in;
    return is_written && names.contains({event.tree, event.path});
  };
  const auto rescan = [weak_files = std::weak_ptr(files_), tree_indexes](const request_context& context,
                                                                         const watch::folder_watcher::trees& trees) {
    const auto files = weak_files.lock();
    bool is_stable = true;
    for (std::size_t i = 0; files && i < files->size(); ++i) {
      if (!trees.empty() && !trees.contains(tree_indexes[i])) continue;
      is_stable = (*files)[i]->refresh(context) && (*files)[i]->is_stable() && is_stable;
    }
    return is_stable;
  };
  watcher_ = std::make_unique<watch::folder_watcher>(std::move(folders), rescan, std::move(watcher_options));
  for (std::size_t i = 0; i < files_->size(); ++i) {
    (*files_)[i]->set_watch_callbacks(
        [cover = watcher_->folder_adder(), tree = tree_indexes[i]](int folder) { cover(tree, {}, folder); },
        [switch_to_polling = watcher_->polling_switch(), tree = tree_indexes[i]](const std::string& reason) {
          switch_to_polling(tree, reason);
        });
  }
}

void env_provider::start_watching() {
  if (watcher_ && has_listener_) watcher_->start();
}

std::vector<std::string> env_provider::claims() const {
  std::vector<std::string> prefixes;
  if (process_) prefixes.emplace_back(process_prefix);
  for (const auto& file : *files_) prefixes.push_back(file->prefix());
  return prefixes;
}

result<env_provider::variable_source> env_provider::find_source(const std::string& uri, const request_context& context) {
  if (process_ && uri.starts_with(process_prefix))
    return variable_source{process_->prefix(), std::string(process_origin), process_, {}};
  for (const auto& file : *files_) {
    if (!uri.starts_with(file->prefix())) continue;
    HONDANA_TRY(auto state, file->refresh(context));
    return variable_source{file->prefix(), file->origin(), state->current, state->error};
  }
  return no_such_variable(uri);
}

result<std::vector<env_provider::variable_source>> env_provider::list_sources(const request_context& context) {
  start_watching();
  std::vector<variable_source> sources;
  if (process_) sources.push_back({process_->prefix(), std::string(process_origin), process_, {}});
  for (const auto& file : *files_) {
    auto state = file->refresh(context);
    if (!state && state.error().code != errc::timed_out) return tl::unexpected(std::move(state.error()));
    const auto state_now = state ? *state : file->latest();
    sources.push_back({file->prefix(), file->origin(), state_now->current, state_now->error});
  }
  return sources;
}

result<std::shared_ptr<const entry_snapshot>> env_provider::entries(const request_context& context) {
  const auto sources = list_sources(context);
  if (!sources) return tl::unexpected(sources.error());
  decltype(listed_parts_) parts;
  for (const auto& listed : *sources) parts.emplace_back(listed.current, error_text(listed.error));
  const std::lock_guard lock(mutex_);
  if (entries_ && parts == listed_parts_) return entries_;
  std::vector<resource> resources;
  for (const auto& source : *sources) {
    resources.push_back(make_summary_entry(source.prefix, source.origin));
    if (!source.current) continue;
    for (const auto& [uri, variable] : source.current->entries()) {
      resources.push_back(make_entry(uri, variable, source.origin));
      resources.back().version = combine_version(std::move(resources.back().version), source.error);
    }
  }
  entries_ = std::make_shared<const entry_snapshot>(std::move(resources));
  listed_parts_ = std::move(parts);
  return entries_;
}

result<list_result> env_provider::list(const list_request& request) {
  return entries(request).map([&request](const auto& snapshot) { return snapshot->page(request); });
}

result<list_result> env_provider::children(const children_request& request) {
  const auto source = find_source(request.uri, request);
  if (!source) return tl::unexpected(source.error());
  if (request.uri != source->prefix) {
    if (source->current && source->current->find(request.uri) == nullptr) return no_such_variable(request.uri);
    return fail(errc::invalid_argument, "A variable has no children. List the children of " + source->prefix + '.');
  }
  if (!source->current) return tl::unexpected(*source->error);
  return entries(request).map([&request](const auto& snapshot) { return snapshot->children(request); });
}

result<read_result> env_provider::read(const read_request& request) {
  start_watching();
  HONDANA_TRY(const auto source, find_source(request.uri, request));
  // The names of an unreadable file are unknown, so every URI gets the error.
  if (!source.current) return tl::unexpected(*source.error);
  resource_content item;
  if (source.error) item.metadata.emplace_back("dev.hondana/stale", source.error->public_text);
  const auto add_masking_metadata = [&item](std::size_t masked_count) {
    for (auto& field : secrets::redaction_metadata(masked_count)) item.metadata.push_back(std::move(field));
  };
  if (request.uri == source.prefix) {
    auto summary = summarize(*source.current, source.origin, request.caller);
    auto version = combine_version(bytes::to_hex(bytes::digest_of(summary.text)), source.error);
    const auto size = summary.text.size();
    item.mime_type = "application/json";
    item.data = std::make_shared<const std::string>(std::move(summary.text));
    add_masking_metadata(summary.masked_count);
    return make_read_result(request, std::move(version), std::move(item), size);
  }
  const auto* variable = source.current->find(request.uri);
  if (variable == nullptr) return no_such_variable(request.uri);
  item.name = variable->label;
  item.mime_type = variable->is_text ? "text/plain" : "application/octet-stream";
  item.data = variable->display_value;
  add_masking_metadata(variable->masked_count);
  return make_read_result(request, combine_version(variable->version, source.error), std::move(item),
                          variable->display_value->size());
}

result<resource> env_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto source, find_source(request.uri, request));
  if (!source.current) return tl::unexpected(*source.error);
  if (request.uri == source.prefix) {
    auto entry = make_summary_entry(source.prefix, source.origin);
    const auto summary = summarize(*source.current, source.origin, request.caller);
    entry.version = combine_version(bytes::to_hex(bytes::digest_of(summary.text)), source.error);
    entry.size = summary.text.size();
    return entry;
  }
  const auto* variable = source.current->find(request.uri);
  if (variable == nullptr) return no_such_variable(request.uri);
  auto entry = make_entry(request.uri, *variable, source.origin);
  entry.version = combine_version(std::move(entry.version), source.error);
  return entry;
}

result<void> env_provider::inventory(const request_context& request, const std::function<void(const inventory_item&)>& visit) {
  const auto sources = list_sources(request);
  if (!sources) return tl::unexpected(sources.error());
  for (const auto& source : *sources) {
    if (source.error) visit({source.prefix, {}, false, source.error->public_text});
    if (!source.current) continue;
    visit({source.prefix, source.prefix, true, {}});
    for (const auto& [uri, variable] : source.current->entries()) visit({variable.label, uri, true, {}});
    // The number of variables, never their names.
    const auto report_omitted = [&](std::size_t count, const char* reason) {
      if (count > 0) visit({source.prefix + " (" + std::to_string(count) + " more)", {}, false, reason});
    };
    report_omitted(source.current->hidden_count(), "they match no pattern in allow");
    report_omitted(source.current->unnameable_count(), "their names cannot be in a URI, or contain a secret");
  }
  return {};
}

void env_provider::set_listener(std::shared_ptr<change_listener> listener) {
  has_listener_ = listener != nullptr;
  for (const auto& file : *files_) file->set_listener(listener);
}

void env_provider::watch(const std::string&) { start_watching(); }

void env_provider::watch_list() { start_watching(); }

hondana::system_requirements env_provider::requirements() const {
  hondana::system_requirements required;
  std::set<std::string> seen_folders;
  for (const auto& file : *files_) {
    if (seen_folders.insert(file->file().folder()).second) required.folders.push_back({file->file().folder(), false});
  }
  return required;
}

hondana::provider_health env_provider::health() const {
  hondana::provider_health out;
  std::size_t count = process_ ? process_->entries().size() : 0;
  for (const auto& file : *files_) {
    const auto state = file->latest();
    if (state->current) count += state->current->entries().size();
    if (!state->error) continue;
    out.is_healthy = false;
    if (!out.detail.empty()) out.detail += ' ';
    out.detail += state->error->public_text;
  }
  if (out.is_healthy) out.detail = std::to_string(count) + " variables";
  return out;
}

namespace {

constexpr std::string_view name_expression = "{name}";

}  // namespace

std::vector<resource_template> env_provider::templates() const {
  std::vector<resource_template> listed_templates;
  const auto add = [&listed_templates](const std::string& prefix, const std::string& name, const std::string& origin) {
    resource_template entry;
    entry.uri_template = prefix + std::string(name_expression);
    entry.name = name;
    entry.title = "A variable of " + origin;
    entry.description = "The value of one variable of " + origin + ", with secrets masked.";
    entry.mime_type = "text/plain";
    listed_templates.push_back(std::move(entry));
  };
  if (process_) add(process_->prefix(), "env", "the server's process");
  for (const auto& file : *files_) add(file->prefix(), "env-" + file->slug(), file->origin());
  return listed_templates;
}

result<complete_result> env_provider::complete(const complete_request& request) {
  const bool is_known = request.argument == "name" && request.uri_template.ends_with(name_expression);
  if (!is_known) return complete_result{};
  const auto prefix = request.uri_template.substr(0, request.uri_template.size() - name_expression.size());
  const auto source = find_source(prefix, request);
  if (!source) return tl::unexpected(source.error());
  if (source->prefix != prefix || !source->current) return complete_result{};
  std::vector<std::string> names;
  for (const auto& [uri, variable] : source->current->entries()) {
    // Values of arguments are text. Names that are not UTF-8 are only in the list.
    if (variable.label != variable.name) continue;
    if (!request.caller.access_filter || request.caller.access_filter->may_see(uri)) names.push_back(variable.name);
  }
  return complete_from(request.value, names);
}

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  env_options options;
  auto allow = section.strings("allow");
  if (!allow) return tl::unexpected(std::move(allow.error()));
  if (auto validated = allow_list::create(*allow); !validated)
    return tl::unexpected(section.error_at("allow", validated.error().public_text));
  const auto file = section.string("file");
  if (!file) return tl::unexpected(file.error());
  const auto files = section.strings("files");
  if (!files) return tl::unexpected(files.error());
  const auto name = section.string("name");
  if (!name) return tl::unexpected(name.error());
  const auto process = section.boolean("process");
  if (!process) return tl::unexpected(process.error());
  HONDANA_TRY(const auto dialect, section.string("dialect"));
  constexpr std::array<std::string_view, 2> dialects{"dotenv", "compose"};
  if (dialect && std::find(dialects.begin(), dialects.end(), *dialect) == dialects.end())
    return tl::unexpected(section.unknown_value("dialect", *dialect, dialects));
  if (dialect == "compose") options.file_format = located::config_format::compose_env;
  HONDANA_TRY(const auto redact, section.boolean("redact"));
  HONDANA_TRY(const auto watch, section.boolean("watch"));
  HONDANA_TRY(section.finish());
  if (*name && !*file)
    return tl::unexpected(section.error_at(
        "name", files->empty()
                    ? "it is the name for the key file, which is missing; set file"
                    : "it is the name for the key file only; entries of files are named after their own file names"));
  if (*name && !is_slug(**name)) {
    return tl::unexpected(section.error_at("name", "expected 1 to 40 of a-z, 0-9 and -, such as prod"));
  }
  if (*file) options.files.push_back({*name ? **name : make_slug(**file), section.resolve_path(**file)});
  for (const auto& path : *files) options.files.push_back({make_slug(path), section.resolve_path(path)});
  // If files are configured, only these are served by default.
  if (process->value_or(options.files.empty())) options.process = process_environment();
  if (!options.process && options.files.empty()) {
    return tl::unexpected(section.error_at("process", "nothing else is served; remove this key, or name a file"));
  }
  options.allow = std::move(*allow);
  options.redact = redact.value_or(true);
  options.watch = watch.value_or(true);
  options.own_files = section.own_files();
  options.log = log;
  auto opened = env_provider::open(std::move(options));
  if (!opened) {
    auto error = std::move(opened.error());
    if (error.code == errc::source_unavailable || error.code == errc::invalid_argument) {
      const auto code = error.code;
      const auto* key = *file ? "file" : files->empty() ? "allow" : "files";
      auto reported = section.error_at(key, error.public_text);
      reported.code = code;
      reported.private_text = std::move(error.private_text);
      return tl::unexpected(std::move(reported));
    }
    return tl::unexpected(std::move(error));
  }
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::env
