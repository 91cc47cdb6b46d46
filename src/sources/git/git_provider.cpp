/// The provider of `git://` resources: its calls, its documentation, and its configuration.
#include "sources/git/git_provider.hpp"

#include <algorithm>
#include <compare>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "os/disk/descriptor_limit.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config/section.hpp"
#include "sources/git/access_filter.hpp"
#include "sources/git/completion.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/mapped_packs.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/resource_entries.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {

scheme_documentation describe() {
  return {
      "git",
      "Git repositories: history, files at any revision, and differences.",
      {{"repository", "A repository as a whole: branch, state, remotes, latest commits."},
       {"branches", "Local and remote branches."},
       {"changes", "Uncommitted changes in the work tree."},
       {"log", "Commits, newest first, page by page; next is the URI of the next page."},
       {"stashes", "Stashed changes."},
       {"tags", "Tags."},
       {"tree", "A folder at a revision; its children are trees and blobs."},
       {"worktrees", "The main work tree and those linked to it."},
       {"commit", "A commit with its patch against its first parent."},
       {"blob",
        "A file at a revision. Text is converted to UTF-8 (dev.hondana/encoding names the original encoding); other contents "
        "are blobs."},
       {"link", "A symbolic link at a revision; reading it returns its target."},
       {"submodule", "A commit of another repository; reading it returns its id and URL."},
       {"diff", "Differences between two revisions."},
       {"blame", "Which commit wrote each line of a file."},
       {"history", "Commits that changed a file, across renames."}},
      {{"git://REPO/overview", "The repository REPO: the name of its folder, converted to a-z, 0-9 and -."},
       {"git://REPO/branches", "Branches. All URIs except blob accept format=json; the default is Markdown."},
       {"git://REPO/tags", "Tags."},
       {"git://REPO/log?ref=REV&path=PATH&author=PATTERN&grep=PATTERN&since=DATE&until=DATE&limit=N",
        "Commits reachable from REV (default HEAD) that match all filters. A date without a time is its first second in since, "
        "and its last in until."},
       {"git://REPO/commit/REV",
        "A commit. REV is an id or at least its first four digits, a branch (feature%2Fx), a tag or HEAD, optionally followed "
        "by ~N and ^N. The patch contains only files that the caller may read as git://REPO/blob/ID/PATH."},
       {"git://REPO/tree/REV/PATH",
        "A folder at a revision; without a path, the top folder. Files with names of credential files and the server's own "
        "files are left out."},
       {"git://REPO/blob/REV/PATH?lines=10-40", "A file at a revision; lines=10- goes to the end, lines=10 is one line."},
       {"git://REPO/diff/FROM..TO?path=PATH", "Differences from FROM to TO, or only those in one file or folder."},
       {"git://REPO/blame/REV/PATH?lines=10-40", "Which commit wrote which line."},
       {"git://REPO/history/REV/PATH?limit=N", "The commits that changed a file."},
       {"git://REPO/stashes", "Stashes."},
       {"git://REPO/worktrees", "Work trees."},
       {"git://REPO/changes?path=PATH", "Staged, unstaged and untracked changes in the work tree."}},
  };
}

