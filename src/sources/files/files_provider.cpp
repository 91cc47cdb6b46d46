/// The provider of `file://` resources: its calls and its configuration.
#include "sources/files/files_provider.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "os/disk/file_stamp.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config/section.hpp"
#include "sources/files/change_tracker.hpp"
#include "sources/files/completion.hpp"
#include "sources/files/description.hpp"
#include "sources/files/folder_content.hpp"
#include "sources/files/folder_walk.hpp"
#include "sources/files/media_type.hpp"
#include "sources/files/resource_entry.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::files {
namespace {

result<chat_role> parse_role(const config::section& section, std::string_view text) {
  if (text == "user") return chat_role::user;
  if (text == "assistant") return chat_role::assistant;
  constexpr std::array<std::string_view, 2> known{"user", "assistant"};
  return tl::unexpected(section.unknown_value("audience", text, known));
}

result<priority_rule> read_rule(config::section& section) {
  priority_rule rule;
  auto pattern = section.string("pattern");
  if (!pattern) return tl::unexpected(std::move(pattern.error()));
  if (!*pattern) return tl::unexpected(section.error_at("pattern", "missing; use the syntax of .gitignore"));
  rule.pattern = std::move(**pattern);
  HONDANA_TRY(auto priority, section.number("priority", 0.0, 1.0));
  rule.priority = priority;
  auto audience = section.strings("audience");
  if (!audience) return tl::unexpected(std::move(audience.error()));
  for (const auto& value : *audience) {
    HONDANA_TRY(auto role, parse_role(section, value));
    rule.audience.push_back(role);
  }
  HONDANA_TRY(section.finish());
  return rule;
}

/// Reads the options that apply to every root of the table.
result<root_options> read_root(config::section& section) {
  root_options root;
  root.own_files = section.own_files();
  HONDANA_TRY(const auto hidden, section.boolean("hidden"));
  root.show_hidden = hidden.value_or(root.show_hidden);
  HONDANA_TRY(const auto obeys, section.boolean("ignore_files"));
  root.obey_ignore_files = obeys.value_or(root.obey_ignore_files);
  HONDANA_TRY(const auto redact, section.boolean("redact"));
  root.redact = redact.value_or(root.redact);
  HONDANA_TRY(auto allow, section.strings("allow"));
  root.allow = std::move(allow);
  HONDANA_TRY(auto exclude, section.strings("exclude"));
  root.exclude = std::move(exclude);
  auto rules = section.sections("rule");
  if (!rules) return tl::unexpected(std::move(rules.error()));
  for (auto& table : *rules) {
    HONDANA_TRY(auto rule, read_rule(table));
    root.priorities.push_back(std::move(rule));
  }
  return root;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  options configured;
  configured.log = log;
  HONDANA_TRY(auto common, read_root(section));
  const auto path = section.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = section.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(section.error_at("path", "missing; name the folder to serve"));
  for (const auto& folder : *paths) {
    auto root = common;
    root.path = section.resolve_path(folder);
    configured.roots.push_back(std::move(root));
  }
  HONDANA_TRY(const auto budget, section.bytes("max_folder_bytes"));
  configured.folder_budget_bytes = budget.value_or(configured.folder_budget_bytes);
  HONDANA_TRY(const auto watches, section.boolean("watch"));
  configured.watches = watches.value_or(configured.watches);
  HONDANA_TRY(section.finish());
  HONDANA_TRY(auto opened, files_provider::open(std::move(configured)));
  return std::shared_ptr<provider>(std::move(opened));
}

namespace {

/// How long a list waits until it includes pending changes.
constexpr std::chrono::seconds max_catch_up_wait{2};

std::string uri_template_of(const served_root& root) {
  return root.uri() + (root.uri().ends_with('/') ? "{+path}" : "/{+path}") + "{?lines,bytes}";
}

std::string_view name_of_special(mode_t mode) noexcept {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Whether the requested path itself is a link, and not only below one.
bool is_link(const disk::resolved_path& resolved) {
  for (std::size_t i = 0; i < resolved.links.size(); ++i)
    if (resolved.links[i] == resolved.traversed_paths[i]) return true;
  return false;
}

/// Whether a link in a list leads to a target that the caller may not see.
bool leads_to_hidden(const record_block& block, std::size_t index, const request_context& context) {
  if (!context.caller.access_filter || !S_ISLNK(block.at(index).mode)) return false;
  const auto path = block.path(index);
  const auto target = block.root().find(path, &context);
  return target && !block.root().is_visible(path, *target, context.caller);
}

/// Resolves a path for a caller. A target that the access filter hides, or does not allow to read, fails like one that does not
/// exist.
result<disk::resolved_path> look_up(const served_root& root, std::string_view path, const request_context& context,
                                    const std::string& requested_uri, bool is_read) {
  auto resolved = root.find(path, &context);
  HONDANA_TRY(check_cancellation(context));
  if (!resolved) return tl::unexpected(to_failure(resolved.error(), requested_uri));
  const bool is_allowed =
      is_read ? root.is_readable(path, *resolved, context.caller) : root.is_visible(path, *resolved, context.caller);
  if (!is_allowed) {
    return tl::unexpected(
        to_failure({disk::lookup_error_kind::missing, 0, "access rules hide it from the caller"}, requested_uri));
  }
  return std::move(*resolved);
}

bool is_described(const std::vector<record_ref>& records) {
  return std::all_of(records.begin(), records.end(),
                     [](const record_ref& ref) { return ref.block->descriptions() != nullptr; });
}

/// Forwards a walk to an inventory.
class inventory_walker final : public walk_listener {
 public:
  inventory_walker(const request_context& context, const std::function<void(const inventory_item&)>& visit)
      : context_(context), visit_(visit) {}

  bool on_entry(const served_root& root, std::string_view path, const struct stat&) override {
    visit_({root.name_of(path), root.uri_of(path), true, {}});
    return should_continue();
  }
  void on_omitted(const served_root& root, std::string_view path, const examined_entry& entry) override {
    visit_({root.name_of(path), {}, false, entry.reason()});
  }
  void on_problem(const served_root& root, std::string_view path, const std::string& problem) override {
    visit_({root.name_of(path), {}, false, problem});
  }

 private:
  bool should_continue() const { return !context_.stop.stop_requested() && monotonic_clock::now() < context_.deadline; }

  const request_context& context_;
  const std::function<void(const inventory_item&)>& visit_;
};

}  // namespace

result<std::shared_ptr<files_provider>> files_provider::open(options options) {
  if (options.roots.empty()) return fail(errc::invalid_argument, "No folder to serve was given. Give the path of one.");
  root_list roots;
  for (const auto& settings : options.roots) {
    HONDANA_TRY(auto opened, served_root::open(settings, options));
    roots.push_back(std::move(opened));
  }
  std::sort(roots.begin(), roots.end(),
            [](const auto& a, const auto& b) { return compare_by_segment(a->uri(), b->uri()) == std::strong_ordering::less; });
  for (std::size_t i = 1; i < roots.size(); ++i) {
    const auto& outer = roots[i - 1]->path();
    const auto& inner = roots[i]->path();
    if (!uri_covers(roots[i - 1]->uri(), roots[i]->uri())) continue;
    return fail(errc::invalid_argument, outer == inner ? "The folder \"" + outer + "\" is served twice. Remove one of the two."
                                                       : "The folder \"" + inner + "\" lies within \"" + outer +
                                                             "\", which is also served. Remove one of the two.");
  }
  return std::shared_ptr<files_provider>(new files_provider(std::move(options), std::move(roots)));
}

files_provider::files_provider(options options, root_list roots) : options_(std::move(options)), roots_(std::move(roots)) {
  struct weak_parts {
    std::weak_ptr<indexer> indexer_part;
    std::weak_ptr<watcher> watcher_part;
  };
  const auto parts = std::make_shared<weak_parts>();
  watcher::callbacks watch_callbacks;
  watch_callbacks.on_changed = [parts](const auto& root, const std::string& path, bool may_affect_names) {
    if (const auto indexer = parts->indexer_part.lock()) indexer->record_change(root, path, may_affect_names);
  };
  watch_callbacks.on_modifying = [parts] {
    if (const auto indexer = parts->indexer_part.lock()) indexer->count_change();
  };
  watch_callbacks.on_lost = [parts] {
    if (const auto indexer = parts->indexer_part.lock()) indexer->refresh();
  };
  watch_callbacks.find_title = [parts](std::string_view uri) {
    const auto indexer = parts->indexer_part.lock();
    return indexer ? indexer->title_of(uri) : std::string();
  };
  indexer::callbacks index_callbacks;
  index_callbacks.on_enter_folder = [parts](const served_root& root, const std::string& path) {
    if (const auto watcher = parts->watcher_part.lock()) watcher->add_folder(root, path);
  };
  index_callbacks.on_names_changed = [parts] {
    if (const auto watcher = parts->watcher_part.lock()) watcher->notify_list_changed();
  };
  index_callbacks.is_watched = [parts] {
    const auto watcher = parts->watcher_part.lock();
    return watcher && watcher->watches_all_roots();
  };
  watcher_ = std::make_shared<watcher>(roots_, options_, std::move(watch_callbacks));
  indexer_ = std::make_shared<indexer>(roots_, options_, std::move(index_callbacks));
  parts->indexer_part = indexer_;
  parts->watcher_part = watcher_;
}

void files_provider::refresh() { indexer_->refresh(); }

void files_provider::set_listener(std::shared_ptr<change_listener> listener) { watcher_->set_listener(std::move(listener)); }

void files_provider::watch(const std::string& uri) {
  auto root = find_root(uri);
  auto path = root ? root->path_of(uri) : std::nullopt;
  if (!path) return;  // no file can have this name
  watcher_->watch(uri, std::move(root), std::move(*path));
  indexer_->start();  // its walk has the folders watched
}

void files_provider::unwatch(const std::string& uri) { watcher_->unwatch(uri); }

void files_provider::watch_list() {
  if (options_.watches) indexer_->start_reporting();
}

std::string files_provider::name() const { return "files"; }

std::vector<std::string> files_provider::claims() const {
  std::vector<std::string> uris;
  for (const auto& root : roots_) uris.push_back(root->uri());
  return uris;
}

scheme_documentation files_provider::documentation() const { return files::describe_scheme(); }

std::shared_ptr<const served_root> files_provider::find_root(std::string_view uri) const {
  const auto match =
      std::find_if(roots_.begin(), roots_.end(), [uri](const auto& root) { return uri_covers(root->uri(), uri); });
  if (match == roots_.end()) return nullptr;
  watcher_->check_root(**match);
  return *match;
}

result<list_result> files_provider::list(const list_request& request) {
  // Taken before the file system is read.
  const auto change_count = indexer_->change_count();
  watcher_->check_roots();
  const auto deadline = monotonic_clock::now() + max_catch_up_wait;
  watcher_->catch_up(request, deadline);
  HONDANA_TRY(const auto listing, indexer_->current(request, deadline));
  auto page = listing->page(request.after_key, request.limit, request);
  if (!page) return tl::unexpected(std::move(page.error()));
  indexer_->await_descriptions(page->records, request);
  bool is_cacheable = is_described(page->records);
  list_result response;
  response.entries.reserve(page->records.size());
  for (const auto& ref : page->records) {
    if (leads_to_hidden(*ref.block, ref.index, request)) continue;
    const auto& entry = response.entries.emplace_back(make_entry(*ref.block, ref.index));
    // A file that changed too recently has no version yet, but will have one soon.
    is_cacheable = is_cacheable && !(entry.version.empty() && S_ISREG(ref.block->at(ref.index).mode));
  }
  response.next_key = std::move(page->next_key);
  if (is_cacheable && indexer_->is_unchanged_since(change_count, *listing)) {
    response.validator = std::make_shared<const list_validator>(watcher_->delivery(), indexer_->change_counter(), change_count);
  }
  return response;
}

/// A file, a folder, or a part of a file.
struct files_provider::target {
  std::shared_ptr<const served_root> root;
  std::string path;
  disk::resolved_path resolved;
  std::optional<range> part;
  std::shared_ptr<const cache_validator> validator;  // made before the file system is read; null: unchanged is not provable

