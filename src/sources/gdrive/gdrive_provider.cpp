/// The provider of a Google Drive source: lists, descriptions, completion and subscriptions.
#include "sources/gdrive/gdrive_provider.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/match/fuzzy_match.hpp"
#include "os/disk/spool.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/catalog_entries.hpp"
#include "sources/gdrive/item.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
bool gdrive_provider::may_follow(const snapshot& snapshot, const item& item, const caller_info& caller) {
  if (!caller.access_filter) return true;
  const auto* current = &item;
  for (std::size_t hops = 0; current->is_shortcut() && hops < max_shortcut_hops; ++hops) {
    const auto* next = snapshot.find(current->target);
    // The target is no longer served, so its last entry decides. A target that was never listed has none.
    if (const auto* last = next == nullptr ? snapshot.last_entry(current->target) : nullptr) return is_readable(caller, *last);
    if (next == nullptr) return true;
    const auto entry = snapshot.entries().find(next->uri);
    if (!entry || !is_readable(caller, *entry)) return false;
    current = next->item.get();
  }
  return !current->is_shortcut();
}

bool gdrive_provider::is_listed_for(const snapshot& snapshot, const resource& entry, const caller_info& caller) {
  if (!is_visible(caller, entry)) return false;
  const auto* shortcut = caller.access_filter && entry.kind == "shortcut" ? snapshot.find_by_uri(entry.uri) : nullptr;
  return shortcut == nullptr || may_follow(snapshot, *shortcut->item, caller);
}

std::vector<resource> gdrive_provider::access_entries(const snapshot& snapshot, const item& item,
                                                      const std::string& uri) const {
  std::vector<resource> entries;
  auto listed = uri.empty() ? std::nullopt : snapshot.entries().find(uri);
  const auto* known = snapshot.find(item.id);
  const bool is_unmoved = listed && known != nullptr && known->item->parent == item.parent && known->item->name == item.name;
  entries.push_back(listed ? std::move(*listed) : make_entry(item, options_.scheme + ":///" + item.id, {}));
  const auto expected = is_unmoved ? std::string() : snapshot.expected_uri(item);
  if (!expected.empty()) entries.push_back(make_entry(item, expected, {}));
  return entries;
}

result<resource> gdrive_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto requested, parse_address(options_.scheme, request.uri));
  HONDANA_TRY(const auto shared, wait_for_snapshot(request));
  const auto& snapshot = *shared;
  if (auto entry = snapshot.entries().find(request.uri)) {
    const auto* listed = request.caller.access_filter ? snapshot.find_by_uri(request.uri) : nullptr;
    if (listed != nullptr && !may_follow(snapshot, *listed->item, request.caller)) return file_not_found();
    return std::move(*entry);
  }
  const bool is_file = requested.kind == address::resource_kind::id || requested.kind == address::resource_kind::path;
  if (!is_file) {
    auto content = requested.kind == address::resource_kind::drive_list ? [&] {
      read_request inside;
      static_cast<request_context&>(inside) = static_cast<const request_context&>(request);
      return read_folder(snapshot, {}, inside);
    }()
                                                                        : read_list(snapshot, requested.kind, request.caller);
    if (!content) return tl::unexpected(std::move(content.error()));
    resource entry;
    entry.uri = request.uri;
    entry.name = content->contents.front().name.empty() ? options_.name : content->contents.front().name;
    entry.mime_type = content->contents.front().mime_type;
    entry.kind = requested.kind == address::resource_kind::drive_list ? "folder" : "list";
    entry.version = std::move(content->version);
    return entry;
  }
  HONDANA_TRY(const auto file, find(snapshot, requested, request));
  if (!may_follow(snapshot, *file.item, request.caller)) return file_not_found();
  auto entry = make_entry(*file.item, request.uri, {});
  const auto listed = file.uri.empty() ? std::nullopt : snapshot.entries().find(file.uri);
  if (listed) {
    entry = *listed;
    entry.uri = request.uri;
  }
  const auto access_checks =
      request.caller.access_filter ? access_entries(snapshot, *file.item, file.uri) : std::vector<resource>();
  const auto* placed = snapshot.find(file.item->id);
  if (requested.sheet) {
    if (placed == nullptr || std::find(placed->sheets.begin(), placed->sheets.end(), *requested.sheet) == placed->sheets.end())
      return fail(errc::resource_not_found,
                  "The spreadsheet has no sheet of this name, or has not been read yet. Read it first.");
    auto base = entry;
    base.uri = request.uri.substr(0, request.uri.find('?'));
    entry = make_sheet_entry(base, *requested.sheet);
    entry.uri = request.uri;
    if (!may_read_sheet(request.caller, access_checks, *requested.sheet)) return file_not_found();
  }
  if (requested.is_original) {
    if (!may_read_original(request.caller, access_checks)) return file_not_found();
    entry.mime_type = file.item->mime_type;
    entry.size = file.item->size;
  }
  return entry;
}

