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
bool is_judged_by_entry(std::string_view asked, const located& what, const caller& to) {
  return to.view->looks_at_entries() && what.path != asked;
}

resource entry_now(const root& of, const located& what) { return entry_of(of, what.path, what.facts, disk::wall_clock()); }

tl::unexpected<failure> cannot_serve(const std::string& path, const std::string& why) {
  return fail(errc::source_unavailable, "Cannot serve \"" + path + "\": " + why);
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
constexpr std::uint64_t most_steps_a_lookup = 8 * ignore::most_steps;

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

refusal refusal_of(const not_found& why) {
  switch (why.why) {
    case obstacle::missing:
      return {why.why, why.error, "it does not exist"};
    case obstacle::outside:
      return {why.why, why.error, "link leaves the root"};
    case obstacle::loop:
      return {why.why, why.error, "link leads to itself"};
    case obstacle::kernel_data:
      return {why.why, why.error, "kernel file system"};
    case obstacle::forbidden:
    case obstacle::trouble:
      break;
  }
  return {why.why, why.error, std::strerror(why.error)};
}

void throw_if_unsure(const refusal& why) {
  if (why.why == obstacle::trouble) throw std::system_error(why.error, std::generic_category());
}

root::root(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable, bool masks,
           rules decisions, priorities weights, log_line log)
    : path_(std::move(path)),
      uri_("file://" + uri::escaped_file_path(path_)),
      top_(path_, std::move(folder), std::move(spellings), portable),
      masks_(masks),
      rules_(std::move(decisions)),
      priorities_(std::move(weights)),
      ignored_(path_, rules_.obey_ignore_files(), std::move(log)) {}

secrets::policy root::masking_of(std::string_view path) const noexcept {
  return masks_ ? secrets::policy_of(path) : secrets::policy::none;
}

result<std::shared_ptr<root>> root::open(const root_options& from, const options& all) {
  if (from.path.empty())
    return cannot_serve(from.path, "the path is empty. Give the path of a folder, or . for the current one.");
  if (from.path.find('\0') != std::string::npos) return cannot_serve(from.path, "the path contains a NUL byte.");
  char* const resolved = ::realpath(from.path.c_str(), nullptr);
  if (resolved == nullptr) return cannot_serve(from.path, advice_for(errno));
  std::string path(resolved);
  std::free(resolved);  // realpath allocates with malloc

  disk::handle folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return cannot_serve(from.path, advice_for(errno));
  if (!is_servable(folder.get())) {
    if (errno != 0) return cannot_serve(from.path, advice_for(errno));
    return cannot_serve(from.path, "it is on a kernel file system such as /proc or /sys, which cannot be served.");
  }
  HONDANA_TRY(auto decisions, rules::make(from, path));
  HONDANA_TRY(auto weights, priorities::make(from.priorities));

  std::vector<std::string> spellings{path};
  if (from.path.front() == '/') {
    auto given = without_trailing_slashes(from.path);
    if (given != path) spellings.push_back(std::move(given));
  }
  auto made = std::shared_ptr<root>(new root(std::move(path), std::move(folder), std::move(spellings), all.portable,
                                             from.redact, std::move(decisions), std::move(weights), all.log));
  if (made->uri().size() > max_uri_bytes / 2) return cannot_serve(from.path, "its URI would be too long.");
  return made;
}

std::string root::uri_of(std::string_view path) const {
  if (path.empty()) return uri_;
  std::string uri = uri_;
  if (uri.back() != '/') uri += '/';
  return uri += uri::escaped_file_path(path);
}

std::optional<std::string> root::path_of(std::string_view uri) const {
  if (!covers(uri_, uri)) return std::nullopt;
  auto rest = uri.substr(uri_.size());
  if (!uri_.ends_with('/') && rest.starts_with('/')) rest.remove_prefix(1);
  if (rest == "/") return std::nullopt;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  std::string path;
  while (!rest.empty()) {
    const auto slash = std::min(rest.find('/'), rest.size());
    const auto name = percent_decode(rest.substr(0, slash));
    if (!name || name->empty() || name->find('/') != std::string::npos) return std::nullopt;
    if (!path.empty()) path += '/';
    path += *name;
    if (slash == rest.size()) break;
    rest.remove_prefix(slash + 1);
    if (rest.empty()) return std::nullopt;
  }
  return is_plain_path(path) ? std::optional(std::move(path)) : std::nullopt;
}

std::string root::name_of(std::string_view path) const {
  if (path.empty()) {
    path = path_;
    if (path.size() > 1) path.remove_prefix(path.rfind('/') + 1);
  }
  std::string name;
  json::append_replacing(name, path);
  return name;
}

tl::expected<located, refusal> root::find(std::string_view path, const call* by) const {
  try {
    return find_or_throw(path, by);
  } catch (const std::system_error& why) {
    return tl::unexpected(refusal_of(obstacle_of(why.code().value())));
  }
}

tl::expected<located, refusal> root::find_or_throw(std::string_view path, const call* by) const {
  const auto left_out = [](std::string reason) { return tl::unexpected(refusal{obstacle::missing, 0, std::move(reason)}); };
  patience left{by, most_steps_a_lookup};
  // The same folder for lookup and decision, even if it is replaced meanwhile.
  const auto in = below();
  auto found = in->locate(path);
  if (!found) {
    // The way a lookup fails must not reveal that a hidden path exists.
    if (found.error().why != obstacle::missing && is_plain_path(path)) {
      if (auto reason = judge(*in, path, false, left)) return left_out(std::move(*reason));
    }
    return tl::unexpected(refusal_of(found.error()));
  }
  const bool is_folder = S_ISDIR(found->facts.st_mode);
  for (const auto& spelling : found->spellings) {
    if (auto reason = judge_spelling(spelling, is_folder)) return left_out(std::move(*reason));
  }
  for (const auto& link : found->links) {
    if (auto reason = judge(*in, link, false, left)) return left_out(std::move(*reason));
  }
  if (auto reason = judge(*in, found->path, is_folder, left)) return left_out(std::move(*reason));
  if (rules_.is_kept_back(found->facts)) return left_out(to_text({denial::kept_back, {}, {}, {}, 0, {}, 0}));
  return std::move(*found);
}

bool root::is_visible(std::string_view asked, const located& what, const caller& to) const {
  if (!to.view) return true;
  const auto may_see = [&](std::string_view path) { return to.view->may_see(uri_of(path)); };
  return may_see(asked) && may_see(what.path) && std::all_of(what.links.begin(), what.links.end(), may_see) &&
         std::all_of(what.spellings.begin(), what.spellings.end(), may_see) &&
         (!is_judged_by_entry(asked, what, to) || to.view->may_see_entry(entry_now(*this, what)));
}

bool root::is_readable(std::string_view asked, const located& what, const caller& to) const {
  return !to.view || (to.view->may_read(uri_of(what.path)) && is_visible(asked, what, to) &&
                      (!is_judged_by_entry(asked, what, to) || to.view->may_read_entry(entry_now(*this, what))));
}

std::optional<std::string> root::judge_spelling(std::string_view path, bool is_folder) const {
  for (std::size_t begin = 0; begin < path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..") break;  // the part before it is judged by its real path
    const auto decision = rules_.decide_name(path.substr(0, end), end < path.size() || is_folder);
    if (!decision.is_served()) return to_text(decision);
    begin = end + 1;
  }
  return std::nullopt;
}

std::optional<std::string> root::judge(const beneath& in, std::string_view path, bool is_folder, patience& left) const {
  if (path.empty()) return std::nullopt;
  const bool obey = rules_.obey_ignore_files();
  ignore::stack ignored_by = obey ? ignored_.at_root(in.descriptor()) : ignore::stack();
  disk::handle folder;
  bool is_in_reach = true;  // false below a folder without search permission, where names are still judged
  for (std::size_t begin = 0;;) {
    if (left.by != nullptr && !still_wanted(*left.by)) return "it was not checked in time";
    const auto end = std::min(path.find('/', begin), path.size());
    const bool is_last = end == path.size();
    const auto here = path.substr(0, end);
    const bool is_entered = !is_last || is_folder;
    const auto decision = rules_.decide(here, is_entered, ignored_by, std::min(ignore::most_steps, left.steps));
    left.steps -= std::min(left.steps, decision.steps);
    if (!decision.is_served()) return to_text(decision);
    if (is_entered && is_in_reach) {
      const std::string name(path.substr(begin, end - begin));
      folder = disk::handle(::openat(folder.is_open() ? folder.get() : in.descriptor(), name.c_str(),
                                     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      is_in_reach = folder.is_open();
      if (!is_in_reach) disk::throw_if_short(errno);
      if (!is_in_reach && errno != EACCES) return "it has just disappeared";
      if (is_in_reach && disk::is_bare_repository(folder.get()) && !rules_.allows(here, true)) return "version control data";
      if (is_in_reach && obey && !is_last) ignored_by = ignored_.below(ignored_by, folder.get(), name);
    }
    if (is_last) return std::nullopt;
    begin = end + 1;
  }
}

tl::expected<ignore::stack, refusal> root::stack_at(std::string_view folder) const {
  if (!rules_.obey_ignore_files()) return ignore::stack();
  try {
    const auto in = below();
    auto stack = ignored_.at_root(in->descriptor());
    disk::handle at;
    while (!folder.empty()) {
      const auto end = std::min(folder.find('/'), folder.size());
      const std::string name(folder.substr(0, end));
      disk::handle next(
          ::openat(at.is_open() ? at.get() : in->descriptor(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next.is_open()) return tl::unexpected(refusal_of(obstacle_of(errno)));
      stack = ignored_.below(stack, next.get(), name);
      at = std::move(next);
      folder.remove_prefix(std::min(end + 1, folder.size()));
    }
    return stack;
  } catch (const std::system_error& why) {
    return tl::unexpected(refusal_of(obstacle_of(why.code().value())));
  }
}

}  // namespace hondana::files
