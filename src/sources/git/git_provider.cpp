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
#include "sources/git/completion.hpp"
#include "sources/git/ignored_paths.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/mapped_packs.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/resource_entries.hpp"
#include "sources/git/text_escaping.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

scheme_documentation describe_scheme() {
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

constexpr std::int64_t max_search_depth = 8;

/// The paths under `single_key`, a string, and `list_key`, a list.
result<std::vector<std::string>> read_paths(config::section& section, std::string_view single_key, std::string_view list_key) {
  HONDANA_TRY(const auto single, section.string(single_key));
  auto paths = section.strings(list_key);
  if (!paths) return paths;
  if (single) paths->push_back(*single);
  for (auto& path : *paths) {
    path = section.resolve_path(path);
    // The name of a repository is the last name of its path.
    std::error_code error;
    auto absolute = std::filesystem::absolute(path, error).lexically_normal().string();
    if (error) return tl::unexpected(section.error_at(single_key, "cannot be made absolute: " + error.message()));
    if (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
    path = std::move(absolute);
  }
  return paths;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  git_options options;
  HONDANA_TRY(auto repositories, read_paths(section, "path", "paths"));
  HONDANA_TRY(auto folders, read_paths(section, "root", "roots"));
  if (repositories.empty() && folders.empty()) {
    return tl::unexpected(
        section.error_at("path", "missing; name a repository, or set root to a folder that contains repositories"));
  }
  HONDANA_TRY(const auto depth, section.integer("max_depth", 0, max_search_depth));
  HONDANA_TRY(const auto redact, section.boolean("redact"));
  HONDANA_TRY(const auto watch, section.boolean("watch"));
  HONDANA_TRY(section.finish());
  // A linked work tree and its main repository may both be listed.
  options.pointer_roots = repositories;
  options.repositories = std::move(repositories);
  options.folders = std::move(folders);
  if (depth) options.max_depth = static_cast<std::size_t>(*depth);
  options.redact = redact.value_or(options.redact);
  options.watch = watch.value_or(options.watch);
  options.protected_paths = section.own_files();
  options.log = log;
  HONDANA_TRY(auto opened, git_provider::open(std::move(options)));
  return std::shared_ptr<provider>(std::move(opened));
}

namespace {

constexpr std::chrono::hours fixed_ttl{24};

tl::unexpected<failure> missing_error(std::string_view reason, std::string private_text = {}) {
  return fail(errc::resource_not_found, std::string(reason) + " List the resources to see what is available.",
              std::move(private_text));
}

std::function<bool()> make_stop_check(const request_context& context) {
  return [&context] { return !check_cancellation(context).has_value(); };
}

/// The error when descriptors run out. libgit2 then skips packs and reports their objects as missing, and screening finds no
/// folders.
failure too_many_files_error() {
  return fail(errc::source_unavailable, "The repository cannot be read now: the server has too many files open. Retry later.")
      .value();
}

/// Whether something may have failed for lack of descriptors. `drops_before`: `idle_drop_count` before it began.
bool may_lack_descriptors(std::size_t drops_before) noexcept {
  return repository::idle_drop_count() != drops_before || disk::lacks_descriptors();
}

/// Turns the failure of a call into its error: a cancellation by the deadline becomes timed_out. A handle that cannot read the
/// repository is retired, so that the next call opens another one. If `is_outdated` becomes true, this call does so, too.
failure finish_error(failure error, const request_context& context, repository::lease& lease, bool& is_outdated) {
  if (error.code == errc::cancelled) {
    if (auto status = check_cancellation(context); !status) return std::move(status.error());
    return error;
  }
  is_outdated = lease.retire_if_outdated();
  if (!is_outdated && error.code == errc::source_unavailable) lease.retire();
  return error;
}

/// A read result with the version, the time to live and the text of a rendering.
read_result make_read_result(rendering rendered, const address& target, const visibility_filter& visibility) {
  read_result response;
  response.version = std::move(rendered.version);
  // Entries that an unreadable ignore file excludes may be shown soon.
  const bool is_fixed = rendered.is_fixed && !visibility.ignored().has_unusable();
  // The caller's access rules may change, which must take effect at once.
  response.ttl = is_fixed && visibility.filter_key().empty() ? std::chrono::milliseconds(fixed_ttl) : rendered.ttl;
  // Content that is named by whole ids never changes, as long as it may be shown.
  if (is_fixed) response.validator = visibility.ignored().make_validator();
  if (!rendered.text) return response;
  const auto entry = make_resource(target);
  resource_content item;
  item.name = entry.name;
  item.title = entry.title;
  item.mime_type = std::move(rendered.mime_type);
  item.kind = rendered.data_kind;
  item.metadata = std::move(rendered.metadata);
  item.data = std::make_shared<const std::string>(std::move(*rendered.text));
  response.contents.push_back(std::move(item));
  return response;
}

std::vector<std::shared_ptr<repository>> list_repositories(
    const std::map<std::string, std::shared_ptr<repository>, std::less<>>& by_slug) {
  std::vector<std::shared_ptr<repository>> listed;
  listed.reserve(by_slug.size());
  for (const auto& [slug, served] : by_slug) listed.push_back(served);
  return listed;
}

}  // namespace

struct git_provider::resolved_call {
  address target;
  std::shared_ptr<repository> served;
  repository::lease handle;
  bool has_work_tree;
};

struct git_provider::attempt {
  const resolved_call& call;
  const visibility_filter& visibility;
  std::function<bool()> is_stopped;
  bool is_incomplete = false;  // set by the call if it left out missing objects
};

template <class Find, class Work>
auto git_provider::run_call(const git_options& options, const request_context& context, const Find& find,
                            const Work& operation) {
  using response_type = std::invoke_result_t<const Work&, attempt&>;
  const auto try_once = [&](bool& is_outdated) -> response_type {
    const auto drops_before = repository::idle_drop_count();
    result<resolved_call> call = find();
    if (!call) return tl::unexpected(std::move(call.error()));
    auto& handle = call->handle;
    ignored_paths ignored(handle.get(), call->has_work_tree, make_stop_check(context));
    const visibility_filter visibility(options.redact, context.caller.access_filter.get(), call->target.repo,
                                       call->served->own_files(), ignored);
    attempt current{*call, visibility, make_stop_check(context)};
    response_type response = operation(current);
    if (handle.is_truncated()) return truncated_error();
    const auto& error = ignored.error();
    const bool is_complete = !error && response && !current.is_incomplete;
    const bool is_cancelled =
        (error && error->code == errc::cancelled) || (!response && response.error().code == errc::cancelled);
    if (!is_complete && !is_cancelled && may_lack_descriptors(drops_before)) {
      repository::drop_idle_handles();
      handle.discard();
      is_outdated = true;
      return tl::unexpected(too_many_files_error());
    }
    if (error) return tl::unexpected(finish_error(*error, context, handle, is_outdated));
    if (!response) return tl::unexpected(finish_error(std::move(response.error()), context, handle, is_outdated));
    is_outdated = current.is_incomplete && handle.retire_if_outdated();
    return response;
  };
  bool is_outdated = false;
  auto final_response = try_once(is_outdated);
  return is_outdated ? try_once(is_outdated) : std::move(final_response);
}

result<std::shared_ptr<git_provider>> git_provider::open(git_options options) {
  HONDANA_TRY(initialize_libgit2());
  auto roots = options.pointer_roots;
  roots.insert(roots.end(), options.folders.begin(), options.folders.end());
  roots.insert(roots.end(), options.repositories.begin(), options.repositories.end());
  std::vector<repository_location> locations;
  std::vector<std::string> paths, omitted;
  for (const auto& path : options.repositories) {
    auto location = locate(path, roots);
    if (!location) {
      location.error().public_text = "The repository \"" + path + "\" cannot be served: " + location.error().public_text;
      return tl::unexpected(std::move(location.error()));
    }
    paths.push_back(path);
    locations.push_back(std::move(*location));
  }
  for (const auto& folder : options.folders) {
    auto discovered = discover(folder, roots, options.max_depth, options.max_repositories + 1, [] { return true; });
    if (discovered.size() > options.max_repositories) {
      discovered.erase(discovered.begin() + static_cast<std::ptrdiff_t>(options.max_repositories), discovered.end());
      omitted.push_back(folder);
      if (options.log)
        options.log("the folder " + folder + " has more than " + std::to_string(options.max_repositories) +
                    " repositories; the others are left out. Name the folders that contain them");
    }
    for (auto& candidate : discovered) {
      if (candidate.location) {
        const auto is_known = [&](const repository_location& other) {
          return other.git_folder == candidate.location->git_folder;
        };
        if (std::any_of(locations.begin(), locations.end(), is_known)) continue;
        paths.push_back(candidate.path);
        locations.push_back(std::move(*candidate.location));
        continue;
      }
      omitted.push_back(candidate.path);
      if (options.log)
        options.log("the repository " + candidate.path + " is left out: " + candidate.location.error().public_text);
    }
  }
  const auto slugs = unique_slugs(paths);
  repositories served;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    auto opened =
        repository::open(slugs[i], locations[i], roots, find_own_files(locations[i], locations, options.protected_paths));
    if (opened) {
      if (options.log && paths.size() > 1) options.log("the repository " + paths[i] + " is served as git://" + slugs[i] + "/");
      served.emplace(slugs[i], std::move(*opened));
      continue;
    }
    opened.error().public_text = "The repository \"" + paths[i] + "\" cannot be served: " + opened.error().public_text;
    if (i < options.repositories.size()) return tl::unexpected(std::move(opened.error()));
    omitted.push_back(paths[i]);
    if (options.log) options.log(opened.error().public_text);
  }
  if (served.empty())
    return fail(
        errc::invalid_argument,
        "No git repository to serve was found. Give the path of a repository, or of a folder that contains repositories.");
  return std::shared_ptr<git_provider>(new git_provider(std::move(options), std::move(served), std::move(omitted)));
}

git_provider::git_provider(git_options options, repositories served, std::vector<std::string> omitted)
    : options_(std::move(options)),
      repositories_(std::move(served)),
      omitted_(std::move(omitted)),
      watcher_(options_.watch
                   ? std::make_unique<repository_watcher>(list_repositories(repositories_), options_.redact, options_.log)
                   : nullptr) {}

bool git_provider::serves_bare(const std::string& path) const {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error).string();
  return !error && std::any_of(repositories_.begin(), repositories_.end(), [&real](const auto& entry) {
    const auto location = entry.second->location();
    return location.work_tree.empty() && location.git_folder == real;
  });
}

