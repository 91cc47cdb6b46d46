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
#include "sources/files/completion.hpp"
#include "sources/files/description.hpp"
#include "sources/files/folder_content.hpp"
#include "sources/files/folder_walk.hpp"
#include "sources/files/freshness.hpp"
#include "sources/files/media_type.hpp"
#include "sources/files/resource_entry.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::files {
namespace {

result<role> role_of(const config::section& rule, std::string_view text) {
  if (text == "user") return role::user;
  if (text == "assistant") return role::assistant;
  return tl::unexpected(rule.wrong("audience", "expected \"user\" or \"assistant\""));
}

result<priority_rule> read_rule(config::section& from) {
  priority_rule rule;
  auto pattern = from.string("pattern");
  if (!pattern) return tl::unexpected(std::move(pattern.error()));
  if (!*pattern) return tl::unexpected(from.wrong("pattern", "missing; use the syntax of .gitignore"));
  rule.pattern = std::move(**pattern);
  HONDANA_TRY(auto priority, from.number("priority", 0.0, 1.0));
  rule.priority = priority;
  auto audience = from.strings("audience");
  if (!audience) return tl::unexpected(std::move(audience.error()));
  for (const auto& one : *audience) {
    HONDANA_TRY(auto who, role_of(from, one));
    rule.audience.push_back(who);
  }
  HONDANA_TRY(from.finish());
  return rule;
}

/// Reads the options that apply to every root of the table.
result<root_options> read_root(config::section& from) {
  root_options root;
  root.kept_back = from.kept_back();
  HONDANA_TRY(const auto hidden, from.boolean("hidden"));
  root.show_hidden = hidden.value_or(root.show_hidden);
  HONDANA_TRY(const auto obey, from.boolean("ignore_files"));
  root.obey_ignore_files = obey.value_or(root.obey_ignore_files);
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  root.redact = redact.value_or(root.redact);
  HONDANA_TRY(auto allow, from.strings("allow"));
  root.allow = std::move(allow);
  HONDANA_TRY(auto exclude, from.strings("exclude"));
  root.exclude = std::move(exclude);
  auto rules = from.sections("rule");
  if (!rules) return tl::unexpected(std::move(rules.error()));
  for (auto& one : *rules) {
    HONDANA_TRY(auto rule, read_rule(one));
    root.priorities.push_back(std::move(rule));
  }
  return root;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  options made;
  made.log = log;
  HONDANA_TRY(auto common, read_root(from));
  const auto path = from.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = from.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(from.wrong("path", "missing; name the folder to serve"));
  for (const auto& one : *paths) {
    auto root = common;
    root.path = from.path_from(one);
    made.roots.push_back(std::move(root));
  }
  HONDANA_TRY(const auto budget, from.bytes("folder_budget"));
  made.folder_budget = budget.value_or(made.folder_budget);
  HONDANA_TRY(const auto watches, from.boolean("watch"));
  made.watches = watches.value_or(made.watches);
  HONDANA_TRY(from.finish());
  HONDANA_TRY(auto opened, files_provider::open(std::move(made)));
  return std::shared_ptr<provider>(std::move(opened));
}

namespace {

/// How long a list waits until it includes pending changes.
constexpr std::chrono::seconds longest_catch_up{2};

std::string template_of(const root& of) {
  return of.uri() + (of.uri().ends_with('/') ? "{+path}" : "/{+path}") + "{?lines,bytes}";
}

std::string_view name_of_special(mode_t mode) noexcept {
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Whether the requested path itself is a link, and not only below one.
bool is_link(const located& found) {
  for (std::size_t i = 0; i < found.links.size(); ++i)
    if (found.links[i] == found.spellings[i]) return true;
  return false;
}

/// Whether a link in a list leads to a target that the caller may not see.
bool leads_to_hidden(const block& in, std::size_t index, const call& by) {
  if (!by.who.view || !S_ISLNK(in.at(index).mode)) return false;
  const auto path = in.path(index);
  const auto target = in.of().find(path, &by);
  return target && !in.of().is_visible(path, *target, by.who);
}

/// Resolves a path for a caller. A target that the access filter hides, or does not allow to read, fails like one that does not
/// exist.
result<located> look_up(const root& of, std::string_view path, const call& by, const std::string& asked_uri, bool is_read) {
  auto found = of.find(path, &by);
  HONDANA_TRY(still_wanted(by));
  if (!found) return tl::unexpected(failure_of(found.error(), asked_uri));
  const bool is_shown = is_read ? of.is_readable(path, *found, by.who) : of.is_visible(path, *found, by.who);
  if (!is_shown) {
    return tl::unexpected(failure_of({obstacle::missing, 0, "access rules hide it from the caller"}, asked_uri));
  }
  return std::move(*found);
}

bool is_described(const std::vector<place>& places) {
  return std::all_of(places.begin(), places.end(), [](const place& one) { return one.in->descriptions() != nullptr; });
}

/// Forwards a walk to a survey.
class surveyor final : public walk_listener {
 public:
  surveyor(const call& by, const std::function<void(const survey_item&)>& each) : by_(by), each_(each) {}

  bool served(const root& of, std::string_view path, const struct stat&) override {
    each_({of.name_of(path), of.uri_of(path), true, {}});
    return goes_on();
  }
  void left_out(const root& of, std::string_view path, const examined& why) override {
    each_({of.name_of(path), {}, false, why.reason()});
  }
  void trouble(const root& of, std::string_view path, const std::string& what) override {
    each_({of.name_of(path), {}, false, what});
  }

 private:
  bool goes_on() const { return !by_.stop.stop_requested() && monotonic_clock::now() < by_.deadline; }

  const call& by_;
  const std::function<void(const survey_item&)>& each_;
};

}  // namespace

result<std::shared_ptr<files_provider>> files_provider::open(options from) {
  if (from.roots.empty()) return fail(errc::invalid_argument, "No folder to serve was given. Give the path of one.");
  root_list roots;
  for (const auto& one : from.roots) {
    HONDANA_TRY(auto opened, root::open(one, from));
    roots.push_back(std::move(opened));
  }
  std::sort(roots.begin(), roots.end(),
            [](const auto& a, const auto& b) { return compare_by_segment(a->uri(), b->uri()) == std::strong_ordering::less; });
  for (std::size_t i = 1; i < roots.size(); ++i) {
    const auto& above = roots[i - 1]->path();
    const auto& below = roots[i]->path();
    if (!covers(roots[i - 1]->uri(), roots[i]->uri())) continue;
    return fail(errc::invalid_argument, above == below ? "The folder \"" + above + "\" is served twice. Remove one of the two."
                                                       : "The folder \"" + below + "\" lies within \"" + above +
                                                             "\", which is also served. Remove one of the two.");
  }
  return std::shared_ptr<files_provider>(new files_provider(std::move(from), std::move(roots)));
}

files_provider::files_provider(options from, root_list roots) : options_(std::move(from)), roots_(std::move(roots)) {
  struct pair {
    std::weak_ptr<indexer> lists;
    std::weak_ptr<watching> changes;
  };
  const auto both = std::make_shared<pair>();
  watching::ears of_changes;
  of_changes.changed = [both](const auto& of, const std::string& path, bool may_be_names) {
    if (const auto there = both->lists.lock()) there->changed(of, path, may_be_names);
  };
  of_changes.stirred = [both] {
    if (const auto there = both->lists.lock()) there->stir();
  };
  of_changes.lost = [both] {
    if (const auto there = both->lists.lock()) there->refresh();
  };
  of_changes.title_of = [both](std::string_view uri) {
    const auto there = both->lists.lock();
    return there ? there->title_of(uri) : std::string();
  };
  indexer::ears of_lists;
  of_lists.entering = [both](const root& of, const std::string& path) {
    if (const auto there = both->changes.lock()) there->cover(of, path);
  };
  of_lists.names_changed = [both] {
    if (const auto there = both->changes.lock()) there->names_changed();
  };
  of_lists.is_watched = [both] {
    const auto there = both->changes.lock();
    return there && there->is_complete();
  };
  watching_ = std::make_shared<watching>(roots_, options_, std::move(of_changes));
  indexer_ = std::make_shared<indexer>(roots_, options_, std::move(of_lists));
  both->lists = indexer_;
  both->changes = watching_;
}

void files_provider::refresh() { indexer_->refresh(); }

void files_provider::watch(std::shared_ptr<change_listener> to) { watching_->tell(std::move(to)); }

void files_provider::attach(const std::string& uri) {
  auto of = root_of(uri);
  auto path = of ? of->path_of(uri) : std::nullopt;
  if (!path) return;  // no file can have this name
  watching_->attach(uri, std::move(of), std::move(*path));
  indexer_->begin();  // its walk has the folders watched
}

void files_provider::detach(const std::string& uri) { watching_->detach(uri); }

void files_provider::attach_list() {
  if (options_.watches) indexer_->begin_to_tell();
}

std::string files_provider::name() const { return "files"; }

std::vector<std::string> files_provider::claims() const {
  std::vector<std::string> uris;
  for (const auto& one : roots_) uris.push_back(one->uri());
  return uris;
}

scheme_documentation files_provider::documentation() const { return files::describe(); }

std::shared_ptr<const root> files_provider::root_of(std::string_view uri) const {
  const auto found = std::find_if(roots_.begin(), roots_.end(), [uri](const auto& one) { return covers(one->uri(), uri); });
  if (found == roots_.end()) return nullptr;
  watching_->follow(**found);
  return *found;
}

result<list_result> files_provider::list(const list_request& request) {
  // Taken before the file system is read.
  const auto stirs = indexer_->stirs();
  watching_->follow();
  const auto until = monotonic_clock::now() + longest_catch_up;
  watching_->catch_up(request, until);
  HONDANA_TRY(const auto listed, indexer_->current(request, until));
  auto page = listed->page(request.after, request.limit, request);
  if (!page) return tl::unexpected(std::move(page.error()));
  indexer_->await_descriptions(page->places, request);
  bool is_settled = is_described(page->places);
  list_result answer;
  answer.entries.reserve(page->places.size());
  for (const auto& one : page->places) {
    if (leads_to_hidden(*one.in, one.index, request)) continue;
    const auto& entry = answer.entries.emplace_back(entry_of(*one.in, one.index));
    // A file that changed too recently has no version yet, but will have one soon.
    is_settled = is_settled && !(entry.version.empty() && S_ISREG(one.in->at(one.index).mode));
  }
  answer.resume = std::move(page->resume);
  if (is_settled && indexer_->is_calm_since(stirs, *listed)) {
    answer.valid = std::make_shared<const unchanged>(watching_->still(), indexer_->stir_count(), stirs);
  }
  return answer;
}

/// A file, a folder, or a part of a file.
struct files_provider::target {
  std::shared_ptr<const root> of;
  std::string path;
  located place;
  std::optional<range> part;
  std::shared_ptr<const validity> valid;  // made before the file system is read; null: unchanged is not provable

