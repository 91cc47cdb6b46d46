/// The provider's calls.
#include "providers/git/git_provider.hpp"

#include <algorithm>
#include <compare>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "model/still_wanted.hpp"
#include "providers/git/completing.hpp"
#include "providers/git/concealment.hpp"
#include "providers/git/descriptors.hpp"
#include "providers/git/entries.hpp"
#include "providers/git/ignored_paths.hpp"
#include "providers/git/library.hpp"
#include "providers/git/named_reference.hpp"
#include "providers/git/own_paths.hpp"
#include "providers/git/quotation.hpp"
#include "providers/git/references.hpp"
#include "providers/git/rendering.hpp"
#include "providers/git/torn_files.hpp"

namespace hondana::git {
namespace {

constexpr std::chrono::hours fixed_ttl{24};

tl::unexpected<failure> missing(std::string_view why, std::string private_text = {}) {
  return fail(errc::resource_not_found, std::string(why) + " List the resources to see what there is.",
              std::move(private_text));
}

std::function<bool()> stopper(const call& by) {
  return [&by] { return !still_wanted(by).has_value(); };
}

/// What is not there for want of descriptors is not told as missing.
failure unless_too_many_files(failure why) {
  if (why.code != errc::cancelled && lacks_descriptors()) {
    why.code = errc::source_unavailable;
    why.public_text = "The repository cannot be read now: the server has too many files open. Ask again later.";
  }
  return why;
}

/// Whoever was stopped by the deadline says that it was cancelled; what cannot be read is looked for anew by the next call, and
/// by this one where packs have changed meanwhile.
failure told(failure why, const call& by, repository::lease& through, bool& is_outdated) {
  why = unless_too_many_files(std::move(why));
  if (why.code == errc::cancelled) {
    if (auto wanted = still_wanted(by); !wanted) return std::move(wanted.error());
    return why;
  }
  is_outdated = through.retire_if_outdated();
  if (!is_outdated && why.code == errc::source_unavailable) through.retire();
  return why;
}

/// Makes a call, and once more where it lacked something and packs have changed since its handle was opened.
template <class F>
auto twice_at_most(const F& call_once) {
  bool is_outdated = false;
  auto made = call_once(is_outdated);
  return is_outdated ? call_once(is_outdated) : std::move(made);
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

result<std::shared_ptr<git_provider>> git_provider::open(git_options from) {
  if (auto works = ready(); !works) return tl::unexpected(std::move(works.error()));
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
        from.log("the repositories below " + folder + " are more than " + std::to_string(from.most_repositories) +
                 "; the others are left out. Name the folders that they are in");
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
      if (from.log && paths.size() > 1) from.log("the repository " + paths[i] + " is git://" + slugs[i] + "/");
      all.emplace(slugs[i], std::move(*opened));
      continue;
    }
    opened.error().public_text = "The repository \"" + paths[i] + "\" cannot be served: " + opened.error().public_text;
    if (i < from.repositories.size()) return tl::unexpected(std::move(opened.error()));
    left_out.push_back(paths[i]);
    if (from.log) from.log(opened.error().public_text);
  }
  if (all.empty())
    return fail(errc::invalid_argument,
                "There is no git repository to serve. Give the path of one, or of a folder above some.");
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
  return {true, std::to_string(left_out_.size()) + " repositories were left out at the start; the log says why"};
}

result<git_provider::target> git_provider::find(const std::string& uri, const call& by, bool is_read) const {
  auto at = parse_address(uri);
  if (!at) return tl::unexpected(std::move(at.error()));
  // A path has other spellings, and rules are about this one.
  const auto* through = by.who.view.get();
  const auto canonical = uri_of(*at);
  const bool is_shown =
      through == nullptr || canonical == uri || (is_read ? through->may_read(canonical) : through->may_see(canonical));
  const auto found = repositories_.find(at->repo);
  if (found == repositories_.end() || !is_shown)
    return missing("There is no repository " + in_quotes(at->repo) + ", or nothing of that in it.",
                   "no such repository, or hidden");
  if (auto wanted = still_wanted(by); !wanted) return tl::unexpected(std::move(wanted.error()));
  auto handle = found->second->take();
  if (!handle) return tl::unexpected(unless_too_many_files(std::move(handle.error())));
  const bool has_work_tree = !found->second->where().work_tree.empty();
  return target{std::move(*at), found->second, std::move(*handle), has_work_tree};
}

result<list_result> git_provider::list(const list_request& request) {
  list_result page;
  // From the repository on that the key is in.
  std::string_view after = request.after;
  const auto* through = request.who.view.get();
  for (const auto& [slug, one] : repositories_) {
    const auto prefix = prefix_of(slug);
    if (!after.empty() && std::is_lt(compare_by_segment(prefix, after)) && !after.starts_with(prefix)) continue;
    if (auto wanted = still_wanted(request); !wanted) return tl::unexpected(std::move(wanted.error()));
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
  return twice_at_most([&](bool& is_outdated) { return read_once(request, is_outdated); });
}

result<reading> git_provider::read_once(const read_request& request, bool& is_outdated) {
  auto what = find(request.uri, request, true);
  if (!what) return tl::unexpected(std::move(what.error()));
  ignored_paths ignored(what->handle.get(), what->has_work_tree, stopper(request));
  const concealment hides(options_.redact, request.who.view.get(), what->at.repo, what->of->own(), ignored);
  auto made = render({.in = what->handle.get(),
                      .at = what->at,
                      .hides = hides,
                      .max_bytes = request.max_bytes,
                      .is_stopped = stopper(request),
                      .roots = what->of->roots(),
                      .has_work_tree = what->has_work_tree,
                      .if_version = request.if_version});
  if (what->handle.is_torn()) return torn();
  if (const auto& why = ignored.trouble()) return tl::unexpected(told(*why, request, what->handle, is_outdated));
  if (!made) return tl::unexpected(told(std::move(made.error()), request, what->handle, is_outdated));
  is_outdated = made->is_lacking && what->handle.retire_if_outdated();
  reading answer;
  answer.version = std::move(made->version);
  // What is left out for an ignore file that cannot be read now may be shown soon.
  const bool is_fixed = made->is_fixed && !ignored.has_unusable();
  answer.ttl = is_fixed ? std::chrono::milliseconds(fixed_ttl) : made->ttl;
  // What is named by whole ids is what it is, as long as it is shown.
  if (is_fixed) answer.valid = ignored.unchanged();
  if (!made->text) return answer;
  const auto entry = entry_of(what->at);
  content item;
  item.name = entry.name;
  item.title = entry.title;
  item.mimeType = std::move(made->mime_type);
  item.form = made->form;
  item.metadata = std::move(made->facts);
  item.data = std::make_shared<const std::string>(std::move(*made->text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<resource> git_provider::describe(const describe_request& request) {
  return twice_at_most([&](bool& is_outdated) { return describe_once(request, is_outdated); });
}

result<resource> git_provider::describe_once(const describe_request& request, bool& is_outdated) {
  auto what = find(request.uri, request, false);
  if (!what) return tl::unexpected(std::move(what.error()));
  ignored_paths ignored(what->handle.get(), what->has_work_tree, stopper(request));
  const concealment hides(options_.redact, request.who.view.get(), what->at.repo, what->of->own(), ignored);
  auto made = render({.in = what->handle.get(),
                      .at = what->at,
                      .hides = hides,
                      .max_bytes = read_request().max_bytes,
                      .is_stopped = stopper(request),
                      .roots = what->of->roots(),
                      .has_work_tree = what->has_work_tree,
                      .is_description = true});
  if (what->handle.is_torn()) return torn();
  if (const auto& why = ignored.trouble()) return tl::unexpected(told(*why, request, what->handle, is_outdated));
  if (!made) return tl::unexpected(told(std::move(made.error()), request, what->handle, is_outdated));
  auto entry = entry_of(what->at);
  entry.uri = request.uri;
  entry.kind = made->kind;
  if (what->at.what == topic::blob) entry.mimeType = made->mime_type;
  entry.size = made->size;
  entry.version = request.known_version.empty() ? made->version : request.known_version;
  return entry;
}

result<list_result> git_provider::children(const children_request& request) {
  return twice_at_most([&](bool& is_outdated) { return children_once(request, is_outdated); });
}

result<list_result> git_provider::children_once(const children_request& request, bool& is_outdated) {
  auto what = find(request.uri, request, false);
  if (!what) return tl::unexpected(std::move(what.error()));
  if (what->at.what != topic::tree)
    return fail(errc::invalid_argument, in_quotes(request.uri, 400) + " is no folder. Folders are git://REPO/tree/REV/PATH.");
  ignored_paths ignored(what->handle.get(), what->has_work_tree, stopper(request));
  const concealment hides(options_.redact, request.who.view.get(), what->at.repo, what->of->own(), ignored);
  const auto is_stopped = stopper(request);
  auto page = child_entries(what->handle.get(), what->at, hides,
                            {.after = request.after, .limit = request.limit, .is_stopped = is_stopped});
  if (what->handle.is_torn()) return torn();
  if (const auto& why = ignored.trouble()) return tl::unexpected(told(*why, request, what->handle, is_outdated));
  if (!page) return tl::unexpected(told(std::move(page.error()), request, what->handle, is_outdated));
  return page;
}

result<complete_result> git_provider::complete(const complete_request& request) {
  return twice_at_most([&](bool& is_outdated) { return complete_once(request, is_outdated); });
}

result<complete_result> git_provider::complete_once(const complete_request& request, bool& is_outdated) {
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
  const auto found = repositories_.find(asked.chosen("repo"));
  if (found == repositories_.end()) return asked.without_repository();
  auto handle = found->second->take();
  if (!handle) return tl::unexpected(unless_too_many_files(std::move(handle.error())));
  ignored_paths ignored(handle->get(), !found->second->where().work_tree.empty(), stopper(request));
  const concealment hides(options_.redact, request.who.view.get(), found->first, found->second->own(), ignored);
  auto values = asked.values(handle->get(), hides, stopper(request));
  if (handle->is_torn()) return torn();
  if (const auto& why = ignored.trouble()) return tl::unexpected(told(*why, request, *handle, is_outdated));
  if (!values) return tl::unexpected(told(std::move(values.error()), request, *handle, is_outdated));
  is_outdated = values->values.empty() && handle->retire_if_outdated();
  return values;
}

}  // namespace hondana::git
