/// Stashes, which are the log of one reference.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "sources/git/commit_object.hpp"
#include "sources/git/enclosure.hpp"
#include "sources/git/references.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t largest_stash_log = std::size_t{16} << 20;

/// `OLD NEW Name <email> 1700000000 +0900<tab>message`; false: it is malformed.
bool read_stash(std::string_view line, stash& into) {
  constexpr std::size_t ids = 2 * (GIT_OID_HEXSZ + 1);
  if (line.size() < ids || git_oid_fromstrn(&into.commit, line.data() + GIT_OID_HEXSZ + 1, GIT_OID_HEXSZ) < 0) return false;
  line.remove_prefix(ids);
  const auto tab = line.find('\t');
  into.time = parse_identity(line.substr(0, tab)).time;
  if (tab != std::string_view::npos) into.message = to_utf8(line.substr(tab + 1)).text;
  return true;
}

}  // namespace

result<std::vector<stash>> stashes(git_repository* in, std::size_t limit) {
  const std::string folder = git_repository_commondir(in);
  const auto log = enclosure({folder}).read(folder + "/logs/refs/stash", largest_stash_log);
  if (!log && log.error() == astray::missing) return std::vector<stash>();
  if (!log)
    return fail(log.error() == astray::too_large ? errc::response_too_large : errc::source_unavailable,
                "the list of stashes " + std::string(text_of(log.error())) + ". Run `git stash list` for details.");
  std::vector<stash> found;
  std::string_view rest = *log;
  for (std::size_t index = 0; !rest.empty() && found.size() < limit; ++index) {
    // The newest is the last one.
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    const auto begin = rest.rfind('\n') + 1;  // 0 where there is none
    stash one;
    one.index = index;
    if (read_stash(rest.substr(begin), one)) found.push_back(std::move(one));
    rest = rest.substr(0, begin);
  }
  return found;
}

}  // namespace hondana::git
