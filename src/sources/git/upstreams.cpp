/// Settings of branches, and refspecs of their remotes.
#include "sources/git/upstreams.hpp"

#include <memory>
#include <utility>

namespace hondana::git {
namespace {

using refspec_pointer = std::unique_ptr<git_refspec, frees<git_refspec_free>>;

/// Where a remote's reference is kept here, by one of its refspecs; empty: not by this one.
std::string kept_as(const std::string& refspec, const std::string& theirs) {
  git_refspec* raw = nullptr;
  const int code = git_refspec_parse(&raw, refspec.c_str(), 1);
  const refspec_pointer parsed(raw);
  if (code < 0 || git_refspec_src_matches(raw, theirs.c_str()) == 0) return {};
  git_buf name{};
  const bool is_known = git_refspec_transform(&name, raw, theirs.c_str()) == 0 && name.ptr != nullptr;
  auto ours = is_known ? std::string(name.ptr) : std::string();
  git_buf_dispose(&name);
  return ours;
}

}  // namespace

result<upstreams> upstreams::read(git_repository* from) {
  constexpr std::string_view said = "the repository's branches cannot be read from its configuration";
  git_config* raw = nullptr;
  if (const int code = git_repository_config(&raw, from); code < 0) return failed(std::string(said));
  const config_pointer config(raw);
  git_config_iterator* raw_walk = nullptr;
  if (const int code = git_config_iterator_new(&raw_walk, raw); code < 0) return failed(std::string(said));
  const std::unique_ptr<git_config_iterator, frees<git_config_iterator_free>> walk(raw_walk);
  upstreams made;
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, raw_walk) == 0)
    if (entry->value != nullptr) made.settings_[entry->name].emplace_back(entry->value);
  git_error_clear();
  return made;
}

const std::vector<std::string>& upstreams::values(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto found = settings_.find(name);
  return found == settings_.end() ? none : found->second;
}

std::string upstreams::of(std::string_view branch) const {
  const auto section = "branch." + std::string(branch);
  const auto &remote = values(section + ".remote"), &merge = values(section + ".merge");
  if (remote.empty() || merge.empty()) return {};
  // Of several remotes the last one counts; of several that are merged the first is what git calls the upstream.
  if (remote.back() == ".") return merge.front();
  for (const auto& refspec : values("remote." + remote.back() + ".fetch")) {
    auto ours = kept_as(refspec, merge.front());
    git_error_clear();
    if (!ours.empty()) return ours;
  }
  return {};
}

}  // namespace hondana::git