  [[nodiscard]] bool is_folder() const noexcept { return S_ISDIR(resolved.attributes.st_mode); }
};

result<files_provider::target> files_provider::resolve_target(const std::string& full_uri, const std::string& requested_uri,
                                                              const request_context& context, bool is_read) const {
  const auto missing = [&requested_uri](std::string reason) {
    return tl::unexpected(to_failure({disk::lookup_error_kind::missing, 0, std::move(reason)}, requested_uri));
  };
  const auto parts = split_uri(full_uri);
  if (parts.fragment) return missing("it has a fragment");
  const auto uri = std::string_view(full_uri).substr(0, full_uri.find('?'));
  const auto root = find_root(uri);
  if (root == nullptr) return missing("it is not below a root");
  auto path = root->path_of(uri);
  if (!path) return missing("no file can have that name");
  auto validator = is_read ? watcher_->make_validator(*root, *path) : nullptr;
  HONDANA_TRY(auto resolved, look_up(*root, *path, context, requested_uri, is_read));
  // Parsed only now, so that an error about the query does not reveal that a hidden file exists.
  HONDANA_TRY(auto part, parse_range(parts.query.value_or(std::string_view())));
  const auto mode = resolved.attributes.st_mode;
  if (S_ISDIR(mode)) {
    if (part)
      return fail(errc::invalid_argument,
                  "The parameters \"lines\" and \"bytes\" are for files; " + requested_uri + " is a folder.");
  } else if (uri.ends_with('/')) {
    return missing("it is not a folder");
  } else if (!S_ISREG(mode)) {
    return fail(errc::invalid_argument, requested_uri + " is " + std::string(name_of_special(mode)) +
                                            ", which has no content to read. Only regular files and folders can be read.");
  }
  // A link may lead through folders that are not watched, and a file may be written to by another hard link.
  if (!resolved.links.empty() || resolved.path != *path || resolved.attributes.st_nlink != 1) validator.reset();
  return target{root, std::move(*path), std::move(resolved), part, std::move(validator)};
}

result<read_result> files_provider::read(const read_request& request) {
  HONDANA_TRY(const auto target, resolve_target(request.uri, request.requested_uri, request, true));
  if (target.is_folder()) return read_folder(*target.root, target.resolved, options_.folder_budget_bytes, request, resources_);
  auto response = read_file(*target.root, target.resolved, request, target.part);
  if (!response) return response;
  response->validator = target.validator;
  // Only a client that comes back gets its folders watched, and only if watching can succeed for this file.
  const bool is_plain =
      target.resolved.links.empty() && target.resolved.path == target.path && target.resolved.attributes.st_nlink == 1;
  if (!response->validator && is_plain && request.cached_version) watcher_->watch_path(*target.root, target.path);
  return response;
}

result<resource> files_provider::describe(const describe_request& request) {
  const auto checked_at = disk::wall_clock();
  const auto target = resolve_target(request.uri, request.uri, request, false);
  if (!target) return tl::unexpected(target.error());
  auto entry = make_entry(*target->root, target->path, target->resolved.attributes, checked_at);
  // The title may come from the target of a link.
  if (target->root->is_readable(target->path, target->resolved, request.caller))
    describe_entry(entry, *target->root, target->path, target->resolved);
  // Listed as a link, so that access rules about links apply here, too. The other fields are those of the target.
  if (is_link(target->resolved)) entry.kind = kind_of(S_IFLNK);
  if (target->part) {
    entry.uri = request.uri;
    entry.size.reset();
  }
  if (request.known_version) {
    entry.version = *request.known_version;
  } else if (entry.version.empty()) {
    HONDANA_TRY(auto version, content_version(*target, request));
    entry.version = std::move(version);
  }
  return entry;
}

/// The version that a read would return if the entry has none: for a folder, or for a file that has just changed.
result<std::string> files_provider::content_version(const target& target, const describe_request& request) {
  constexpr off_t max_read_bytes = 1 << 20;
  const read_request full_request{static_cast<const request_context&>(request), request.uri, request.uri, {}, {}};
  if (target.is_folder()) {
    return read_folder(*target.root, target.resolved, options_.folder_budget_bytes, full_request, resources_)
        .map([](read_result response) { return std::move(response.version); });
  }
  // No read ever returns this version, so no content is ever taken for unmodified because of it.
  auto temporary_version = "~" + version_of(disk::stamp_of(target.resolved.attributes));
  if (target.resolved.attributes.st_size > max_read_bytes) return temporary_version;
  auto file = target.root->dir()->open_file(target.resolved);
  if (!file) return tl::unexpected(to_failure(make_rejection(file.error()), request.uri));
  auto content = read_content(std::make_shared<open_file>(std::move(*file)), {}, full_request, resources_,
                              target.root->masking_policy_of(target.resolved.path));
  if (content) return std::move(content->version);
  if (content.error().code == errc::content_changed) return temporary_version;
  return tl::unexpected(std::move(content.error()));
}

result<read_result> files_provider::read_file(const served_root& root, const disk::resolved_path& resolved,
                                              const read_request& request, const std::optional<range>& part) {
  if (request.cached_version) {
    const auto stamp = disk::stamp_of(resolved.attributes);
    if (!is_racy(stamp, disk::wall_clock()) && version_of(stamp) == *request.cached_version)
      return read_result{{}, *request.cached_version};
  }
  auto file = root.dir()->open_file(resolved);
  if (!file) return tl::unexpected(to_failure(make_rejection(file.error()), request.requested_uri));
  const auto opened = std::make_shared<open_file>(std::move(*file));
  HONDANA_TRY(auto contents, read_content(opened, part, request, resources_, root.masking_policy_of(resolved.path)));
  const auto name = std::string_view(resolved.path).substr(resolved.path.rfind('/') + 1);
  resource_content item;
  item.name = root.name_of(resolved.path);
  item.mime_type = effective_mime_type(name, contents.front, contents.kind);
  add_active_label(item, name, contents.front);
  const bool is_front_complete = contents.front.size() < head_bytes;
  if (contents.kind != content_kind::blob)
    item.title = files::describe(item.mime_type, contents.front, is_front_complete).title;
  item.kind = contents.kind;
  item.is_validated = contents.is_validated;
  item.data = std::move(contents.data);
  item.metadata = secrets::redaction_metadata(contents.masked_count);
  read_result response;
  response.contents.push_back(std::move(item));
  response.version = std::move(contents.version);
  response.is_racy = contents.is_racy;
  return response;
}

result<list_result> files_provider::children(const children_request& request) {
  const auto root = find_root(request.uri);
  const auto path = root != nullptr ? root->path_of(request.uri) : std::nullopt;
  if (!path) return tl::unexpected(to_failure({disk::lookup_error_kind::missing, 0, "it is not below a root"}, request.uri));
  HONDANA_TRY(const auto resolved, look_up(*root, *path, request, request.uri, false));
  if (!S_ISDIR(resolved.attributes.st_mode)) return fail(errc::invalid_argument, request.uri + " is not a folder.");
  return list_children(*root, resolved, request);
}

std::vector<resource_template> files_provider::templates() const {
  std::vector<resource_template> template_list;
  for (const auto& root : roots_) {
    resource_template entry;
    entry.uri_template = uri_template_of(*root);
    entry.name = root->name_of({});
    entry.title = "Files in " + entry.name;
    entry.description = "A file or folder by its path below " + entry.name +
                        ", or a part of a file: lines=10-40 counts from 1, bytes=0-4095 from 0, both ends included.";
    root->priorities().annotate({}, true, entry.annotations);
    template_list.push_back(std::move(entry));
  }
  return template_list;
}

result<complete_result> files_provider::complete(const complete_request& request) {
  const auto root = std::find_if(roots_.begin(), roots_.end(),
                                 [&](const auto& candidate) { return uri_template_of(*candidate) == request.uri_template; });
  if (root == roots_.end()) return fail(errc::invalid_argument, "No such template: " + request.uri_template);
  watcher_->check_root(**root);
  if (request.argument == "path") {
    const auto listing = indexer_->current(request, monotonic_clock::now() + max_catch_up_wait);
    const bool has_expired = !listing && (listing.error().code == errc::cancelled || listing.error().code == errc::timed_out);
    if (has_expired) return tl::unexpected(listing.error());
    return complete_path(**root, listing ? listing->get() : nullptr, request.value,
                         request);  // without a list: the folder itself
  }
  const auto path = request.context_value("path");
  if (path.empty()) return complete_result{{}, 0, false};
  return complete_range(**root, path, request.argument == "lines", request.value, request);
}

result<void> files_provider::inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visit) {
  inventory_walker listener(request, visit);
  for (const auto& root : roots_) {
    if (walk(*root, {options_.max_depth, options_.max_entries}, listener)) continue;
    if (request.stop.stop_requested()) return fail(errc::cancelled, "The survey was cancelled.");
    return fail(errc::timed_out, "The deadline passed before everything was checked.");
  }
  return {};
}

hondana::system_requirements files_provider::requirements() const {
  hondana::system_requirements requirements;
  for (const auto& root : roots_) requirements.folders.push_back({root->path(), false});
  return requirements;
}

provider_traits files_provider::traits() const noexcept {
  const auto& roots = options_.roots;
  const bool masks = std::any_of(roots.begin(), roots.end(), [](const root_options& settings) { return settings.redact; });
  return {.masking = masks ? secret_masking::by_source : secret_masking::none};
}

hondana::provider_health files_provider::health() const {
  for (const auto& root : roots_) {
    watcher_->check_root(*root);
    if (root->is_blocked()) return {false, "the folder " + root->path() + " was replaced by another, which the sandbox blocks"};
    if (root->is_removed()) return {false, "the folder " + root->path() + " is gone"};
  }
  return indexer_->current_health();
}

scheme_documentation describe_scheme() {
  return {"file",
          "Files and folders below the served roots, as they are on disk.",
          {{"file", "A regular file: text if all of it is UTF-8, otherwise a blob."},
           {"folder",
            "A folder. Reading it returns its children's URIs, one per line, then the text files directly in it, up to "
            "max_folder_bytes."},
           {"link", "A symbolic link to a served file or folder; reading it reads the target."},
           {"special", "A named pipe, socket or device: listed, never opened."}},
          {{"file:///ROOT/PATH",
            "A file or folder. Bytes outside A-Z a-z 0-9 - . _ ~ ! $ & ' ( ) * + , ; = : @ are percent-encoded, slashes "
            "between names are not."},
           {"file:///ROOT/PATH?lines=10-40",
            "Lines 10 to 40 of a text file, counted from 1; lines=10- goes to the end, lines=10 is one line."},
           {"file:///ROOT/PATH?bytes=0-4095",
            "Bytes 0 to 4095 of a file; of text, only the whole characters in that range. bytes=4096- goes to the end."}}};
}

}  // namespace hondana::files