std::string git_provider::name() const { return "git"; }

std::vector<std::string> git_provider::claims() const { return {"git://"}; }

scheme_documentation git_provider::documentation() const { return git::describe_scheme(); }

std::vector<resource_template> git_provider::templates() const { return address_templates(); }

provider_traits git_provider::traits() const noexcept {
  return {.masking = options_.redact ? secret_masking::by_source : secret_masking::none};
}

void git_provider::set_listener(std::shared_ptr<change_listener> listener) {
  if (watcher_) watcher_->set_listener(std::move(listener));
}

void git_provider::watch(const std::string& uri) {
  if (watcher_) watcher_->watch(uri);
}

void git_provider::unwatch(const std::string& uri) {
  if (watcher_) watcher_->unwatch(uri);
}

void git_provider::watch_list() {
  if (watcher_) watcher_->watch_list();
}

void git_provider::unwatch_list() {
  if (watcher_) watcher_->unwatch_list();
}

hondana::system_requirements git_provider::requirements() const {
  std::set<std::string> folders;
  for (const auto& [slug, served] : repositories_) {
    const auto location = served->location();
    folders.insert({location.work_tree, location.git_folder, location.common_folder});
    folders.insert(location.object_folders.begin(), location.object_folders.end());
  }
  folders.erase("");
  hondana::system_requirements needed;
  for (const auto& folder : folders)
    if (std::none_of(needed.folders.begin(), needed.folders.end(),
                     [&](const auto& parent) { return uri_covers(parent.path, folder); }))
      needed.folders.push_back({folder, false});
  return needed;
}

