/// Maps names and addresses of people to their proper ones, as `.mailmap` says.
#include "sources/git/mailmap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/bytes/digest.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {
namespace {

constexpr std::uint64_t max_mailmap_bytes = std::uint64_t{4} << 20;
constexpr std::size_t max_mailmap_entries = 100'000;
constexpr const char* mailmap_name = ".mailmap";
constexpr std::string_view mailmap_spaces = " \t\r\v\f";

std::string_view trim_spaces(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(mailmap_spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(mailmap_spaces) - begin + 1);
}

struct name_and_email {
  std::string_view name, email;
};

/// Removes `Name <email>` from the front of a line. nullopt: there is none.
std::optional<name_and_email> pop_person(std::string_view& line) {
  const auto open_bracket = line.find('<');
  if (open_bracket == std::string_view::npos) return std::nullopt;
  const auto close_bracket = line.find('>', open_bracket);
  if (close_bracket == std::string_view::npos) return std::nullopt;
  const name_and_email popped{trim_spaces(line.substr(0, open_bracket)),
                              trim_spaces(line.substr(open_bracket + 1, close_bracket - open_bracket - 1))};
  line.remove_prefix(close_bracket + 1);
  return popped;
}

/// The text of `.mailmap` at HEAD; empty if there is none.
std::string read_at_head(git_repository* repo) {
  const auto head = resolve_reference(repo, "HEAD");
  git_object* raw = nullptr;
  if (!head || !head->id || git_object_lookup(&raw, repo, &*head->id, GIT_OBJECT_COMMIT) < 0) {
    git_error_clear();
    return {};
  }
  const object_pointer commit(raw);
  const int code = git_object_lookup_bypath(&raw, commit.get(), mailmap_name, GIT_OBJECT_BLOB);
  git_error_clear();
  if (code < 0) return {};
  const object_pointer object(raw);
  const auto* const blob = reinterpret_cast<const git_blob*>(raw);
  const auto size = static_cast<std::uint64_t>(git_blob_rawsize(blob));
  if (size > max_mailmap_bytes) return {};
  return {static_cast<const char*>(git_blob_rawcontent(blob)), static_cast<std::size_t>(size)};
}

result<std::string> read_in_work_tree(git_repository* repo) {
  const auto tree = work_tree::open(repo);
  auto text = tree ? tree->inspect(mailmap_name).and_then([&](const work_file& file) -> result<std::string> {
    if (!S_ISREG(file.attributes.st_mode) || file.size > max_mailmap_bytes) return std::string();
    return tree->read(mailmap_name, max_mailmap_bytes);
  })
                   : tl::unexpected(tree.error());
  if (text || disk::lacks_descriptors()) return text;
  return std::string();
}

}  // namespace

mailmap mailmap::parse(std::string_view text) {
  mailmap parsed;
  std::size_t count = 0;
  for (auto remaining = text; !remaining.empty() && count < max_mailmap_entries;) {
    auto line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(line.size() + 1, remaining.size()));
    if (line.starts_with('#')) continue;
    const auto proper = pop_person(line);
    if (!proper || proper->email.empty()) continue;
    const auto recorded = pop_person(line);
    const auto& key = recorded ? *recorded : *proper;
    // Of one address, only the name can be replaced.
    if (!recorded && proper->name.empty()) continue;
    ++count;
    auto& entry = parsed.by_email_[ascii::to_lower(key.email)];
    auto& target = recorded && !recorded->name.empty() ? entry.by_name[ascii::to_lower(recorded->name)]
                                                       : (entry.any_name ? *entry.any_name : entry.any_name.emplace());
    if (!proper->name.empty()) target.name = proper->name;
    if (recorded && !proper->email.empty()) target.email = proper->email;
  }
  if (!parsed.by_email_.empty()) parsed.stamp_ = bytes::to_hex(bytes::digest_of(text));
  return parsed;
}

result<mailmap> mailmap::read(git_repository* repo) {
  if (git_repository_workdir(repo) == nullptr) return parse(to_utf8(read_at_head(repo)).text);
  HONDANA_TRY(const auto text, read_in_work_tree(repo));
  return parse(to_utf8(text).text);
}

void mailmap::apply(std::string& name, std::string& email) const {
  if (by_email_.empty()) return;
  const auto entry = by_email_.find(ascii::to_lower(email));
  if (entry == by_email_.end()) return;
  const auto& names = entry->second.by_name;
  const auto named = names.empty() ? names.end() : names.find(ascii::to_lower(name));
  const auto* const target = named != names.end()     ? &named->second
                             : entry->second.any_name ? &*entry->second.any_name
                                                      : nullptr;
  if (target == nullptr) return;
  if (!target->name.empty()) name = target->name;
  if (!target->email.empty()) email = target->email;
}

}  // namespace hondana::git
