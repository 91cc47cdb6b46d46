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
bool gdrive_provider::may_follow(const scene& in, const item& from, const caller& who) {
  if (!who.view) return true;
  const auto* now = &from;
  for (std::size_t hops = 0; now->is_shortcut() && hops < most_hops; ++hops) {
    const auto* next = in.find(now->target);
    // The target is no longer served, so its last entry decides. A target that was never listed has none.
    if (const auto* last = next == nullptr ? in.ended(now->target) : nullptr) return is_readable(who, *last);
    if (next == nullptr) return true;
    const auto entry = in.entries().find(next->uri);
    if (!entry || !is_readable(who, *entry)) return false;
    now = next->what.get();
  }
  return !now->is_shortcut();
}

bool gdrive_provider::is_shown(const scene& in, const resource& entry, const caller& who) {
  if (!is_seen(who, entry)) return false;
  const auto* shortcut = who.view && entry.kind == "shortcut" ? in.at(entry.uri) : nullptr;
  return shortcut == nullptr || may_follow(in, *shortcut->what, who);
}

std::vector<resource> gdrive_provider::wholes_of(const scene& in, const item& what, const std::string& uri) const {
  std::vector<resource> all;
  auto listed = uri.empty() ? std::nullopt : in.entries().find(uri);
  const auto* known = in.find(what.id);
  const bool is_where_it_was =
      listed && known != nullptr && known->what->parent == what.parent && known->what->name == what.name;
  all.push_back(listed ? std::move(*listed) : entry_of(what, how_.scheme + ":///" + what.id, {}));
  const auto place = is_where_it_was ? std::string() : in.would_be_at(what);
  if (!place.empty()) all.push_back(entry_of(what, place, {}));
  return all;
}

result<resource> gdrive_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto what, address_of(how_.scheme, request.uri));
  HONDANA_TRY(const auto known, ready(request));
  const auto& in = *known;
  if (auto entry = in.entries().find(request.uri)) {
    const auto* listed = request.who.view ? in.at(request.uri) : nullptr;
    if (listed != nullptr && !may_follow(in, *listed->what, request.who)) return nothing_there();
    return std::move(*entry);
  }
  const bool is_file = what.what == address::place::id || what.what == address::place::path;
  if (!is_file) {
    auto content = what.what == address::place::top ? [&] {
      read_request inside;
      static_cast<call&>(inside) = static_cast<const call&>(request);
      return read_folder(in, {}, inside);
    }()
                                                    : read_view(in, what.what, request.who);
    if (!content) return tl::unexpected(std::move(content.error()));
    resource entry;
    entry.uri = request.uri;
    entry.name = content->contents.front().name.empty() ? how_.name : content->contents.front().name;
    entry.mimeType = content->contents.front().mimeType;
    entry.kind = what.what == address::place::top ? "folder" : "list";
    entry.version = std::move(content->version);
    return entry;
  }
  HONDANA_TRY(const auto one, find(in, what, request));
  if (!may_follow(in, *one.what, request.who)) return nothing_there();
  auto entry = entry_of(*one.what, request.uri, {});
  const auto listed = one.uri.empty() ? std::nullopt : in.entries().find(one.uri);
  if (listed) {
    entry = *listed;
    entry.uri = request.uri;
  }
  const auto wholes = request.who.view ? wholes_of(in, *one.what, one.uri) : std::vector<resource>();
  const auto* placed = in.find(one.what->id);
  if (what.sheet) {
    if (placed == nullptr || std::find(placed->sheets.begin(), placed->sheets.end(), *what.sheet) == placed->sheets.end())
      return fail(errc::resource_not_found,
                  "The spreadsheet has no sheet of this name, or has not been read yet. Read it first.");
    auto base = entry;
    base.uri = request.uri.substr(0, request.uri.find('?'));
    entry = entry_of_sheet(base, *what.sheet);
    entry.uri = request.uri;
    if (!may_read_sheet(request.who, wholes, *what.sheet)) return nothing_there();
  }
  if (what.is_original) {
    if (!may_read_original(request.who, wholes)) return nothing_there();
    entry.mimeType = one.what->mime_type;
    entry.size = one.what->size;
  }
  return entry;
}

namespace {

constexpr std::size_t most_values = 100;
constexpr std::size_t longest_typed = 1000;

/// A URI path as a value of `{+path}`: readable text, with escapes only for characters that have a meaning in URIs.
std::string as_value(std::string_view path) {
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
  match::rank how{};
  std::string value{};

  bool operator<(const candidate_value& other) const noexcept {
    return how < other.how || (!(other.how < how) && value < other.value);
  }
};

complete_result answer_from(match::best<candidate_value> best) {
  complete_result answer;
  answer.total = best.count();
  for (auto& one : best.take()) answer.values.push_back(std::move(one.value));
  answer.has_more = *answer.total > answer.values.size();
  return answer;
}

}  // namespace

