/// One served folder: its URIs, path lookup, and access checks.
#include "sources/files/root.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/uri/uri_syntax.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/opened_folder.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/files/open_file.hpp"
#include "sources/files/resource_entry.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {
namespace {

/// Whether the result of a lookup must also be checked by its own entry. If its own URI was requested, the server checks that
/// entry.
bool needs_entry_check(std::string_view requested_path, const disk::resolved_path& resolved, const caller_info& caller) {
  return caller.access_filter->uses_entries() && resolved.path != requested_path;
}

resource make_current_entry(const served_root& root, const disk::resolved_path& resolved) {
  return make_entry(root, resolved.path, resolved.attributes, disk::wall_clock());
}

tl::unexpected<failure> serve_failure(const std::string& path, const std::string& reason) {
  return fail(errc::source_unavailable, "Cannot serve \"" + path + "\": " + reason);
}

std::string advice_for(int error) {
  const std::string text = std::strerror(error);
  switch (error) {
    case ENOENT:
      return text + ". Give the path of a folder that exists.";
    case ENOTDIR:
      return text + ". Give the path of a folder, such as the one this file is in.";
    case EACCES:
      return text + ". Run hondana as a user with access to the folder, or grant read and search permission.";
    case ELOOP:
      return text + ". The path contains a cycle of links.";
    default:
      return text + ".";
  }
}

/// Matching steps for all decisions of one lookup together.
constexpr std::uint64_t max_steps_per_lookup = 8 * ignore::max_match_steps;

std::string strip_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

rejection make_rejection(const disk::lookup_error& error) {
  switch (error.kind) {
    case disk::lookup_error_kind::missing:
      return {error.kind, error.error, "it does not exist"};
    case disk::lookup_error_kind::outside:
      return {error.kind, error.error, "link leaves the root"};
    case disk::lookup_error_kind::loop:
      return {error.kind, error.error, "link leads to itself"};
    case disk::lookup_error_kind::kernel_data:
      return {error.kind, error.error, "kernel file system"};
    case disk::lookup_error_kind::forbidden:
    case disk::lookup_error_kind::system_error:
      break;
  }
  return {error.kind, error.error, std::strerror(error.error)};
}

void throw_if_system_error(const rejection& rejection) {
  if (rejection.kind == disk::lookup_error_kind::system_error)
    throw std::system_error(rejection.error, std::generic_category());
}

served_root::served_root(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable,
                         bool masks_secrets, serving_rules rules, priority_table priorities, log_callback log)
    : path_(std::move(path)),
      uri_("file://" + uri::escape_file_path(path_)),
      dir_(path_, std::move(folder), std::move(root_paths), portable),
      masks_secrets_(masks_secrets),
      rules_(std::move(rules)),
      priorities_(std::move(priorities)),
      ignore_files_(path_, rules_.obeys_ignore_files(), std::move(log)) {}

secrets::masking_policy served_root::masking_policy_of(std::string_view path) const noexcept {
  return masks_secrets_ ? secrets::policy_of(path) : secrets::masking_policy::none;
}

result<std::shared_ptr<served_root>> served_root::open(const root_options& settings, const options& provider_options) {
  if (settings.path.empty())
    return serve_failure(settings.path, "the path is empty. Give the path of a folder, or . for the current one.");
  if (settings.path.find('\0') != std::string::npos) return serve_failure(settings.path, "the path contains a NUL byte.");
  char* const resolved = ::realpath(settings.path.c_str(), nullptr);
  if (resolved == nullptr) return serve_failure(settings.path, advice_for(errno));
  std::string path(resolved);
  std::free(resolved);  // realpath allocates with malloc

  disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return serve_failure(settings.path, advice_for(errno));
  if (!is_servable(folder.get())) {
    if (errno != 0) return serve_failure(settings.path, advice_for(errno));
    return serve_failure(settings.path, "it is on a kernel file system such as /proc or /sys, which cannot be served.");
  }
  HONDANA_TRY(auto rules, serving_rules::make(settings, path));
  HONDANA_TRY(auto priorities, priority_table::make(settings.priorities));

  std::vector<std::string> root_paths{path};
  if (settings.path.front() == '/') {
    auto requested_path = strip_trailing_slashes(settings.path);
    if (requested_path != path) root_paths.push_back(std::move(requested_path));
  }
  auto root = std::shared_ptr<served_root>(new served_root(std::move(path), std::move(folder), std::move(root_paths),
                                                           provider_options.portable, settings.redact, std::move(rules),
                                                           std::move(priorities), provider_options.log));
  if (root->uri().size() > max_uri_bytes / 2) return serve_failure(settings.path, "its URI would be too long.");
  return root;
}

std::string served_root::uri_of(std::string_view path) const {
  if (path.empty()) return uri_;
  std::string uri = uri_;
  if (uri.back() != '/') uri += '/';
  return uri += uri::escape_file_path(path);
}

std::optional<std::string> served_root::path_of(std::string_view uri) const {
  if (!uri_covers(uri_, uri)) return std::nullopt;
  auto remaining = uri.substr(uri_.size());
  if (!uri_.ends_with('/') && remaining.starts_with('/')) remaining.remove_prefix(1);
  if (remaining == "/") return std::nullopt;
  if (remaining.ends_with('/')) remaining.remove_suffix(1);
  std::string path;
  while (!remaining.empty()) {
    const auto slash = std::min(remaining.find('/'), remaining.size());
    const auto name = percent_decode(remaining.substr(0, slash));
    if (!name || name->empty() || name->find('/') != std::string::npos) return std::nullopt;
    if (!path.empty()) path += '/';
    path += *name;
    if (slash == remaining.size()) break;
    remaining.remove_prefix(slash + 1);
    if (remaining.empty()) return std::nullopt;
  }
  return disk::is_plain_path(path) ? std::optional(std::move(path)) : std::nullopt;
}

std::string served_root::name_of(std::string_view path) const {
  if (path.empty()) {
    path = path_;
    if (path.size() > 1) path.remove_prefix(path.rfind('/') + 1);
  }
  std::string name;
  json::append_replacing(name, path);
  return name;
}

tl::expected<disk::resolved_path, rejection> served_root::find(std::string_view path, const request_context* context) const {
  try {
    return find_or_throw(path, context);
  } catch (const std::system_error& error) {
    return tl::unexpected(make_rejection(disk::to_lookup_error(error.code().value())));
  }
}

tl::expected<disk::resolved_path, rejection> served_root::find_or_throw(std::string_view path,
                                                                        const request_context* context) const {
  const auto omitted = [](std::string reason) {
    return tl::unexpected(rejection{disk::lookup_error_kind::missing, 0, std::move(reason)});
  };
  lookup_budget budget{context, max_steps_per_lookup};
  // The same folder for lookup and decision, even if it is replaced meanwhile.
  const auto current_dir = dir();
  auto resolved = current_dir->resolve(path);
  if (!resolved) {
    // The way a lookup fails must not reveal that a hidden path exists.
    if (resolved.error().kind != disk::lookup_error_kind::missing && disk::is_plain_path(path)) {
      if (auto reason = find_denial(*current_dir, path, false, budget)) return omitted(std::move(*reason));
    }
    return tl::unexpected(make_rejection(resolved.error()));
  }
  const bool is_folder = S_ISDIR(resolved->attributes.st_mode);
  for (const auto& traversed : resolved->traversed_paths) {
    if (auto reason = find_name_denial(traversed, is_folder)) return omitted(std::move(*reason));
  }
  for (const auto& link : resolved->links) {
    if (auto reason = find_denial(*current_dir, link, false, budget)) return omitted(std::move(*reason));
  }
  if (auto reason = find_denial(*current_dir, resolved->path, is_folder, budget)) return omitted(std::move(*reason));
  if (rules_.is_own_file(resolved->attributes)) return omitted(to_text({denial_reason::own_file, {}, {}, {}, 0, {}, 0}));
  return std::move(*resolved);
}

bool served_root::is_visible(std::string_view requested_path, const disk::resolved_path& resolved,
                             const caller_info& caller) const {
  if (!caller.access_filter) return true;
  const auto may_see = [&](std::string_view path) { return caller.access_filter->may_see(uri_of(path)); };
  return may_see(requested_path) && may_see(resolved.path) &&
         std::all_of(resolved.links.begin(), resolved.links.end(), may_see) &&
         std::all_of(resolved.traversed_paths.begin(), resolved.traversed_paths.end(), may_see) &&
         (!needs_entry_check(requested_path, resolved, caller) ||
          caller.access_filter->may_see_entry(make_current_entry(*this, resolved)));
}

bool served_root::is_readable(std::string_view requested_path, const disk::resolved_path& resolved,
                              const caller_info& caller) const {
  return !caller.access_filter ||
         (caller.access_filter->may_read(uri_of(resolved.path)) && is_visible(requested_path, resolved, caller) &&
          (!needs_entry_check(requested_path, resolved, caller) ||
           caller.access_filter->may_read_entry(make_current_entry(*this, resolved))));
}

std::optional<std::string> served_root::find_name_denial(std::string_view path, bool is_folder) const {
  for (std::size_t begin = 0; begin < path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") break;  // the part before it is judged by its real path
    const auto decision = rules_.decide_name(path.substr(0, end), end < path.size() || is_folder);
    if (!decision.is_served()) return to_text(decision);
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<std::string> served_root::find_denial(const disk::confined_dir& dir, std::string_view path, bool is_folder,
                                                    lookup_budget& budget) const {
  if (path.empty()) return std::nullopt;
  const bool obeys = rules_.obeys_ignore_files();
  ignore::stack ignored_by = obeys ? ignore_files_.root_stack(dir.descriptor()) : ignore::stack();
  disk::handle folder;
  bool is_accessible = true;  // false below a folder without search permission, where names are still judged
  for (std::size_t begin = 0;;) {
    if (budget.context != nullptr && !check_cancellation(*budget.context)) return "it was not checked in time";
    const auto end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    const auto prefix = path.substr(0, end);
    const bool is_entered = !is_last || is_folder;
    const auto decision = rules_.decide(prefix, is_entered, ignored_by, std::min(ignore::max_match_steps, budget.steps));
    budget.steps -= std::min(budget.steps, decision.steps);
    if (!decision.is_served()) return to_text(decision);
    if (is_entered && is_accessible) {
      const std::string name(path.substr(begin, end - begin));
      folder = disk::handle(::openat(folder.is_open() ? folder.get() : dir.descriptor(), name.c_str(),
                                     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      is_accessible = folder.is_open();
      if (!is_accessible) disk::throw_if_exhausted(errno);
      if (!is_accessible && errno != EACCES) return "it has just disappeared";
      if (is_accessible && disk::is_bare_repository(folder.get()) && !rules_.allows(prefix, true))
        return "version control data";
      if (is_accessible && obeys && !is_last) ignored_by = ignore_files_.child_stack(ignored_by, folder.get(), name);
    }
    if (is_last) return std::nullopt;
    begin = end + 1;
  }
}

tl::expected<ignore::stack, rejection> served_root::ignore_stack_at(std::string_view folder) const {
  if (!rules_.obeys_ignore_files()) return ignore::stack();
  try {
    const auto current_dir = dir();
    auto stack = ignore_files_.root_stack(current_dir->descriptor());
    disk::handle parent;
    while (!folder.empty()) {
      const auto end = std::min(folder.find('/'), folder.size());
      const std::string name(folder.substr(0, end));
      disk::handle next(::openat(parent.is_open() ? parent.get() : current_dir->descriptor(), name.c_str(),
                                 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next.is_open()) return tl::unexpected(make_rejection(disk::to_lookup_error(errno)));
      stack = ignore_files_.child_stack(stack, next.get(), name);
      parent = std::move(next);
      folder.remove_prefix(std::min(end + 1, folder.size()));
    }
    return stack;
  } catch (const std::system_error& error) {
    return tl::unexpected(make_rejection(disk::to_lookup_error(error.code().value())));
  }
}

}  // namespace hondana::files