hondana::provider_health git_provider::health() const {
  if (omitted_.empty()) return {};
  return {true, std::to_string(omitted_.size()) + " repositories were left out at startup; the log says why"};
}

result<git_provider::resolved_call> git_provider::resolve_in(const std::shared_ptr<repository>& served, address target) {
  const auto make_call = [&](result<repository::lease> handle) -> result<resolved_call> {
    if (!handle) return tl::unexpected(std::move(handle.error()));
    return resolved_call{std::move(target), served, std::move(*handle), !served->location().work_tree.empty()};
  };
  const auto drops_before = repository::idle_drop_count();
  auto handle = served->acquire();
  if (handle || handle.error().code == errc::cancelled || !may_lack_descriptors(drops_before))
    return make_call(std::move(handle));
  repository::drop_idle_handles();
  auto retried = served->acquire();
  if (!retried && disk::lacks_descriptors()) return tl::unexpected(too_many_files_error());
  return make_call(std::move(retried));
}

result<git_provider::resolved_call> git_provider::resolve(const std::string& uri, const request_context& context,
                                                          bool is_read) const {
  HONDANA_TRY(auto target, parse_address(uri));
  // A path has several spellings, and access rules are about this one.
  const auto* filter = context.caller.access_filter.get();
  const auto canonical = uri_of(target);
  const bool is_visible =
      filter == nullptr || canonical == uri || (is_read ? filter->may_read(canonical) : filter->may_see(canonical));
  const auto match = repositories_.find(target.repo);
  if (match == repositories_.end() || !is_visible)
    return missing_error("Unknown repository " + quote(target.repo) + ", or no such entry in it.",
                         "no such repository, or hidden");
  HONDANA_TRY(check_cancellation(context));
  return resolve_in(match->second, std::move(target));
}

