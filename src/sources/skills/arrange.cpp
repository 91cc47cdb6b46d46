/// From found files to skills: which folders are skills, what belongs to them, and what is left over.
#include <algorithm>
#include <compare>
#include <set>
#include <utility>

#include <hondana/uri.hpp>

#include "sources/skills/collection.hpp"
#include "sources/skills/naming.hpp"
#include "sources/skills/parts.hpp"
#include "text/front_matter/frontmatter.hpp"

namespace hondana::skills {
namespace {

bool before(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

/// A folder with a SKILL.md.
struct candidate {
  std::string folder;
  std::size_t begin = 0;  // its files, among all in order
  std::size_t end = 0;
};

std::string path_of_skill(const std::string& folder) { return folder + '/' + std::string(skill_file_name); }

}  // namespace

/// Goes through the files once for every question. All files of a folder follow one another in segment order.
class arranger {
 public:
  arranger(std::string prefix, std::vector<found_file> files, const looker& look, std::vector<omission> already)
      : files_(std::move(files)),
        look_(look),
        looked_(files_.size()),
        found_{std::move(prefix), {}, {}, {}, std::move(already)} {
    std::sort(files_.begin(), files_.end(), [](const found_file& a, const found_file& b) { return before(a.path, b.path); });
  }

  result<std::shared_ptr<const collection>> arrange() {
    for (const auto& one : candidates()) {
      HONDANA_TRY(auto judged, judge(one));
      if (judged.empty()) {
        served_.push_back(one);
      } else {
        found_.left_out.push_back({one.folder.empty() ? std::string(skill_file_name) : one.folder, std::move(judged), true});
        unserved_.insert(one.folder);
      }
    }
    for (const auto& one : served_) add_skill(one);
    sort_by_uri(found_.skills);
    add_entries();
    mention_the_rest();
    std::sort(found_.left_out.begin(), found_.left_out.end(),
              [](const omission& a, const omission& b) { return before(a.path, b.path); });
    return std::shared_ptr<const collection>(new collection(std::move(found_)));
  }

 private:
  std::vector<candidate> candidates() {
    std::vector<candidate> all;
    for (const auto& file : files_) {
      if (last_name(file.path) != skill_file_name) continue;
      candidate one{std::string(parent_of(file.path))};
      const auto first = std::lower_bound(files_.begin(), files_.end(), one.folder + '/',
                                          [](const found_file& a, const std::string& key) { return before(a.path, key); });
      const auto last = std::find_if_not(first, files_.end(), [&](const auto& it) { return lies_in(it.path, one.folder); });
      one.begin = static_cast<std::size_t>(first - files_.begin());
      one.end = static_cast<std::size_t>(last - files_.begin());
      for (std::string_view above = one.folder; !above.empty(); above = parent_of(above)) with_skills_.emplace(above);
      all.push_back(std::move(one));
    }
    return all;
  }

  /// Why it is no skill that can be served; empty when it can.
  result<std::string> judge(const candidate& one) {
    if (one.folder.empty()) return std::string("it is not in a folder that could name the skill; set the source's prefix");
    const std::string_view authority = std::string_view(one.folder).substr(0, one.folder.find('/'));
    if (!is_slug(authority)) {
      return "the folder \"" + std::string(authority) +
             "\" cannot begin a URI: rename it with only a-z, 0-9 and -, or set the source's prefix";
    }
    if (uri_of(one.folder).size() > max_uri_bytes / 2) return std::string("the path is too long for a URI");
    const auto count = one.end - one.begin;
    if (count > max_skill_files) {
      return "it has " + std::to_string(count) + " files; a skill has at most " + std::to_string(max_skill_files);
    }
    std::uint64_t bytes = 0;
    for (auto i = one.begin; i < one.end; ++i) bytes += files_[i].size;
    if (bytes > max_skill_bytes) return too_many(bytes);
    return read_through(one);
  }

  static std::string too_many(std::uint64_t bytes) {
    return "its files have " + std::to_string(bytes) + " bytes in total; a skill has at most " +
           std::to_string(max_skill_bytes);
  }

  result<std::string> read_through(const candidate& one) {
    std::uint64_t bytes = 0;
    bool has_begun = false;
    for (auto i = one.begin; i < one.end; ++i) {
      auto& known = looked_[i];
      if (!known) {
        auto found = look_(files_[i]);
        if (!found && found.error().code == errc::access_denied) {
          return "the file \"" + files_[i].path + "\" cannot be read: " + found.error().private_text;
        }
        if (!found && found.error().code != errc::resource_not_found) return tl::unexpected(std::move(found.error()));
        if (!found) continue;  // it has gone since it was found
        known = std::move(*found);
      }
      bytes += known->size;
      if (files_[i].path != path_of_skill(one.folder)) continue;
      has_begun = true;
      if (auto why = judge_frontmatter(*known, one.folder); !why.empty()) return why;
    }
    if (!has_begun) return std::string("its SKILL.md has disappeared");
    return bytes > max_skill_bytes ? too_many(bytes) : std::string();
  }

