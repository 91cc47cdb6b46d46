/// An immutable collection of skills, built from a list of files.
#include "sources/skills/skill_collection.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/front_matter/front_matter.hpp"

namespace hondana::skills {

struct collection::parts {
  std::string prefix;
  std::vector<resource> entries;
  std::vector<skill> skills;
  std::map<std::string, std::string, std::less<>> paths;
  std::vector<omission> left_out;
};

namespace {

bool before(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

/// A folder with a SKILL.md.
struct candidate {
  std::string folder;
  std::size_t begin = 0;  // index range of its files in the sorted list
  std::size_t end = 0;
};

std::string path_of_skill(const std::string& folder) { return folder + '/' + std::string(skill_file_name); }

}  // namespace

/// Makes several passes over the sorted files. In segment order, the files of a folder are contiguous.
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

  /// Why the skill cannot be served; empty if it can.
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
        if (!found) continue;  // deleted since it was found
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

  /// URIs are percent-encoded, so their order differs from that of the paths.
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

  /// Whether a folder is the prefix or below it.
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

  /// Records the files that do not belong to a skill. A folder without skills is reported once, as a whole. Files in a skill
  /// that is left out are not reported.
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
  std::vector<std::shared_ptr<const looked_at>> looked_;  // by index of the file
  std::vector<candidate> served_;
  std::set<std::string, std::less<>> unserved_;     // folders of skills that are left out
  std::set<std::string, std::less<>> with_skills_;  // folders with a SKILL.md in or below them
  collection::parts found_;
};

result<std::shared_ptr<const collection>> collection::arrange(std::string prefix, std::vector<found_file> files,
                                                              const looker& look, std::vector<omission> before) {
  return arranger(std::move(prefix), std::move(files), look, std::move(before)).arrange();
}

namespace {

/// The version of each entry by its URI; empty for folders.
std::map<std::string, std::string> versions_of(const entry_snapshot& entries) {
  std::map<std::string, std::string> all;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto entry = entries.at(i);
    all.emplace(std::move(entry.uri), std::move(entry.version));
  }
  return all;
}

}  // namespace

std::string claim_of(std::string_view prefix) { return uri_of(prefix); }

looked_at look_at(std::string_view path, std::string_view bytes) {
  bytes::sha256 digest;
  digest.feed(bytes);
  looked_at found{digest.finish(), bytes.size(), {}};
  if (last_name(path) == skill_file_name) {
    found.frontmatter = front_matter::parse_frontmatter(bytes.substr(0, front_matter::front_bytes)).map_error([](failure why) {
      return why.public_text;
    });
  }
  return found;
}

collection::collection(parts from)
    : root_(claim_of(from.prefix)),
      entries_(std::move(from.entries)),
      skills_(std::move(from.skills)),
      paths_(std::move(from.paths)),
      left_out_(std::move(from.left_out)) {}

const std::string* collection::path_of(const std::string& uri) const {
  const auto known = paths_.find(uri);
  return known == paths_.end() ? nullptr : &known->second;
}

bool collection::is_folder(const std::string& uri) const {
  if (uri == root_) return true;
  const auto entry = entries_.find(uri);
  return entry && entry->mimeType == "inode/directory";
}

result<list_result> collection::children(const children_request& request) const {
  if (is_folder(request.uri)) return entries_.children(request);
  if (path_of(request.uri) != nullptr) {
    return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
  }
  return fail(errc::resource_not_found, "Unknown folder " + request.uri + '.');
}

skills_result collection::skills(const list_request& request) const {
  skills_result page;
  auto next = std::upper_bound(skills_.begin(), skills_.end(), request.after, [](const std::string& after, const skill& one) {
    return std::is_lt(compare_by_segment(after, one.uri));
  });
  for (; next != skills_.end(); ++next) {
    if (page.skills.size() == request.limit) {
      page.resume = page.skills.empty() ? request.after : page.skills.back().uri;
      return page;
    }
    page.skills.push_back(*next);
  }
  return page;
}

result<skill> collection::find_skill(const skill_request& request) const {
  const auto found =
      std::lower_bound(skills_.begin(), skills_.end(), request.uri,
                       [](const skill& one, const std::string& uri) { return std::is_lt(compare_by_segment(one.uri, uri)); });
  if (found == skills_.end() || found->uri != request.uri) return fail(errc::resource_not_found, "Unknown skill.");
  return *found;
}

result<resource> collection::describe(const describe_request& request) const {
  auto entry = entries_.find(request.uri);
  if (!entry) return fail(errc::resource_not_found, "No skill has this file.");
  if (path_of(request.uri) == nullptr) {
    read_request content;
    static_cast<call&>(content) = static_cast<const call&>(request);
    content.uri = content.asked_uri = request.uri;
    // A folder that is too large to read has no version either.
    if (auto read = read_folder(content)) entry->version = std::move(read->version);
  }
  return std::move(*entry);
}

void collection::tell_changes_since(const collection& before, change_listener& to) const {
  const auto then = versions_of(before.entries_);
  const auto now = versions_of(entries_);
  bool is_other_list = false;
  // The content of a folder is the list of its children, so it changes with them.
  const auto came_or_went = [&](const std::string& uri) {
    is_other_list = true;
    to.content_changed(uri, {});
    const std::string above(parent_of(uri));
    if (now.contains(above) || then.contains(above)) to.content_changed(above, {});
  };
  for (const auto& [uri, version] : now) {
    const auto known = then.find(uri);
    if (known == then.end()) {
      came_or_went(uri);
    } else if (known->second != version) {
      to.content_changed(uri, {});
      is_other_list = is_other_list || last_name(uri) == skill_file_name;  // the list shows its name and description
    }
  }
  for (const auto& [uri, version] : then) {
    if (!now.contains(uri)) came_or_went(uri);
  }
  if (is_other_list) to.list_changed();
}

void collection::survey(const std::function<void(const survey_item&)>& each) const {
  for (const auto& [uri, path] : paths_) each({path, uri, true, {}});
  for (const auto& one : left_out_) each({one.path, {}, false, one.reason});
}

result<reading> collection::read_folder(const read_request& request) const {
  children_request next;
  static_cast<call&>(next) = static_cast<const call&>(request);
  next.uri = request.uri;
  std::string text;
  for (;;) {
    auto page = entries_.children(next);
    for (const auto& one : page.entries) (text += one.uri) += '\n';
    if (text.size() > request.max_bytes) {
      return tl::unexpected(bytes::too_large(request.asked_uri, text.size(), request.max_bytes, false));
    }
    if (!page.resume) break;
    next.after = std::move(*page.resume);
  }
  bytes::sha256 digest;
  digest.feed(text);
  auto answer = text_reading(std::move(text), "inode/directory");
  answer.version = digest.finish();
  return answer;
}

scheme_documentation describe() {
  return {"skill",
          "Agent skills: folders with a SKILL.md, and all their files.",
          {{"skill", "The SKILL.md of a skill; its name and description come from its front matter."},
           {"file", "A supporting file of a skill: text if all of it is UTF-8, otherwise a blob."},
           {"folder", "A skill's folder, or a folder in or above it. Reading it returns its children's URIs, one per line."}},
          {{"skill://SKILL/SKILL.md", "The skill of that name; skills/list and skills/get use this URI."},
           {"skill://FOLDER/SKILL/SKILL.md",
            "A skill in a folder that groups skills, at any depth; its name is that of the last folder."},
           {"skill://SKILL/PATH", "A supporting file, or a folder without a trailing slash."}}};
}

}  // namespace hondana::skills