namespace {

constexpr std::int64_t deepest = 8;

/// The paths under a key for one and a key for several.
result<std::vector<std::string>> paths_of(config::section& from, std::string_view one, std::string_view several) {
  HONDANA_TRY(const auto single, from.string(one));
  auto all = from.strings(several);
  if (!all) return all;
  if (single) all->push_back(*single);
  for (auto& path : *all) {
    path = from.path_from(path);
    // The name of a repository is the last name of its path.
    std::error_code problem;
    auto whole = std::filesystem::absolute(path, problem).lexically_normal().string();
    if (problem) return tl::unexpected(from.wrong(one, "cannot be made absolute: " + problem.message()));
    if (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    path = std::move(whole);
  }
  return all;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  git_options options;
  HONDANA_TRY(auto repositories, paths_of(from, "path", "paths"));
  HONDANA_TRY(auto folders, paths_of(from, "root", "roots"));
  if (repositories.empty() && folders.empty()) {
    return tl::unexpected(from.wrong("path", "missing; name a repository, or set root to a folder that contains repositories"));
  }
  HONDANA_TRY(const auto depth, from.integer("depth", 0, deepest));
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  HONDANA_TRY(const auto watch, from.boolean("watch"));
  HONDANA_TRY(from.finish());
  // A linked work tree and its main repository may both be listed.
  options.within = repositories;
  options.repositories = std::move(repositories);
  options.folders = std::move(folders);
  if (depth) options.depth = static_cast<std::size_t>(*depth);
  options.redact = redact.value_or(options.redact);
  options.watch = watch.value_or(options.watch);
  options.keep_back = from.kept_back();
  options.log = log;
  HONDANA_TRY(auto opened, git_provider::open(std::move(options)));
  return std::shared_ptr<provider>(std::move(opened));
}

namespace {

constexpr std::chrono::hours fixed_ttl{24};

tl::unexpected<failure> missing(std::string_view why, std::string private_text = {}) {
  return fail(errc::resource_not_found, std::string(why) + " List the resources to see what is available.",
              std::move(private_text));
}

std::function<bool()> stopper(const call& by) {
  return [&by] { return !still_wanted(by).has_value(); };
}

/// The error when descriptors run out. libgit2 then skips packs and reports their objects as missing, and screening finds no
/// folders.
failure too_many_files() {
  return fail(errc::source_unavailable, "The repository cannot be read now: the server has too many files open. Retry later.")
      .value();
}

/// Whether something may have failed for lack of descriptors. `drops`: `times_dropped` before it began.
bool may_lack_descriptors(std::size_t drops) noexcept {
  return repository::times_dropped() != drops || disk::lacks_descriptors();
}

/// Turns the failure of a call into its error: a cancellation by the deadline becomes timed_out. A handle that cannot read the
/// repository is retired, so that the next call opens another one. If `is_outdated` becomes true, this call does so, too.
failure told(failure why, const call& by, repository::lease& through, bool& is_outdated) {
  if (why.code == errc::cancelled) {
    if (auto wanted = still_wanted(by); !wanted) return std::move(wanted.error());
    return why;
  }
  is_outdated = through.retire_if_outdated();
  if (!is_outdated && why.code == errc::source_unavailable) through.retire();
  return why;
}

/// A reading with the version, the time to live and the text of a rendering.
reading reading_of(rendering made, const address& at, const concealment& hides) {
  reading answer;
  answer.version = std::move(made.version);
  // Entries that an unreadable ignore file excludes may be shown soon.
  const bool is_fixed = made.is_fixed && !hides.ignored().has_unusable();
  // The caller's access rules may change, which must take effect at once.
  answer.ttl = is_fixed && hides.state_of_view().empty() ? std::chrono::milliseconds(fixed_ttl) : made.ttl;
  // Content that is named by whole ids never changes, as long as it may be shown.
  if (is_fixed) answer.valid = hides.ignored().unchanged();
  if (!made.text) return answer;
  const auto entry = entry_of(at);
  content item;
  item.name = entry.name;
  item.title = entry.title;
  item.mimeType = std::move(made.mime_type);
  item.form = made.form;
  item.metadata = std::move(made.facts);
  item.data = std::make_shared<const std::string>(std::move(*made.text));
  answer.contents.push_back(std::move(item));
  return answer;
}

std::vector<std::shared_ptr<repository>> all_of(
    const std::map<std::string, std::shared_ptr<repository>, std::less<>>& by_slug) {
  std::vector<std::shared_ptr<repository>> all;
  all.reserve(by_slug.size());
  for (const auto& [slug, one] : by_slug) all.push_back(one);
  return all;
}

}  // namespace

struct git_provider::target {
  address at;
  std::shared_ptr<repository> of;
  repository::lease handle;
  bool has_work_tree;
};

struct git_provider::attempt {
  const target& what;
  const concealment& hides;
  std::function<bool()> is_stopped;
  bool is_lacking = false;  // set by the call if it left out missing objects
};

template <class Find, class Work>
auto git_provider::answered(const git_options& options, const call& by, const Find& find, const Work& work) {
  using answer = std::invoke_result_t<const Work&, attempt&>;
  const auto once = [&](bool& is_outdated) -> answer {
    const auto drops = repository::times_dropped();
    result<target> what = find();
    if (!what) return tl::unexpected(std::move(what.error()));
    auto& handle = what->handle;
    ignored_paths ignored(handle.get(), what->has_work_tree, stopper(by));
    const concealment hides(options.redact, by.who.view.get(), what->at.repo, what->of->own(), ignored);
    attempt now{*what, hides, stopper(by)};
    answer made = work(now);
    if (handle.is_torn()) return torn();
    const auto& trouble = ignored.trouble();
    const bool is_sound = !trouble && made && !now.is_lacking;
    const bool is_stopped = (trouble && trouble->code == errc::cancelled) || (!made && made.error().code == errc::cancelled);
    if (!is_sound && !is_stopped && may_lack_descriptors(drops)) {
      repository::drop_idle_handles();
      handle.close_afterwards();
      is_outdated = true;
      return tl::unexpected(too_many_files());
    }
    if (trouble) return tl::unexpected(told(*trouble, by, handle, is_outdated));
    if (!made) return tl::unexpected(told(std::move(made.error()), by, handle, is_outdated));
    is_outdated = now.is_lacking && handle.retire_if_outdated();
    return made;
  };
  bool is_outdated = false;
  auto made = once(is_outdated);
  return is_outdated ? once(is_outdated) : std::move(made);
}

result<std::shared_ptr<git_provider>> git_provider::open(git_options from) {
  HONDANA_TRY(ready());
  auto roots = from.within;
  roots.insert(roots.end(), from.folders.begin(), from.folders.end());
  roots.insert(roots.end(), from.repositories.begin(), from.repositories.end());
  std::vector<place> places;
  std::vector<std::string> paths, left_out;
  for (const auto& one : from.repositories) {
    auto found = locate(one, roots);
    if (!found) {
      found.error().public_text = "The repository \"" + one + "\" cannot be served: " + found.error().public_text;
      return tl::unexpected(std::move(found.error()));
    }
    paths.push_back(one);
    places.push_back(std::move(*found));
  }
  for (const auto& folder : from.folders) {
    auto found = discover(folder, roots, from.depth, from.most_repositories + 1, [] { return true; });
    if (found.size() > from.most_repositories) {
      found.erase(found.begin() + static_cast<std::ptrdiff_t>(from.most_repositories), found.end());
      left_out.push_back(folder);
      if (from.log)
        from.log("the folder " + folder + " has more than " + std::to_string(from.most_repositories) +
                 " repositories; the others are left out. Name the folders that contain them");
    }
    for (auto& one : found) {
      if (one.what) {
        const auto is_known = [&](const place& other) { return other.git_folder == one.what->git_folder; };
        if (std::any_of(places.begin(), places.end(), is_known)) continue;
        paths.push_back(one.path);
        places.push_back(std::move(*one.what));
        continue;
      }
      left_out.push_back(one.path);
      if (from.log) from.log("the repository " + one.path + " is left out: " + one.what.error().public_text);
    }
  }
  const auto slugs = slugs_of(paths);
  repositories all;
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto opened = repository::open(slugs[i], places[i], roots, own_files_in(places[i], places, from.keep_back));
    if (opened) {
      if (from.log && paths.size() > 1) from.log("the repository " + paths[i] + " is served as git://" + slugs[i] + "/");
      all.emplace(slugs[i], std::move(*opened));
      continue;
    }
    opened.error().public_text = "The repository \"" + paths[i] + "\" cannot be served: " + opened.error().public_text;
    if (i < from.repositories.size()) return tl::unexpected(std::move(opened.error()));
    left_out.push_back(paths[i]);
    if (from.log) from.log(opened.error().public_text);
  }
  if (all.empty())
    return fail(
        errc::invalid_argument,
        "No git repository to serve was found. Give the path of a repository, or of a folder that contains repositories.");
  return std::shared_ptr<git_provider>(new git_provider(std::move(from), std::move(all), std::move(left_out)));
}

git_provider::git_provider(git_options options, repositories all, std::vector<std::string> left_out)
    : options_(std::move(options)),
      repositories_(std::move(all)),
      left_out_(std::move(left_out)),
      followed_(options_.watch ? std::make_unique<followed>(all_of(repositories_), options_.redact, options_.log) : nullptr) {}

bool git_provider::serves_bare(const std::string& path) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path, problem).string();
  return !problem && std::any_of(repositories_.begin(), repositories_.end(), [&real](const auto& one) {
    const auto at = one.second->where();
    return at.work_tree.empty() && at.git_folder == real;
  });
}

