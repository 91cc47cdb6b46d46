/// The provider of one set of documents: configuration, lists and completion.
#include "sources/docs/docs_provider.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "base/match/fuzzy_match.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/docs/document_entry.hpp"
#include "sources/docs/document_uri.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

/// How long a listing of the folder counts as current if changes are not watched.
constexpr std::chrono::milliseconds freshness_ttl{1000};
constexpr std::uint64_t max_described_bytes = 256ull << 20;

/// Compares URIs by the document that a read of them finds.
model::watched_aliases::key_function make_alias_key(const std::string& set) {
  return [set](std::string_view uri) {
    const auto address = parse_address(set, uri);
    return address && !address->is_set ? language::fold(address->path) : std::string(uri);
  };
}

/// Names may differ in case or width only. A caller that watches one of two such documents, and may not see the other, must not
/// be notified of the other.
model::watched_aliases::listed_predicate make_listed_predicate(std::weak_ptr<const document_set> set) {
  return [weak_set = std::move(set)](std::string_view uri) {
    const auto locked = weak_set.lock();
    const auto snapshot = locked ? locked->latest() : nullptr;
    return snapshot && snapshot->entries().find(uri).has_value();
  };
}

}  // namespace

std::string docs_provider::unserved_text_note(const document& document) const {
  if (!document.type.render_format) return {};
  const auto& renderer = set_->options().renderer;
  if (!renderer) return "; its text is not served: render = false";
  const auto missing = renderer->missing_for(*document.type.render_format);
  return missing.empty() ? std::string() : "; its text is not served: " + missing;
}

docs_provider::docs_provider(std::shared_ptr<document_set> set)
    : set_(std::move(set)),
      aliases_(std::make_shared<model::watched_aliases>(make_alias_key(set_->set_name()), make_listed_predicate(set_))) {
  const auto& options = set_->options();
  if (options.renderer) {
    background_renderer_ = std::make_unique<background_renderer>(set_);
    set_->set_render_trigger([weak_set = std::weak_ptr(set_), trigger = background_renderer_->trigger()] {
      // Without a listener for changes, titles could not be notified later. Reads return them anyway.
      if (const auto locked = weak_set.lock(); locked && locked->has_listener()) trigger();
    });
  }
  if (!options.watch) return;
  watch::watcher_options watcher_options;
  watcher_options.subject = "the documents " + options.name;
  watcher_options.log = options.log;
  const auto rescan = [weak_set = std::weak_ptr(set_)](const request_context& request, const watch::folder_watcher::trees&) {
    const auto locked = weak_set.lock();
    return !locked || locked->refresh(request).has_value();  // the next request reports the error
  };
  watcher_ = std::make_unique<watch::folder_watcher>(std::vector{options.path}, rescan, std::move(watcher_options));
  // Passes a handle, not the watcher itself: the watcher's own thread must not become its last owner.
  set_->set_folder_listener(watcher_->folder_adder());
}

docs_provider::~docs_provider() {
  set_->disable_log();
  background_renderer_.reset();
}

result<std::shared_ptr<docs_provider>> docs_provider::open(set_options options) {
  HONDANA_TRY(auto set, document_set::open(std::move(options)));
  return std::shared_ptr<docs_provider>(new docs_provider(std::move(set)));
}

std::vector<std::string> docs_provider::claims() const { return {uri_prefix(set_->set_name())}; }

scheme_documentation docs_provider::documentation() const { return docs::describe_scheme(); }

result<std::shared_ptr<const snapshot>> docs_provider::refresh(const request_context& request) {
  if (watcher_ && has_listener_) watcher_->start();
  return set_->refresh(request);
}

result<std::shared_ptr<const snapshot>> docs_provider::current(const request_context& request) {
  auto latest = set_->latest();
  const bool is_watched = watcher_ && has_listener_ && watcher_->is_complete();
  if (latest && (is_watched || monotonic_clock::now() - set_->last_checked_at() < freshness_ttl)) return latest;
  return refresh(request);
}

result<list_result> docs_provider::list(const list_request& request) {
  // Later pages use the snapshot of the first one, if it is current.
  const auto snapshot = request.after_key.empty() ? refresh(request) : current(request);
  return snapshot.map([&](const auto& latest) { return latest->entries().page(request); });
}

