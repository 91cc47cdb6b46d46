/// The provider's calls that need no contents.
#include "sources/gdrive/provider.hpp"

#include <algorithm>
#include <compare>

#include <hondana/uri.hpp>

#include "os/disk/spool.hpp"
#include "protocol/model/index_caller.hpp"
#include "sources/gdrive/describe.hpp"
#include "sources/gdrive/naming.hpp"
#include "sources/gdrive/weighing.hpp"

namespace hondana::gdrive {
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

/// A page of entries that are few.
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

/// A path as people write it, with the drive in front; of what has none, its name and id.
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
  // Such as of a file with credentials that others can read: peers would be told "not found", and nothing of what to do.
  if (!known && known.error().code == errc::access_denied) known.error().code = errc::source_unavailable;
  return known;
}

result<list_result> gdrive_provider::list(const list_request& request) {
  const auto now = ready(request);
  if (!now) {
    // Lists of other sources go on without this one, as without a mounted server; its health, its folders and reads say why.
    // The index must know, since what is not listed is forgotten there.
    const bool goes_on = now.error().code != errc::cancelled && !model::is_index(request.who);
    if (goes_on) return list_result{};
    return tl::unexpected(now.error());
  }
  auto page = (*now)->entries().page(request);
  // What a shortcut leads to is listed in its own place, and once is enough for whoever reads everything.
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
    // It lies too deep for URIs by path.
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
    // What Drive does not take of our requests is nobody's setting.
    if (usable && why.code == errc::invalid_argument) why.code = errc::source_unavailable;
    return tl::unexpected(std::move(why));
  }
  const auto time = std::chrono::system_clock::now();
  // Rules may be about these, too, though they are not listed.
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