namespace {

constexpr std::size_t max_values = 100;
constexpr std::size_t max_query_bytes = 1000;

/// A URI path as a value of `{+path}`: readable text, with escapes only for characters that have a meaning in URIs.
std::string to_template_value(std::string_view path) {
  std::string out;
  while (true) {
    const auto end = path.find('/');
    const auto segment = percent_decode(path.substr(0, end)).value_or(std::string(path.substr(0, end)));
    for (const char c : segment) {
      const auto byte = static_cast<unsigned char>(c);
      const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("%?#[]/").find(c) != std::string_view::npos;
      out += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
    }
    if (end == std::string_view::npos) return out;
    out += '/';
    path.remove_prefix(end + 1);
  }
}

struct candidate_value {
  match::rank rank{};
  std::string value{};

  bool operator<(const candidate_value& other) const noexcept {
    return rank < other.rank || (!(other.rank < rank) && value < other.value);
  }
};

complete_result to_completion(match::top_k<candidate_value> best) {
  complete_result answer;
  answer.total = best.count();
  for (auto& entry : best.extract_sorted()) answer.values.push_back(std::move(entry.value));
  answer.has_more = *answer.total > answer.values.size();
  return answer;
}

}  // namespace

complete_result gdrive_provider::complete_paths(const snapshot& snapshot, const complete_request& request) const {
  const auto drive = request.context_value("drive");
  const auto prefix = options_.scheme + "://" + (drive.empty() ? std::string(my_drive) : drive) + '/';
  const bool wants_sheets = request.uri_template.ends_with("{?sheet}");
  match::matcher matcher(language::fold(percent_decode(request.value).value_or(request.value).substr(0, max_query_bytes)));
  match::top_k<candidate_value> best(max_values);
  const auto now = std::chrono::system_clock::now();
  for (auto index = snapshot.entries().upper_bound(key_before(prefix)); index < snapshot.entries().size(); ++index) {
    const auto entry = snapshot.entries().at(index);
    if (!entry.uri.starts_with(prefix)) break;
    if (entry.kind == "sheet" || !is_listed_for(snapshot, entry, request.caller)) continue;
    auto value = to_template_value(std::string_view(entry.uri).substr(prefix.size()));
    const auto quality = matcher(language::fold(value));
    if (!quality) continue;
    auto priority = entry.annotations.priority.value_or(0.5);
    if (wants_sheets && entry.kind == "spreadsheet") priority = 1;
    best.add({{*quality, priority, match::recency_of(entry.annotations.last_modified, now)}, std::move(value)});
  }
  return to_completion(std::move(best));
}

complete_result gdrive_provider::complete_ids(const snapshot& snapshot, const complete_request& request) const {
  match::matcher matcher(language::fold(request.value.substr(0, max_query_bytes)));
  match::top_k<candidate_value> best(max_values);
  const auto now = std::chrono::system_clock::now();
  for (const auto* file : snapshot.find_latest(snapshot.file_count(), [](const item&) { return true; })) {
    const auto entry = snapshot.entries().find(file->uri);
    if (!entry || !is_listed_for(snapshot, *entry, request.caller)) continue;
    // Users type names, programs type ids.
    auto quality = matcher(language::fold(entry->name));
    if (file->item->id.starts_with(request.value)) quality = match::match_quality();
    if (!quality) continue;
    best.add({{*quality, entry->annotations.priority.value_or(0.5), match::recency_of(entry->annotations.last_modified, now)},
              file->item->id});
  }
  return to_completion(std::move(best));
}