result<list_result> docs_provider::children(const children_request& request) {
  HONDANA_TRY(const auto snapshot, refresh(request));
  HONDANA_TRY(const auto address, parse_address(set_->set_name(), request.uri));
  const bool is_entry = !address.is_part() && !address.is_set;
  if (is_entry && is_folder(*snapshot, address, request.caller)) {
    auto listed_request = request;
    listed_request.uri =
        address.is_listed_form ? request.uri.substr(0, request.uri.find('?')) : uri_of(set_->set_name(), address.path);
    return snapshot->entries().children(listed_request);
  }
  if (address.is_set || find(*snapshot, address, request.caller)) {
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  }
  return fail(errc::resource_not_found, "Folder not found in this set.");
}

result<read_result> docs_provider::read(const read_request& request) {
  HONDANA_TRY(const auto address, parse_address(set_->set_name(), request.uri));
  auto snapshot = current(request);
  if (!snapshot) return tl::unexpected(snapshot.error());
  auto outcome = read_resource(**snapshot, address, request);
  // The document may be new. Unknown names are common, so the folder is scanned again only if the path exists.
  if (!outcome && outcome.error().code == errc::resource_not_found && set_->may_contain(address.path)) {
    if (auto newer = refresh(request); newer && *newer != *snapshot) {
      snapshot = std::move(newer);
      outcome = read_resource(**snapshot, address, request);
    }
  }
  if (!outcome) return tl::unexpected(std::move(outcome.error()));
  read_result answer;
  answer.version = std::move(outcome->version);
  answer.is_racy = outcome->is_racy;
  if (!answer.version.empty() && answer.version == request.cached_version) return answer;
  answer.contents = std::move(outcome->contents);
  return answer;
}

result<resource> docs_provider::describe(const describe_request& request) {
  const auto address = parse_address(set_->set_name(), request.uri);
  if (!address) return tl::unexpected(address.error());
  HONDANA_TRY(const auto snapshot, current(request));
  if (!address->is_part() && !address->is_set && !is_folder(*snapshot, *address, request.caller)) {
    const auto document = find(*snapshot, *address, request.caller);
    const auto stamp = document ? set_->current_stamp(**document) : result<disk::stamp>(tl::unexpected(document.error()));
    if (stamp && *stamp == (*document)->stamp && !(*document)->entry.version.empty()) return (*document)->entry;
  }
  HONDANA_TRY(const auto newer, refresh(request));
  read_request content_request;
  static_cast<request_context&>(content_request) = static_cast<const request_context&>(request);
  content_request.uri = content_request.requested_uri = request.uri;
  content_request.max_bytes = max_described_bytes;
  resource entry;
  const auto listed = newer->entries().find(request.uri);
  const bool is_document = !address->is_part() && !address->is_set && !is_folder(*newer, *address, request.caller);
  if (is_document) {
    HONDANA_TRY(const auto document, find(*newer, *address, request.caller));
    entry = document->entry;
    // A file that may have changed without a trace needs the version of its content. Rendering is too slow for this call.
    if (!entry.version.empty() || document->type.render_format) return entry;
  } else if (listed) {
    entry = *listed;
  }
  HONDANA_TRY(auto outcome, read_resource(*newer, *address, content_request));
  if (entry.uri.empty()) {
    const auto& first = outcome.contents.front();
    entry.uri = request.uri;
    entry.name = first.name;
    entry.title = first.title;
    entry.mime_type = first.mime_type;
    entry.metadata = first.metadata;
    entry.kind = outcome.kind;
    if (const auto document = find(*newer, *address, request.caller)) entry.annotations = (*document)->entry.annotations;
  }
  entry.version = std::move(outcome.version);
  if (const auto* bytes = std::get_if<shared_bytes>(&outcome.contents.front().data)) entry.size = (*bytes)->size();
  return entry;
}

std::vector<resource_template> docs_provider::templates() const { return make_templates(set_->set_name()); }

result<void> docs_provider::inventory(const request_context& request,
                                      const std::function<void(const inventory_item&)>& visitor) {
  return refresh(request).map([&](const auto& snapshot) {
    for (const auto& [path, document] : snapshot->documents()) {
      visitor({display_path(path), document.entry.uri, true, inventory_note(document) + unserved_text_note(document)});
    }
    for (const auto& entry : snapshot->omitted()) visitor({display_path(entry.path), {}, false, entry.reason});
  });
}