complete_result gdrive_provider::complete_paths(const scene& in, const complete_request& request) const {
  const auto drive = request.chosen("drive");
  const auto prefix = how_.scheme + "://" + (drive.empty() ? std::string(my_drive) : drive) + '/';
  const bool wants_sheets = request.uriTemplate.ends_with("{?sheet}");
  match::matcher fits(language::folded(percent_decode(request.value).value_or(request.value).substr(0, longest_typed)));
  match::best<candidate_value> best(most_values);
  const auto now = std::chrono::system_clock::now();
  for (auto at = in.entries().upper_bound(key_before(prefix)); at < in.entries().size(); ++at) {
    const auto entry = in.entries().at(at);
    if (!entry.uri.starts_with(prefix)) break;
    if (entry.kind == "sheet" || !is_shown(in, entry, request.who)) continue;
    auto value = as_value(std::string_view(entry.uri).substr(prefix.size()));
    const auto how = fits(language::folded(value));
    if (!how) continue;
    auto priority = entry.annotations.priority.value_or(0.5);
    if (wants_sheets && entry.kind == "spreadsheet") priority = 1;
    best.add({{*how, priority, match::recency_of(entry.annotations.lastModified, now)}, std::move(value)});
  }
  return answer_from(std::move(best));
}

complete_result gdrive_provider::complete_ids(const scene& in, const complete_request& request) const {
  match::matcher fits(language::folded(request.value.substr(0, longest_typed)));
  match::best<candidate_value> best(most_values);
  const auto now = std::chrono::system_clock::now();
  for (const auto* one : in.latest(in.files(), [](const item&) { return true; })) {
    const auto entry = in.entries().find(one->uri);
    if (!entry || !is_shown(in, *entry, request.who)) continue;
    // Users type names, programs type ids.
    auto how = fits(language::folded(entry->name));
    if (one->what->id.starts_with(request.value)) how = match::fit();
    if (!how) continue;
    best.add({{*how, entry->annotations.priority.value_or(0.5), match::recency_of(entry->annotations.lastModified, now)},
              one->what->id});
  }
  return answer_from(std::move(best));
}

result<complete_result> gdrive_provider::complete(const complete_request& request) {
  if (request.argument == "format") return complete_from(request.value, {"original"});
  HONDANA_TRY(const auto now, ready(request));
  const auto& in = *now;
  if (request.argument == "drive") {
    std::vector<std::string> slugs;
    for (const auto& [slug, name] : in.drives()) {
      const auto entry = in.entries().find(how_.scheme + "://" + slug);
      if (entry && is_seen(request.who, *entry)) slugs.push_back(slug);
    }
    return complete_from(request.value, slugs);
  }
  if (request.argument == "path") return complete_paths(in, request);
  if (request.argument == "id") return complete_ids(in, request);
  if (request.argument != "sheet") return complete_result();
  const auto uri = canonical_uri(how_.scheme + "://" + request.chosen("drive") + '/' + request.chosen("path"));
  // Parameters are only completed for the listed URI; everything else is escaped.
  const auto* one = uri ? in.at(listed_spelling(*uri)) : nullptr;
  if (one == nullptr) return complete_result();
  const auto entry = in.entries().find(one->uri);
  if (!entry || !is_readable(request.who, *entry)) return complete_result();
  return complete_from(request.value, one->sheets);
}

namespace {

fetch_options fetching_with(const options& how, std::shared_ptr<kept> where) {
  fetch_options made;
  made.from = how.from;
  made.where = std::move(where);
  made.renderer = how.renderer;
  made.rendered = how.rendered;
  made.most_bytes = how.max_bytes;
  made.log = how.log;
  return made;
}

follower_options following_with(const options& how, std::shared_ptr<kept> where) {
  follower_options made;
  made.name = how.name;
  made.scheme = how.scheme;
  made.from = how.from;
  made.where = std::move(where);
  made.wanted = how.drives;
  made.has_shared_drives = how.has_shared_drives;
  made.shortest = how.shortest;
  made.longest = how.longest;
  made.most_files = how.most_files;
  made.who = how.who;
  if (!how.notices.empty()) made.notices = how.notices + "/notify/" + how.name;
  made.log = how.log;
  return made;
}

bool comes_before(const resource& a, const resource& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); }