result<complete_result> gdrive_provider::complete(const complete_request& request) {
  if (request.argument == "format") return complete_from(request.value, {"original"});
  HONDANA_TRY(const auto shared, wait_for_snapshot(request));
  const auto& snapshot = *shared;
  if (request.argument == "drive") {
    std::vector<std::string> slugs;
    for (const auto& [slug, name] : snapshot.drives()) {
      const auto entry = snapshot.entries().find(options_.scheme + "://" + slug);
      if (entry && is_visible(request.caller, *entry)) slugs.push_back(slug);
    }
    return complete_from(request.value, slugs);
  }
  if (request.argument == "path") return complete_paths(snapshot, request);
  if (request.argument == "id") return complete_ids(snapshot, request);
  if (request.argument != "sheet") return complete_result();
  const auto uri =
      canonical_uri(options_.scheme + "://" + request.context_value("drive") + '/' + request.context_value("path"));
  // Parameters are only completed for the listed URI; everything else is escaped.
  const auto* file = uri ? snapshot.find_by_uri(to_listed_uri(*uri)) : nullptr;
  if (file == nullptr) return complete_result();
  const auto entry = snapshot.entries().find(file->uri);
  if (!entry || !is_readable(request.caller, *entry)) return complete_result();
  return complete_from(request.value, file->sheets);
}

namespace {

fetch_options make_fetch_options(const provider_options& options, std::shared_ptr<drive_store> store) {
  fetch_options created;
  created.api = options.api;
  created.store = std::move(store);
  created.renderer = options.renderer;
  created.render_limits = options.render_limits;
  created.max_bytes = options.max_bytes;
  created.log = options.log;
  return created;
}

follower_options make_follower_options(const provider_options& options, std::shared_ptr<drive_store> store) {
  follower_options created;
  created.name = options.name;
  created.scheme = options.scheme;
  created.api = options.api;
  created.store = std::move(store);
  created.drive_slugs = options.drive_slugs;
  created.has_shared_drives = options.has_shared_drives;
  created.min_interval = options.min_interval;
  created.max_interval = options.max_interval;
  created.max_files = options.max_files;
  created.account_id = options.account_id;
  if (!options.notification_url.empty()) created.notification_url = options.notification_url + "/notify/" + options.name;
  created.log = options.log;
  return created;
}

bool precedes(const resource& a, const resource& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); }

/// Pages a small list of entries.
list_result make_page(std::vector<resource> entries, const children_request& request) {
  std::sort(entries.begin(), entries.end(), precedes);
  list_result page;
  for (auto& entry : entries) {
    if (std::is_lteq(compare_by_segment(entry.uri, request.after_key))) continue;
    if (page.entries.size() == request.limit) {
      page.next_key = page.entries.back().uri;
      break;
    }
    page.entries.push_back(std::move(entry));
  }
  return page;
}

resource make_list_entry(const std::string& scheme, std::string_view name, std::string title) {
  resource entry;
  entry.uri = scheme + ":///" + std::string(name);
  entry.name = name;
  entry.title = std::move(title);
  entry.kind = "list";
  entry.mime_type = "text/markdown";
  return entry;
}

/// A decoded path for display, with the drive in front. For a URI by id: the name and the id.
std::string display_path(std::string_view uri, const std::string& name) {
  const auto path = uri.substr(uri.find("://") + 3);
  if (path.starts_with('/')) return display_text(name) + " (" + std::string(path.substr(1)) + ')';
  const auto decoded = percent_decode(path);
  return decoded ? display_text(*decoded) : std::string(path);
}

}  // namespace

tl::unexpected<failure> file_not_found() { return fail(errc::resource_not_found, "File not found in this Drive."); }

bool is_visible(const caller_info& caller, const resource& entry) {
  return !caller.access_filter || caller.access_filter->may_see_entry(entry);
}

bool is_readable(const caller_info& caller, const resource& entry) {
  return !caller.access_filter || (caller.access_filter->may_see_entry(entry) && caller.access_filter->may_read_entry(entry));
}

gdrive_provider::gdrive_provider(provider_options options, std::shared_ptr<drive_store> store)
    : options_(std::move(options)),
      store_(std::move(store)),
      fetcher_(make_fetch_options(options_, store_)),
      follower_(make_follower_options(options_, store_)) {}