void docs_provider::set_listener(std::shared_ptr<change_listener> listener) {
  has_listener_ = listener != nullptr;
  set_->set_listener(aliases_->wrap_listener(std::move(listener)));
}

void docs_provider::unwatch(const std::string& uri) { aliases_->remove(uri); }

void docs_provider::watch(const std::string& uri) {
  aliases_->add(uri);
  if (watcher_ && has_listener_) watcher_->start();
}

void docs_provider::watch_list() {
  if (!watcher_ || !has_listener_) return;
  set_->watch_list();
  watcher_->start();
}

hondana::system_requirements docs_provider::requirements() const {
  hondana::system_requirements requirements;
  requirements.folders.push_back({set_->options().path, false});
  const auto& renderer = set_->options().renderer;
  if (!renderer) return requirements;
  for (const auto& command : renderer->commands()) {
    if (command.empty() || !command.front().starts_with('/')) continue;
    const bool is_known =
        std::find(requirements.programs.begin(), requirements.programs.end(), command.front()) != requirements.programs.end();
    if (!is_known) requirements.programs.push_back(command.front());
  }
  return requirements;
}

provider_traits docs_provider::traits() const noexcept {
  const auto& options = set_->options();
  return {.max_concurrency = options.max_calls, .masking = options.redact ? secret_masking::by_source : secret_masking::none};
}

namespace {

constexpr std::size_t max_values = 100;
constexpr std::size_t max_page_values = 100;
constexpr std::size_t max_query_bytes = 1000;
constexpr std::chrono::seconds max_completion_wait{2};
constexpr std::size_t cancellation_check_interval = 256;

/// Writes a path as a value of `{+path}`. Escapes characters that have a meaning in URIs, and invalid UTF-8, so that the
/// template expands to the listed URI.
std::string encode_template_value(std::string_view path) {
  if (!json::is_utf8(path)) return percent_encode(path, true);
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special =
        byte < 0x20 || byte == 0x7F || std::string_view("%?#[]!$&'()*+,;=:@").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return value;
}

std::string decode_or_keep(const std::string& text) { return percent_decode(text).value_or(text); }

struct candidate {
  match::rank rank{};
  std::string value{};

  bool operator<(const candidate& other) const noexcept {
    return rank < other.rank || (!(other.rank < rank) && value < other.value);
  }
};

/// Compares typed text with candidates after folding width, case and normal form.
class folded_matcher {
 public:
  explicit folded_matcher(std::string_view query) : matcher_(language::fold(query.substr(0, max_query_bytes))) {}

  [[nodiscard]] std::optional<match::match_quality> operator()(std::string_view value) {
    return matcher_(language::fold(value));
  }

 private:
  match::matcher matcher_;
};

complete_result to_completion(match::top_k<candidate> best) {
  complete_result answer;
  answer.total = best.count();
  for (auto& entry : best.extract_sorted()) answer.values.push_back(std::move(entry.value));
  answer.has_more = *answer.total > answer.values.size();
  return answer;
}

}  // namespace

result<complete_result> docs_provider::complete_paths(const snapshot& snapshot, const complete_request& request) const {
  const auto now = std::chrono::system_clock::now();
  folded_matcher matcher(decode_or_keep(request.value));
  match::top_k<candidate> best(max_values);
  const bool wants_pages = request.uri_template.ends_with("{?pages}");
  std::size_t visited = 0;
  for (const auto& [path, document] : snapshot.documents()) {
    if (++visited % cancellation_check_interval == 0) {
      HONDANA_TRY(check_cancellation(request));
    }
    if (wants_pages && (!document.type.render_format || (document.properties && document.properties->page_count == 0)))
      continue;
    if (!is_visible(request.caller, document.entry)) continue;
    auto quality = matcher(display_path(path));
    if (!quality && is_readable(request.caller, document.entry)) {
      // Titles match, too, but rank behind all matches of a name.
      quality = matcher(document.entry.title);
      if (quality) quality->tier = match::match_tier::subsequence;
      if (quality) quality->cost += 1000;
    }
    if (!quality) continue;
    best.add({{*quality, document.rating.priority, match::recency_of(document.entry.annotations.last_modified, now)},
              encode_template_value(path)});
  }
  return to_completion(std::move(best));
}