  [[nodiscard]] bool is_folder() const noexcept { return S_ISDIR(place.facts.st_mode); }
};

result<files_provider::target> files_provider::target_of(const std::string& asked, const std::string& asked_uri, const call& by,
                                                         bool is_read) const {
  const auto missing = [&asked_uri](std::string why) {
    return tl::unexpected(failure_of({obstacle::missing, 0, std::move(why)}, asked_uri));
  };
  const auto parts = split_uri(asked);
  if (parts.fragment) return missing("it has a fragment");
  const auto uri = std::string_view(asked).substr(0, asked.find('?'));
  const auto of = root_of(uri);
  if (of == nullptr) return missing("it is not below a root");
  auto path = of->path_of(uri);
  if (!path) return missing("no file can have that name");
  auto valid = is_read ? watching_->vouch(*of, *path) : nullptr;
  HONDANA_TRY(auto found, look_up(*of, *path, by, asked_uri, is_read));
  // Parsed only now, so that an error about the query does not reveal that a hidden file exists.
  HONDANA_TRY(auto part, parse_range(parts.query.value_or(std::string_view())));
  const auto mode = found.facts.st_mode;
  if (S_ISDIR(mode)) {
    if (part)
      return fail(errc::invalid_argument,
                  "The parameters \"lines\" and \"bytes\" are for files; " + asked_uri + " is a folder.");
  } else if (uri.ends_with('/')) {
    return missing("it is not a folder");
  } else if (!S_ISREG(mode)) {
    return fail(errc::invalid_argument, asked_uri + " is " + std::string(name_of_special(mode)) +
                                            ", which has no content to read. Only regular files and folders can be read.");
  }
  // A link may lead through folders that are not watched, and a file may be written to by another hard link.
  if (!found.links.empty() || found.path != *path || found.facts.st_nlink != 1) valid.reset();
  return target{of, std::move(*path), std::move(found), part, std::move(valid)};
}

result<reading> files_provider::read(const read_request& request) {
  HONDANA_TRY(const auto what, target_of(request.uri, request.asked_uri, request, true));
  if (what.is_folder()) return read_folder(*what.of, what.place, options_.folder_budget, request, room_);
  auto found = read_file(*what.of, what.place, request, what.part);
  if (!found) return found;
  found->valid = what.valid;
  // Only a client that comes back gets its folders watched, and only if watching can succeed for this file.
  const bool is_plain = what.place.links.empty() && what.place.path == what.path && what.place.facts.st_nlink == 1;
  if (!found->valid && is_plain && request.if_version) watching_->watch_way_to(*what.of, what.path);
  return found;
}

result<resource> files_provider::describe(const describe_request& request) {
  const auto looked_at = disk::wall_clock();
  const auto what = target_of(request.uri, request.uri, request, false);
  if (!what) return tl::unexpected(what.error());
  auto entry = entry_of(*what->of, what->path, what->place.facts, looked_at);
  // The title may come from the target of a link.
  if (what->of->is_readable(what->path, what->place, request.who)) describe_entry(entry, *what->of, what->path, what->place);
  // Listed as a link, so that access rules about links apply here, too. The other fields are those of the target.
  if (is_link(what->place)) entry.kind = kind_of(S_IFLNK);
  if (what->part) {
    entry.uri = request.uri;
    entry.size.reset();
  }
  if (!request.known_version.empty()) {
    entry.version = request.known_version;
  } else if (entry.version.empty()) {
    HONDANA_TRY(auto version, version_of_content(*what, request));
    entry.version = std::move(version);
  }
  return entry;
}

/// The version that a read would return if the entry has none: for a folder, or for a file that has just changed.
result<std::string> files_provider::version_of_content(const target& what, const describe_request& request) {
  constexpr off_t most_read = 1 << 20;
  const read_request whole{static_cast<const call&>(request), request.uri, request.uri, {}, {}};
  if (what.is_folder()) {
    return read_folder(*what.of, what.place, options_.folder_budget, whole, room_).map([](reading found) {
      return std::move(found.version);
    });
  }
  // No read ever returns this version, so no content is ever taken for unmodified because of it.
  auto passing = "~" + version_of(disk::stamp_of(what.place.facts));
  if (what.place.facts.st_size > most_read) return passing;
  auto file = what.of->below()->open_file(what.place);
  if (!file) return tl::unexpected(failure_of(refusal_of(file.error()), request.uri));
  auto read =
      read_content(std::make_shared<open_file>(std::move(*file)), {}, whole, room_, what.of->masking_of(what.place.path));
  if (read) return std::move(read->version);
  if (read.error().code == errc::content_changed) return passing;
  return tl::unexpected(std::move(read.error()));
}

result<reading> files_provider::read_file(const root& of, const located& what, const read_request& request,
                                          const std::optional<range>& part) {
  if (request.if_version) {
    const auto state = disk::stamp_of(what.facts);
    if (!is_racy(state, disk::wall_clock()) && version_of(state) == *request.if_version)
      return reading{{}, *request.if_version};
  }
  auto file = of.below()->open_file(what);
  if (!file) return tl::unexpected(failure_of(refusal_of(file.error()), request.asked_uri));
  const auto opened = std::make_shared<open_file>(std::move(*file));
  HONDANA_TRY(auto read, read_content(opened, part, request, room_, of.masking_of(what.path)));
  const auto name = std::string_view(what.path).substr(what.path.rfind('/') + 1);
  content item;
  item.name = of.name_of(what.path);
  item.mimeType = agreed_type(name, read.front, read.form);
  label(item, name, read.front);
  const bool is_front_whole = read.front.size() < head_bytes;
  if (read.form != content_form::blob) item.title = files::describe(item.mimeType, read.front, is_front_whole).title;
  item.form = read.form;
  item.is_checked = read.is_checked;
  item.data = std::move(read.data);
  item.metadata = secrets::facts_of(read.masked);
  reading answer;
  answer.contents.push_back(std::move(item));
  answer.version = std::move(read.version);
  answer.is_racy = read.is_racy;
  return answer;
}

result<list_result> files_provider::children(const children_request& request) {
  const auto of = root_of(request.uri);
  const auto path = of != nullptr ? of->path_of(request.uri) : std::nullopt;
  if (!path) return tl::unexpected(failure_of({obstacle::missing, 0, "it is not below a root"}, request.uri));
  HONDANA_TRY(const auto found, look_up(*of, *path, request, request.uri, false));
  if (!S_ISDIR(found.facts.st_mode)) return fail(errc::invalid_argument, request.uri + " is not a folder.");
  return list_children(*of, found, request);
}

std::vector<resource_template> files_provider::templates() const {
  std::vector<resource_template> offered;
  for (const auto& one : roots_) {
    resource_template entry;
    entry.uriTemplate = template_of(*one);
    entry.name = one->name_of({});
    entry.title = "Files in " + entry.name;
    entry.description = "A file or folder by its path below " + entry.name +
                        ", or a part of a file: lines=10-40 counts from 1, bytes=0-4095 from 0, both ends included.";
    one->weights().weigh({}, true, entry.annotations);
    offered.push_back(std::move(entry));
  }
  return offered;
}

result<complete_result> files_provider::complete(const complete_request& request) {
  const auto of =
      std::find_if(roots_.begin(), roots_.end(), [&](const auto& one) { return template_of(*one) == request.uriTemplate; });
  if (of == roots_.end()) return fail(errc::invalid_argument, "No such template: " + request.uriTemplate);
  watching_->follow(**of);
  if (request.argument == "path") {
    const auto listed = indexer_->current(request, monotonic_clock::now() + longest_catch_up);
    const bool is_late = !listed && (listed.error().code == errc::cancelled || listed.error().code == errc::timed_out);
    if (is_late) return tl::unexpected(listed.error());
    return complete_path(**of, listed ? listed->get() : nullptr, request.value, request);  // without a list: the folder itself
  }
  const auto path = request.chosen("path");
  if (path.empty()) return complete_result{{}, 0, false};
  return complete_range(**of, path, request.argument == "lines", request.value, request);
}

result<void> files_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  surveyor listener(request, each);
  for (const auto& one : roots_) {
    if (walk(*one, {options_.max_depth, options_.max_entries}, listener)) continue;
    if (request.stop.stop_requested()) return fail(errc::cancelled, "The survey was cancelled.");
    return fail(errc::timed_out, "The deadline passed before everything was checked.");
  }
  return {};
}

hondana::needs files_provider::needs() const {
  hondana::needs all;
  for (const auto& one : roots_) all.folders.push_back({one->path(), false});
  return all;
}

hondana::masking files_provider::masking() const noexcept {
  const auto& roots = options_.roots;
  const bool masks = std::any_of(roots.begin(), roots.end(), [](const root_options& one) { return one.redact; });
  return masks ? masking::by_source : masking::none;
}

hondana::health files_provider::health() const {
  for (const auto& one : roots_) {
    watching_->follow(*one);
    if (one->is_barred()) return {false, "the folder " + one->path() + " was replaced by another, which the sandbox blocks"};
    if (one->is_gone()) return {false, "the folder " + one->path() + " is gone"};
  }
  return indexer_->state_of_health();
}

scheme_documentation describe() {
  return {"file",
          "Files and folders below the served roots, as they are on disk.",
          {{"file", "A regular file: text if all of it is UTF-8, otherwise a blob."},
           {"folder",
            "A folder. Reading it returns its children's URIs, one per line, then the text files directly in it, up to "
            "folder_budget."},
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