gdrive_provider::~gdrive_provider() { follower_.stop(); }

result<std::shared_ptr<gdrive_provider>> gdrive_provider::open(provider_options options) {
  HONDANA_TRY(auto store, drive_store::create(options.store_path, options.max_cached_bytes, options.log));
  return std::shared_ptr<gdrive_provider>(new gdrive_provider(std::move(options), std::move(store)));
}

scheme_documentation gdrive_provider::documentation() const {
  auto document = gdrive::describe_scheme();
  if (options_.scheme == document.scheme) return document;
  for (auto& form : document.forms) form.uri_template.replace(0, document.scheme.size(), options_.scheme);
  document.scheme = options_.scheme;
  return document;
}

result<gdrive_provider::shared_snapshot> gdrive_provider::wait_for_snapshot(const request_context& request) {
  follower_.start();
  auto latest = follower_.wait_until_ready(request, options_.first_list_timeout);
  // Callers see access_denied as "not found", which would hide the remedy. An example is a file with credentials that others
  // can read.
  if (!latest && latest.error().code == errc::access_denied) latest.error().code = errc::source_unavailable;
  return latest;
}

result<list_result> gdrive_provider::list(const list_request& request) {
  const auto snapshot = wait_for_snapshot(request);
  if (!snapshot) {
    // A failure does not break the list of all sources. Health, folders and reads report it, as with a mounted server. The
    // index gets the error, since it would otherwise remove the files.
    const bool hides_error = snapshot.error().code != errc::cancelled && !model::is_index(request.caller);
    if (hides_error) return list_result{};
    return tl::unexpected(snapshot.error());
  }
  auto page = (*snapshot)->entries().page(request);
  // A shortcut is omitted from the flat list if its target is listed at its own place.
  std::erase_if(page.entries, [&](const resource& entry) {
    const auto* placed = entry.kind == "shortcut" ? (*snapshot)->find_by_uri(entry.uri) : nullptr;
    return placed != nullptr &&
           ((*snapshot)->has_listed_target(*placed->item) || !may_follow(**snapshot, *placed->item, request.caller));
  });
  return page;
}

std::vector<resource> gdrive_provider::root_entries(const snapshot& snapshot) const {
  std::vector<resource> entries{make_list_entry(options_.scheme, "starred", "Starred"),
                                make_list_entry(options_.scheme, "recent", "Recent")};
  for (const auto& [slug, name] : snapshot.drives()) entries.push_back(make_drive_entry(options_.scheme + "://" + slug, name));
  return entries;
}

result<list_result> gdrive_provider::list_children(const snapshot& snapshot, const std::string& uri,
                                                   const children_request& request) const {
  if (uri.starts_with(options_.scheme + ":///")) {
    // The folder is too deep for URIs by path.
    const auto* folder = snapshot.find_by_uri(uri);
    std::vector<resource> entries;
    const auto inside =
        folder == nullptr
            ? std::vector<const served_file*>()
            : snapshot.find_latest(snapshot.file_count(), [&](const item& item) { return item.parent == folder->item->id; });
    for (const auto* file : inside) {
      if (auto entry = snapshot.entries().find(file->uri); entry && may_follow(snapshot, *file->item, request.caller))
        entries.push_back(std::move(*entry));
    }
    return make_page(std::move(entries), request);
  }
  auto listed_request = request;
  listed_request.uri = uri;
  auto page = snapshot.entries().children(listed_request);
  std::erase_if(page.entries, [&](const resource& entry) {
    return entry.kind == "sheet" || !is_listed_for(snapshot, entry, request.caller);
  });
  return page;
}