result<complete_result> docs_provider::complete_sections(const snapshot& snapshot, const complete_request& request) {
  address target;
  target.path = decode_or_keep(request.context_value("path"));
  const auto document = find(snapshot, target, request.caller);
  if (!document || !is_readable(request.caller, (*document)->entry)) return complete_result();
  // Completion must be quick. The rendering continues in the background, and the next request finds it.
  auto context = static_cast<const request_context&>(request);
  if ((*document)->type.render_format)
    context.deadline = std::min(context.deadline, monotonic_clock::now() + max_completion_wait);
  const auto text = set_->text_of(**document, context);
  if (!text) return complete_result();  // an unreadable document has no values to suggest
  if (request.argument == "pages") {
    std::vector<std::string> pages;
    for (std::size_t i = 1; i <= std::min((*text)->properties->page_count, max_page_values); ++i)
      pages.push_back(std::to_string(i));
    return complete_from(request.value, pages);
  }
  folded_matcher matcher(request.value);
  match::top_k<candidate> best(max_values);
  std::set<std::string_view> headings;
  double order = 1;
  for (const auto& section : (*text)->outline.sections) {
    order *= 0.999999;  // prefers the first of equal ones
    if (section.heading.empty() || !headings.insert(section.heading).second) continue;
    const auto quality = matcher(section.heading);
    if (!quality) continue;
    auto rank = *quality;
    if (request.value.empty()) rank.length = 0;
    best.add({{rank, order, match::recency::older}, section.heading});
  }
  return to_completion(std::move(best));
}

result<complete_result> docs_provider::complete(const complete_request& request) {
  if (request.argument == "format") {
    const bool is_set_template = request.uri_template == uri_prefix(set_->set_name()) + "/{?format}";
    const std::vector<std::string> document_formats{"outline", "json", "original"};
    return complete_from(request.value, is_set_template ? std::vector<std::string>{"json", "outline"} : document_formats);
  }
  if (request.argument != "path" && request.argument != "section" && request.argument != "pages") return complete_result();
  HONDANA_TRY(const auto snapshot, current(request));
  return request.argument == "path" ? complete_paths(*snapshot, request) : complete_sections(*snapshot, request);
}

namespace {

constexpr std::uint64_t max_document_bytes = 1ull << 30;
constexpr std::int64_t max_calls = 1024;
constexpr std::uint64_t min_render_memory = 64ull << 20;

/// Makes the name of a set from a folder's name.
std::string make_slug(const std::string& path) {
  auto slug = ascii::slugify(std::filesystem::path(path).filename().string());
  return slug.empty() ? "docs" : slug;
}

result<set_options> read_options(config::section& section) {
  config::table_reader reader(section);
  set_options options;
  const auto path = reader.string("path");
  if (!path) reader.add_error_at("path", "missing; name the folder that holds the documents");
  options.path = reader.absolute_path("path", path.value_or("."));
  const auto name = reader.slug("name");
  options.name = name ? *name : make_slug(options.path);
  options.include = reader.string_or_strings("include");
  options.exclude = reader.string_or_strings("exclude");
  reader.bytes("max_bytes", 1, max_document_bytes, options.max_bytes);
  reader.boolean("ignore_files", options.ignore_files);
  reader.boolean("originals", options.originals);
  reader.boolean("redact", options.redact);
  reader.boolean("watch", options.watch);
  bool renders = true;
  reader.boolean("render", renders);
  std::optional<std::int64_t> seconds;
  reader.integer("render_timeout_s", 1, 600, seconds);
  if (seconds) options.render_limits.max_time = std::chrono::seconds(*seconds);
  // The server reads this key, too. Here it limits how many calls may wait for renderings.
  reader.integer("max_concurrency", 1, max_calls, options.max_calls);
  options.max_concurrent_renders = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 4);
  reader.bytes("max_render_memory_bytes", min_render_memory, 1ull << 36, options.render_limits.max_memory_bytes);
  HONDANA_TRY(reader.finish());
  if (renders) options.renderer = rendering::renderer::make({}, options.max_concurrent_renders);
  options.own_files = section.own_files();
  return options;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto options, read_options(section));
  options.log = log;
  auto opened = docs_provider::open(std::move(options));
  if (opened) return std::shared_ptr<provider>(std::move(*opened));
  auto error = std::move(opened.error());
  if (error.code == errc::invalid_argument) error = section.error_at("include", error.public_text);
  return tl::unexpected(std::move(error));
}

}  // namespace hondana::docs