std::string git_provider::name() const { return "git"; }

std::vector<std::string> git_provider::claims() const { return {"git://"}; }

scheme_documentation git_provider::documentation() const { return git::describe(); }

std::vector<resource_template> git_provider::templates() const { return address_templates(); }

bool git_provider::lists_folders() const noexcept { return true; }

hondana::masking git_provider::masking() const noexcept { return options_.redact ? masking::by_source : masking::none; }

void git_provider::watch(std::shared_ptr<change_listener> to) {
  if (followed_) followed_->watch(std::move(to));
}

void git_provider::attach(const std::string& uri) {
  if (followed_) followed_->attach(uri);
}

void git_provider::detach(const std::string& uri) {
  if (followed_) followed_->detach(uri);
}

void git_provider::attach_list() {
  if (followed_) followed_->attach_list();
}

void git_provider::detach_list() {
  if (followed_) followed_->detach_list();
}

hondana::needs git_provider::needs() const {
  std::set<std::string> folders;
  for (const auto& [slug, one] : repositories_) {
    const auto at = one->where();
    folders.insert({at.work_tree, at.git_folder, at.common_folder});
    folders.insert(at.object_folders.begin(), at.object_folders.end());
  }
  folders.erase("");
  hondana::needs all;
  for (const auto& one : folders)
    if (std::none_of(all.folders.begin(), all.folders.end(), [&](const auto& above) { return covers(above.path, one); }))
      all.folders.push_back({one, false});
  return all;
}