result<list_result> gdrive_provider::children(const children_request& request) {
  HONDANA_TRY(const auto requested, parse_address(options_.scheme, request.uri));
  HONDANA_TRY(const auto shared, wait_for_snapshot(request));
  const auto& snapshot = *shared;
  if (requested.kind == address::resource_kind::drive_list) return make_page(root_entries(snapshot), request);
  if (requested.kind == address::resource_kind::starred || requested.kind == address::resource_kind::recent)
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  const bool is_drive = requested.kind == address::resource_kind::path &&
                        requested.uri.find('/', options_.scheme.size() + 3) == std::string::npos;
  if (is_drive) {
    if (!snapshot.entries().find(requested.uri)) return fail(errc::resource_not_found, "Drive not found.");
    return list_children(snapshot, requested.uri, request);
  }
  HONDANA_TRY(const auto named_file, find(snapshot, requested, request));
  HONDANA_TRY(const auto file, follow_shortcuts(snapshot, named_file, request));
  if (!file.item->is_folder() || requested.sheet || requested.is_original)
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  if (file.uri.empty()) return fail(errc::resource_not_found, "This folder is not in a served drive or folder.");
  return list_children(snapshot, file.uri, request);
}

std::vector<resource_template> gdrive_provider::templates() const { return make_templates(options_.scheme, options_.name); }

result<void> gdrive_provider::inventory(const request_context& request,
                                        const std::function<void(const inventory_item&)>& visitor) {
  const auto snapshot = wait_for_snapshot(request);
  auto usable = options_.credential_check ? options_.credential_check() : result<void>();
  if (!snapshot) {
    auto error = usable ? snapshot.error() : usable.error();
    // A request that Drive does not accept is not an error of the configuration.
    if (usable && error.code == errc::invalid_argument) error.code = errc::source_unavailable;
    return tl::unexpected(std::move(error));
  }
  const auto time = std::chrono::system_clock::now();
  // Access rules may name these, although they are not listed.
  for (const auto* list : {"starred", "recent"}) visitor({list, options_.scheme + ":///" + list, true, "a list of files"});
  for (const auto* file : (*snapshot)->find_latest((*snapshot)->file_count(), [](const item&) { return true; })) {
    const auto worth = rate_item(*file->item, file->shortcut_count, time);
    auto priority = std::to_string(worth.priority);
    priority.resize(std::min(priority.size(), std::size_t{4}));
    visitor({display_path(file->uri, file->item->name), file->uri, true, "priority " + priority + ": " + worth.reason});
  }
  if (const auto count = (*snapshot)->unserved_count(); count > 0)
    visitor({std::to_string(count) + " files", {}, false, "they are in drives or folders that are not served"});
  if (auto message = follower_.omission_message(); !message.empty())
    visitor({"all other files", {}, false, std::move(message)});
  if (!usable) return usable;
  if (auto wrong = follower_.settings_error(); !wrong.empty())
    return fail(errc::invalid_argument, options_.name + ": " + std::move(wrong));
  return {};
}

void gdrive_provider::set_listener(std::shared_ptr<change_listener> listener) {
  follower_.set_listener(aliases_->wrap_listener(std::move(listener)));
}

void gdrive_provider::watch(const std::string& uri) {
  aliases_->add(uri);
  follower_.start();
}

void gdrive_provider::unwatch(const std::string& uri) { aliases_->remove(uri); }

void gdrive_provider::watch_list() { follower_.start(); }

hondana::system_requirements gdrive_provider::requirements() const {
  hondana::system_requirements requirements;
  if (!options_.store_path.empty())
    requirements.folders.push_back({options_.store_path.substr(0, options_.store_path.rfind('/')), true});
  requirements.folders.push_back({disk::spool::folder(), true});
  for (const auto& path : options_.private_folders) requirements.folders.push_back({path, false});
  requirements.sockets = options_.api->addresses();
  requirements.sockets.insert(requirements.sockets.end(), options_.extra_addresses.begin(), options_.extra_addresses.end());
  std::sort(requirements.sockets.begin(), requirements.sockets.end());
  requirements.sockets.erase(std::unique(requirements.sockets.begin(), requirements.sockets.end()), requirements.sockets.end());
  if (!requirements.sockets.empty() && requirements.sockets.front() == "*:*") requirements.sockets.resize(1);
  if (!options_.renderer) return requirements;
  for (const auto& command : options_.renderer->commands()) {
    if (command.empty() || !command.front().starts_with('/')) continue;
    const bool is_known =
        std::find(requirements.programs.begin(), requirements.programs.end(), command.front()) != requirements.programs.end();
    if (!is_known) requirements.programs.push_back(command.front());
  }
  return requirements;
}

}  // namespace hondana::gdrive