/// Pages a small list of entries.
list_result page_from(std::vector<resource> all, const children_request& request) {
  std::sort(all.begin(), all.end(), comes_before);
  list_result page;
  for (auto& one : all) {
    if (std::is_lteq(compare_by_segment(one.uri, request.after))) continue;
    if (page.entries.size() == request.limit) {
      page.resume = page.entries.back().uri;
      break;
    }
    page.entries.push_back(std::move(one));
  }
  return page;
}

resource entry_of_view(const std::string& scheme, std::string_view name, std::string title) {
  resource entry;
  entry.uri = scheme + ":///" + std::string(name);
  entry.name = name;
  entry.title = std::move(title);
  entry.kind = "list";
  entry.mimeType = "text/markdown";
  return entry;
}

/// A decoded path for display, with the drive in front. For a URI by id: the name and the id.
std::string path_shown(std::string_view uri, const std::string& name) {
  const auto path = uri.substr(uri.find("://") + 3);
  if (path.starts_with('/')) return shown(name) + " (" + std::string(path.substr(1)) + ')';
  const auto decoded = percent_decode(path);
  return decoded ? shown(*decoded) : std::string(path);
}

}  // namespace

tl::unexpected<failure> nothing_there() { return fail(errc::resource_not_found, "File not found in this Drive."); }

bool is_seen(const caller& who, const resource& entry) { return !who.view || who.view->may_see_entry(entry); }

bool is_readable(const caller& who, const resource& entry) {
  return !who.view || (who.view->may_see_entry(entry) && who.view->may_read_entry(entry));
}

gdrive_provider::gdrive_provider(options how, std::shared_ptr<kept> where)
    : how_(std::move(how)),
      where_(std::move(where)),
      fetcher_(fetching_with(how_, where_)),
      follower_(following_with(how_, where_)) {}

gdrive_provider::~gdrive_provider() { follower_.end(); }

result<std::shared_ptr<gdrive_provider>> gdrive_provider::open(options how) {
  HONDANA_TRY(auto where, kept::make(how.store, how.most_kept_content, how.log));
  return std::shared_ptr<gdrive_provider>(new gdrive_provider(std::move(how), std::move(where)));
}

scheme_documentation gdrive_provider::documentation() const {
  auto document = gdrive::describe();
  if (how_.scheme == document.scheme) return document;
  for (auto& one : document.forms) one.uri_template.replace(0, document.scheme.size(), how_.scheme);
  document.scheme = how_.scheme;
  return document;
}

result<gdrive_provider::shared_scene> gdrive_provider::ready(const call& by) {
  follower_.start();
  auto known = follower_.ready(by, how_.first_wait);
  // Callers see access_denied as "not found", which would hide the remedy. An example is a file with credentials that others
  // can read.
  if (!known && known.error().code == errc::access_denied) known.error().code = errc::source_unavailable;
  return known;
}

result<list_result> gdrive_provider::list(const list_request& request) {
  const auto now = ready(request);
  if (!now) {
    // A failure does not break the list of all sources. Health, folders and reads report it, as with a mounted server. The
    // index gets the error, since it would otherwise remove the files.
    const bool goes_on = now.error().code != errc::cancelled && !model::is_index(request.who);
    if (goes_on) return list_result{};
    return tl::unexpected(now.error());
  }
  auto page = (*now)->entries().page(request);
  // A shortcut is omitted from the flat list if its target is listed at its own place.
  std::erase_if(page.entries, [&](const resource& one) {
    const auto* placed = one.kind == "shortcut" ? (*now)->at(one.uri) : nullptr;
    return placed != nullptr && ((*now)->leads_to_listed(*placed->what) || !may_follow(**now, *placed->what, request.who));
  });
  return page;
}

std::vector<resource> gdrive_provider::top(const scene& in) const {
  std::vector<resource> all{entry_of_view(how_.scheme, "starred", "Starred"), entry_of_view(how_.scheme, "recent", "Recent")};
  for (const auto& [slug, name] : in.drives()) all.push_back(entry_of_drive(how_.scheme + "://" + slug, name));
  return all;
}