hondana::health git_provider::health() const {
  if (left_out_.empty()) return {};
  return {true, std::to_string(left_out_.size()) + " repositories were left out at startup; the log says why"};
}

result<git_provider::target> git_provider::target_in(const std::shared_ptr<repository>& of, address at) {
  const auto with = [&](result<repository::lease> handle) -> result<target> {
    if (!handle) return tl::unexpected(std::move(handle.error()));
    return target{std::move(at), of, std::move(*handle), !of->where().work_tree.empty()};
  };
  const auto drops = repository::times_dropped();
  auto handle = of->take();
  if (handle || handle.error().code == errc::cancelled || !may_lack_descriptors(drops)) return with(std::move(handle));
  repository::drop_idle_handles();
  auto again = of->take();
  if (!again && disk::lacks_descriptors()) return tl::unexpected(too_many_files());
  return with(std::move(again));
}

result<git_provider::target> git_provider::find(const std::string& uri, const call& by, bool is_read) const {
  HONDANA_TRY(auto at, parse_address(uri));
  // A path has several spellings, and access rules are about this one.
  const auto* through = by.who.view.get();
  const auto canonical = uri_of(at);
  const bool is_shown =
      through == nullptr || canonical == uri || (is_read ? through->may_read(canonical) : through->may_see(canonical));
  const auto found = repositories_.find(at.repo);
  if (found == repositories_.end() || !is_shown)
    return missing("Unknown repository " + in_quotes(at.repo) + ", or no such entry in it.", "no such repository, or hidden");
  HONDANA_TRY(still_wanted(by));
  return target_in(found->second, std::move(at));
}