result<list_result> git_provider::list(const list_request& request) {
  list_result page;
  // Starts with the repository that contains the key.
  std::string_view after_key = request.after_key;
  const auto* filter = request.caller.access_filter.get();
  for (const auto& [slug, served] : repositories_) {
    const auto prefix = uri_prefix(slug);
    if (!after_key.empty() && std::is_lt(compare_by_segment(prefix, after_key)) && !after_key.starts_with(prefix)) continue;
    HONDANA_TRY(check_cancellation(request));
    bool has_commits = true;
    if (const auto handle = served->acquire()) {
      const auto head = resolve_reference(handle->get(), "HEAD");
      git_error_clear();
      has_commits = !head || head->id;
    }
    for (auto& entry : listed_entries(slug, !served->location().work_tree.empty(), has_commits)) {
      if (!after_key.empty() && std::is_lteq(compare_by_segment(entry.uri, after_key))) continue;
      if (filter != nullptr && !filter->may_see(entry.uri)) continue;
      if (page.entries.size() == request.limit) {
        page.next_key = page.entries.empty() ? request.after_key : page.entries.back().uri;
        return page;
      }
      page.entries.push_back(std::move(entry));
    }
  }
  return page;
}

result<read_result> git_provider::read(const read_request& request) {
  return run_call(
      options_, request, [&] { return resolve(request.uri, request, true); },
      [&](attempt& current) -> result<read_result> {
        HONDANA_TRY(auto rendered, render({.repo = current.call.handle.get(),
                                           .target = current.call.target,
                                           .visibility = current.visibility,
                                           .max_bytes = request.max_bytes,
                                           .is_stopped = current.is_stopped,
                                           .roots = current.call.served->roots(),
                                           .has_work_tree = current.call.has_work_tree,
                                           .if_version = request.cached_version}));
        current.is_incomplete = rendered.is_incomplete;
        return make_read_result(std::move(rendered), current.call.target, current.visibility);
      });
}

result<resource> git_provider::describe(const describe_request& request) {
  return run_call(
      options_, request, [&] { return resolve(request.uri, request, false); },
      [&](attempt& current) -> result<resource> {
        HONDANA_TRY(auto rendered, render({.repo = current.call.handle.get(),
                                           .target = current.call.target,
                                           .visibility = current.visibility,
                                           .max_bytes = read_request().max_bytes,
                                           .is_stopped = current.is_stopped,
                                           .roots = current.call.served->roots(),
                                           .has_work_tree = current.call.has_work_tree,
                                           .is_description = true}));
        auto entry = make_resource(current.call.target);
        entry.uri = request.uri;
        entry.kind = rendered.kind;
        if (current.call.target.kind == resource_kind::blob) entry.mime_type = rendered.mime_type;
        entry.size = rendered.size;
        entry.version = request.known_version.value_or(rendered.version);
        return entry;
      });
}

result<list_result> git_provider::children(const children_request& request) {
  return run_call(
      options_, request, [&] { return resolve(request.uri, request, false); },
      [&](attempt& current) -> result<list_result> {
        if (current.call.target.kind != resource_kind::tree)
          return fail(errc::invalid_argument,
                      quote(request.uri, 400) + " is not a folder. Folders are git://REPO/tree/REV/PATH.");
        return child_entries(current.call.handle.get(), current.call.target, current.visibility,
                             {.after_key = request.after_key, .limit = request.limit, .is_stopped = current.is_stopped});
      });
}

result<complete_result> git_provider::complete(const complete_request& request) {
  completer completion(request);
  if (completion.is_argument("repo")) {
    std::vector<std::string> names;
    const auto* filter = request.caller.access_filter.get();
    for (const auto& [slug, served] : repositories_) {
      const auto entries = listed_entries(slug, true, true);
      if (filter == nullptr ||
          std::any_of(entries.begin(), entries.end(), [&](const resource& entry) { return filter->may_see(entry.uri); }))
        names.push_back(slug);
    }
    return complete_from(request.value, names);
  }
  const auto match = repositories_.find(request.context_value("repo"));
  if (match == repositories_.end()) return completion.static_values();
  return run_call(
      options_, request, [&] { return resolve_in(match->second, address{.repo = match->first}); },
      [&](attempt& current) {
        auto values = completion.values(current.call.handle.get(), current.visibility, current.is_stopped);
        current.is_incomplete = values && values->values.empty();
        return values;
      });
}

}  // namespace hondana::git