result<list_result> gdrive_provider::children_of(const scene& in, const std::string& uri,
                                                 const children_request& request) const {
  if (uri.starts_with(how_.scheme + ":///")) {
    // The folder is too deep for URIs by path.
    const auto* folder = in.at(uri);
    std::vector<resource> all;
    const auto inside = folder == nullptr
                            ? std::vector<const placed*>()
                            : in.latest(in.files(), [&](const item& one) { return one.parent == folder->what->id; });
    for (const auto* one : inside) {
      if (auto entry = in.entries().find(one->uri); entry && may_follow(in, *one->what, request.who))
        all.push_back(std::move(*entry));
    }
    return page_from(std::move(all), request);
  }
  auto asked = request;
  asked.uri = uri;
  auto page = in.entries().children(asked);
  std::erase_if(page.entries, [&](const resource& one) { return one.kind == "sheet" || !is_shown(in, one, request.who); });
  return page;
}

result<list_result> gdrive_provider::children(const children_request& request) {
  HONDANA_TRY(const auto what, address_of(how_.scheme, request.uri));
  HONDANA_TRY(const auto now, ready(request));
  const auto& in = *now;
  if (what.what == address::place::top) return page_from(top(in), request);
  if (what.what == address::place::starred || what.what == address::place::recent)
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  const bool is_drive = what.what == address::place::path && what.uri.find('/', how_.scheme.size() + 3) == std::string::npos;
  if (is_drive) {
    if (!in.entries().find(what.uri)) return fail(errc::resource_not_found, "Drive not found.");
    return children_of(in, what.uri, request);
  }
  HONDANA_TRY(const auto one, find(in, what, request));
  HONDANA_TRY(const auto file, followed(in, one, request));
  if (!file.what->is_folder() || what.sheet || what.is_original)
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  if (file.uri.empty()) return fail(errc::resource_not_found, "This folder is not in a served drive or folder.");
  return children_of(in, file.uri, request);
}

std::vector<resource_template> gdrive_provider::templates() const { return templates_of(how_.scheme, how_.name); }

result<void> gdrive_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  const auto now = ready(request);
  auto usable = how_.credentials ? how_.credentials() : result<void>();
  if (!now) {
    auto why = usable ? now.error() : usable.error();
    // A request that Drive does not accept is not an error of the configuration.
    if (usable && why.code == errc::invalid_argument) why.code = errc::source_unavailable;
    return tl::unexpected(std::move(why));
  }
  const auto time = std::chrono::system_clock::now();
  // Access rules may name these, although they are not listed.
  for (const auto* list : {"starred", "recent"}) each({list, how_.scheme + ":///" + list, true, "a list of files"});
  for (const auto* one : (*now)->latest((*now)->files(), [](const item&) { return true; })) {
    const auto worth = weight_of(*one->what, one->links, time);
    auto priority = std::to_string(worth.priority);
    priority.resize(std::min(priority.size(), std::size_t{4}));
    each({path_shown(one->uri, one->what->name), one->uri, true, "priority " + priority + ": " + worth.reason});
  }
  if (const auto count = (*now)->unplaced(); count > 0)
    each({std::to_string(count) + " files", {}, false, "they are in drives or folders that are not served"});
  if (auto why = follower_.words_for_left_out(); !why.empty()) each({"all other files", {}, false, std::move(why)});
  if (!usable) return usable;
  if (auto wrong = follower_.misfit(); !wrong.empty()) return fail(errc::invalid_argument, how_.name + ": " + std::move(wrong));
  return {};
}

void gdrive_provider::watch(std::shared_ptr<change_listener> to) { follower_.tell_to(spellings_->telling(std::move(to))); }

void gdrive_provider::attach(const std::string& uri) {
  spellings_->add(uri);
  follower_.start();
}

void gdrive_provider::detach(const std::string& uri) { spellings_->remove(uri); }

void gdrive_provider::attach_list() { follower_.start(); }

hondana::needs gdrive_provider::needs() const {
  hondana::needs all;
  if (!how_.store.empty()) all.folders.push_back({how_.store.substr(0, how_.store.rfind('/')), true});
  all.folders.push_back({disk::spool::folder(), true});
  for (const auto& path : how_.private_folders) all.folders.push_back({path, false});
  all.sockets = how_.from->places();
  all.sockets.insert(all.sockets.end(), how_.places.begin(), how_.places.end());
  std::sort(all.sockets.begin(), all.sockets.end());
  all.sockets.erase(std::unique(all.sockets.begin(), all.sockets.end()), all.sockets.end());
  if (!all.sockets.empty() && all.sockets.front() == "*:*") all.sockets.resize(1);
  if (!how_.renderer) return all;
  for (const auto& command : how_.renderer->commands()) {
    if (command.empty() || !command.front().starts_with('/')) continue;
    const bool is_known = std::find(all.programs.begin(), all.programs.end(), command.front()) != all.programs.end();
    if (!is_known) all.programs.push_back(command.front());
  }
  return all;
}

}  // namespace hondana::gdrive