result<list_result> git_provider::list(const list_request& request) {
  list_result page;
  // Starts with the repository that contains the key.
  std::string_view after = request.after;
  const auto* through = request.who.view.get();
  for (const auto& [slug, one] : repositories_) {
    const auto prefix = prefix_of(slug);
    if (!after.empty() && std::is_lt(compare_by_segment(prefix, after)) && !after.starts_with(prefix)) continue;
    HONDANA_TRY(still_wanted(request));
    bool has_commits = true;
    if (const auto handle = one->take()) {
      const auto head = follow_reference(handle->get(), "HEAD");
      git_error_clear();
      has_commits = !head || head->id;
    }
    for (auto& entry : listed_entries(slug, !one->where().work_tree.empty(), has_commits)) {
      if (!after.empty() && std::is_lteq(compare_by_segment(entry.uri, after))) continue;
      if (through != nullptr && !through->may_see(entry.uri)) continue;
      if (page.entries.size() == request.limit) {
        page.resume = page.entries.empty() ? request.after : page.entries.back().uri;
        return page;
      }
      page.entries.push_back(std::move(entry));
    }
  }
  return page;
}

result<reading> git_provider::read(const read_request& request) {
  return answered(
      options_, request, [&] { return find(request.uri, request, true); },
      [&](attempt& now) -> result<reading> {
        HONDANA_TRY(auto made, render({.in = now.what.handle.get(),
                                       .at = now.what.at,
                                       .hides = now.hides,
                                       .max_bytes = request.max_bytes,
                                       .is_stopped = now.is_stopped,
                                       .roots = now.what.of->roots(),
                                       .has_work_tree = now.what.has_work_tree,
                                       .if_version = request.if_version}));
        now.is_lacking = made.is_lacking;
        return reading_of(std::move(made), now.what.at, now.hides);
      });
}

result<resource> git_provider::describe(const describe_request& request) {
  return answered(
      options_, request, [&] { return find(request.uri, request, false); },
      [&](attempt& now) -> result<resource> {
        HONDANA_TRY(auto made, render({.in = now.what.handle.get(),
                                       .at = now.what.at,
                                       .hides = now.hides,
                                       .max_bytes = read_request().max_bytes,
                                       .is_stopped = now.is_stopped,
                                       .roots = now.what.of->roots(),
                                       .has_work_tree = now.what.has_work_tree,
                                       .is_description = true}));
        auto entry = entry_of(now.what.at);
        entry.uri = request.uri;
        entry.kind = made.kind;
        if (now.what.at.what == topic::blob) entry.mimeType = made.mime_type;
        entry.size = made.size;
        entry.version = request.known_version.empty() ? made.version : request.known_version;
        return entry;
      });
}

result<list_result> git_provider::children(const children_request& request) {
  return answered(
      options_, request, [&] { return find(request.uri, request, false); },
      [&](attempt& now) -> result<list_result> {
        if (now.what.at.what != topic::tree)
          return fail(errc::invalid_argument,
                      in_quotes(request.uri, 400) + " is not a folder. Folders are git://REPO/tree/REV/PATH.");
        return child_entries(now.what.handle.get(), now.what.at, now.hides,
                             {.after = request.after, .limit = request.limit, .is_stopped = now.is_stopped});
      });
}

result<complete_result> git_provider::complete(const complete_request& request) {
  completing asked(request);
  if (asked.is_about("repo")) {
    std::vector<std::string> names;
    const auto* through = request.who.view.get();
    for (const auto& [slug, one] : repositories_) {
      const auto entries = listed_entries(slug, true, true);
      if (through == nullptr ||
          std::any_of(entries.begin(), entries.end(), [&](const resource& entry) { return through->may_see(entry.uri); }))
        names.push_back(slug);
    }
    return complete_from(request.value, names);
  }
  const auto found = repositories_.find(request.chosen("repo"));
  if (found == repositories_.end()) return asked.without_repository();
  return answered(
      options_, request, [&] { return target_in(found->second, address{.repo = found->first}); },
      [&](attempt& now) {
        auto values = asked.values(now.what.handle.get(), now.hides, now.is_stopped);
        now.is_lacking = values && values->values.empty();
        return values;
      });
}

}  // namespace hondana::git
