/// Following symbolic references, one by one.
#include "sources/git/named_reference.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include "sources/git/reference_files.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view references_prefix = "refs/";
constexpr std::size_t most_symbolic = 5;

}  // namespace

tl::expected<followed_name, lost> follow_reference(git_repository* in, std::string name) {
  if (name.find('\0') != std::string::npos) return tl::unexpected(lost::invalid);
  for (std::size_t depth = 0; depth <= most_symbolic; ++depth) {
    if (name != "HEAD" && !name.starts_with(references_prefix)) return tl::unexpected(lost::invalid);
    int is_valid = 0;
    if (git_reference_name_is_valid(&is_valid, name.c_str()) < 0 || is_valid == 0)
      return tl::unexpected(depth == 0 ? lost::invalid : lost::broken);
    if (!may_look_up(in, name)) return tl::unexpected(lost::broken);
    git_reference* raw = nullptr;
    const int code = git_reference_lookup(&raw, in, name.c_str());
    const reference_pointer found(raw);
    if (code == GIT_ENOTFOUND) return followed_name{std::move(name), std::nullopt};
    if (code == GIT_EINVALIDSPEC) return tl::unexpected(depth == 0 ? lost::invalid : lost::broken);
    if (code < 0) return tl::unexpected(lost::broken);
    if (const git_oid* const id = git_reference_target(raw); id != nullptr) return followed_name{std::move(name), *id};
    name = git_reference_symbolic_target(raw);
    if (!std::string_view(name).starts_with(references_prefix)) return tl::unexpected(lost::broken);
  }
  return tl::unexpected(lost::circular);
}

}  // namespace hondana::git