  static std::string judge_frontmatter(const looked_at& what, const std::string& folder) {
    if (!what.frontmatter) return "its SKILL.md was not read";
    if (!*what.frontmatter) return "SKILL.md: " + what.frontmatter->error();
    const auto checked = front_matter::check_frontmatter(**what.frontmatter, last_name(folder));
    return checked ? std::string() : "SKILL.md: " + checked.error().public_text;
  }

  void add_skill(const candidate& one) {
    skill made;
    made.uri = uri_of(path_of_skill(one.folder));
    made.files.emplace();
    for (auto i = one.begin; i < one.end; ++i) {
      if (!looked_[i]) continue;
      auto uri = uri_of(files_[i].path);
      if (uri == made.uri) made.frontmatter = **looked_[i]->frontmatter;
      made.files->push_back({uri, looked_[i]->digest, looked_[i]->size});
      found_.paths.emplace(std::move(uri), files_[i].path);
    }
    sort_by_uri(*made.files);
    found_.skills.push_back(std::move(made));
  }

  /// Encoded names have another order than their bytes.
  template <class Entries>
  static void sort_by_uri(Entries& entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return before(a.uri, b.uri); });
  }

  void add_entries() {
    std::set<std::string, std::less<>> folders;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      auto uri = uri_of(files_[i].path);
      if (!looked_[i] || !found_.paths.contains(uri)) continue;
      for (auto above = parent_of(files_[i].path); is_ours(above); above = parent_of(above)) {
        if (!folders.emplace(above).second) break;
      }
      found_.entries.push_back(entry_of(files_[i], *looked_[i], std::move(uri)));
    }
    for (const auto& folder : folders) {
      resource entry;
      entry.uri = uri_of(folder);
      entry.name = last_name(folder);
      entry.mimeType = "inode/directory";
      entry.kind = "folder";
      found_.entries.push_back(std::move(entry));
    }
  }

  /// Whether a folder is the prefix or lies below it.
  [[nodiscard]] bool is_ours(std::string_view folder) const {
    return !folder.empty() && (found_.prefix.empty() || folder == found_.prefix || lies_in(folder, found_.prefix));
  }

  [[nodiscard]] resource entry_of(const found_file& file, const looked_at& what, std::string uri) const {
    resource entry;
    entry.uri = std::move(uri);
    entry.name = last_name(file.path);
    entry.kind = "file";
    const auto own = std::lower_bound(found_.skills.begin(), found_.skills.end(), entry.uri,
                                      [](const skill& one, const std::string& key) { return before(one.uri, key); });
    if (own != found_.skills.end() && own->uri == entry.uri) {
      entry.kind = "skill";
      entry.name = *own->frontmatter.find("name")->as_string();
      entry.description = *own->frontmatter.find("description")->as_string();
    }
    entry.mimeType = type_of(file.path);
    entry.size = what.size;
    entry.version = what.digest;
    entry.annotations.lastModified = file.modified;
    return entry;
  }

  /// What lies in no skill: a folder without any is mentioned as a whole, and nothing in a skill that is left out.
  void mention_the_rest() {
    std::set<std::string, std::less<>> mentioned;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto& path = files_[i].path;
      if (found_.paths.contains(uri_of(path))) continue;
      std::string_view what = path;
      bool is_within_one = false;
      for (auto above = parent_of(path); is_ours(above); above = parent_of(above)) {
        is_within_one = is_within_one || unserved_.contains(above);
        if (!with_skills_.contains(above)) what = above;
      }
      if (is_within_one || (what == path && unserved_.contains(parent_of(path)))) continue;
      if (mentioned.emplace(what).second)
        found_.left_out.push_back({std::string(what), "it does not belong to a skill", false});
    }
  }

  std::vector<found_file> files_;
  const looker& look_;
  std::vector<std::shared_ptr<const looked_at>> looked_;  // by the file's place
  std::vector<candidate> served_;
  std::set<std::string, std::less<>> unserved_;     // folders of skills that are left out
  std::set<std::string, std::less<>> with_skills_;  // folders with a SKILL.md in or below them
  collection::parts found_;
};

result<std::shared_ptr<const collection>> collection::arrange(std::string prefix, std::vector<found_file> files,
                                                              const looker& look, std::vector<omission> before) {
  return arranger(std::move(prefix), std::move(files), look, std::move(before)).arrange();
}

}  // namespace hondana::skills
