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
#include "base/uri/query_parameters.hpp"
#include "sources/skills/skill_paths.hpp"
#include "text/front_matter/front_matter.hpp"

namespace hondana::skills {

struct collection::parts {
  std::string prefix;
  std::vector<resource> entries;
  std::vector<skill> skills;
  std::map<std::string, std::string, std::less<>> paths;
  std::vector<omitted_entry> omitted;
};

namespace {

bool precedes(std::string_view a, std::string_view b) noexcept { return std::is_lt(compare_by_segment(a, b)); }

/// A folder with a SKILL.md.
struct skill_candidate {
  std::string folder;
  std::size_t begin = 0;  // index range of its files in the sorted list
  std::size_t end = 0;
};

std::string skill_path(const std::string& folder) { return folder + '/' + std::string(skill_file_name); }

resource make_folder_entry(std::string uri, std::string_view name) {
  resource entry;
  entry.uri = std::move(uri);
  entry.name = name;
  entry.mime_type = "inode/directory";
  entry.kind = "folder";
  return entry;
}

}  // namespace

/// Makes several passes over the sorted files. In segment order, the files of a folder are contiguous.
class collection_builder {
 public:
  collection_builder(std::string prefix, std::vector<candidate_file> files, const file_inspector& inspector,
                     std::vector<omitted_entry> omitted)
      : files_(std::move(files)),
        inspector_(inspector),
        summaries_(files_.size()),
        parts_{std::move(prefix), {}, {}, {}, std::move(omitted)} {
    std::sort(files_.begin(), files_.end(),
              [](const candidate_file& a, const candidate_file& b) { return precedes(a.path, b.path); });
  }

  result<std::shared_ptr<const collection>> build() {
    for (const auto& candidate : find_candidates()) {
      HONDANA_TRY(auto reason, rejection_reason(candidate));
      if (reason.empty()) {
        served_.push_back(candidate);
      } else {
        parts_.omitted.push_back(
            {candidate.folder.empty() ? std::string(skill_file_name) : candidate.folder, std::move(reason), true});
        unserved_.insert(candidate.folder);
      }
    }
    for (const auto& served : served_) add_skill(served);
    sort_by_uri(parts_.skills);
    add_entries();
    report_unserved();
    std::sort(parts_.omitted.begin(), parts_.omitted.end(),
              [](const omitted_entry& a, const omitted_entry& b) { return precedes(a.path, b.path); });
    return std::shared_ptr<const collection>(new collection(std::move(parts_)));
  }

 private:
  std::vector<skill_candidate> find_candidates() {
    std::vector<skill_candidate> candidates;
    for (const auto& file : files_) {
      if (last_name(file.path) != skill_file_name) continue;
      skill_candidate candidate{std::string(parent_of(file.path))};
      const auto first =
          std::lower_bound(files_.begin(), files_.end(), candidate.folder + '/',
                           [](const candidate_file& a, const std::string& path) { return precedes(a.path, path); });
      const auto last =
          std::find_if_not(first, files_.end(), [&](const auto& entry) { return is_below(entry.path, candidate.folder); });
      candidate.begin = static_cast<std::size_t>(first - files_.begin());
      candidate.end = static_cast<std::size_t>(last - files_.begin());
      for (std::string_view above = candidate.folder; !above.empty(); above = parent_of(above))
        folders_with_skills_.emplace(above);
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  /// Why the skill cannot be served; empty if it can.
  result<std::string> rejection_reason(const skill_candidate& candidate) {
    if (candidate.folder.empty())
      return std::string("it is not in a folder that could name the skill; set the source's prefix");
    const std::string_view authority = std::string_view(candidate.folder).substr(0, candidate.folder.find('/'));
    if (!is_slug(authority)) {
      return "the folder \"" + std::string(authority) +
             "\" cannot begin a URI: rename it with only a-z, 0-9 and -, or set the source's prefix";
    }
    if (uri_of(candidate.folder).size() > max_uri_bytes / 2) return std::string("the path is too long for a URI");
    const auto count = candidate.end - candidate.begin;
    if (count > max_skill_files) {
      return "it has " + std::to_string(count) + " files; a skill has at most " + std::to_string(max_skill_files);
    }
    std::uint64_t bytes = 0;
    for (auto i = candidate.begin; i < candidate.end; ++i) bytes += files_[i].size;
    if (bytes > max_skill_bytes) return too_large_reason(bytes);
    return inspect_files(candidate);
  }

  static std::string too_large_reason(std::uint64_t bytes) {
    return "its files have " + std::to_string(bytes) + " bytes in total; a skill has at most " +
           std::to_string(max_skill_bytes);
  }

  result<std::string> inspect_files(const skill_candidate& candidate) {
    std::uint64_t bytes = 0;
    bool has_begun = false;
    for (auto i = candidate.begin; i < candidate.end; ++i) {
      auto& known = summaries_[i];
      if (!known) {
        auto summary = inspector_(files_[i]);
        if (!summary && summary.error().code == errc::access_denied) {
          return "the file \"" + files_[i].path + "\" cannot be read: " + summary.error().private_text;
        }
        if (!summary && summary.error().code != errc::resource_not_found) return tl::unexpected(std::move(summary.error()));
        if (!summary) continue;  // deleted since it was found
        known = std::move(*summary);
      }
      bytes += known->size;
      if (files_[i].path != skill_path(candidate.folder)) continue;
      has_begun = true;
      if (auto reason = frontmatter_error(*known, candidate.folder); !reason.empty()) return reason;
    }
    if (!has_begun) return std::string("its SKILL.md has disappeared");
    return bytes > max_skill_bytes ? too_large_reason(bytes) : std::string();
  }

  static std::string frontmatter_error(const file_summary& summary, const std::string& folder) {
    if (!summary.frontmatter) return "its SKILL.md was not read";
    if (!*summary.frontmatter) return "SKILL.md: " + summary.frontmatter->error();
    const auto checked = front_matter::check_frontmatter(**summary.frontmatter, last_name(folder));
    return checked ? std::string() : "SKILL.md: " + checked.error().public_text;
  }

  void add_skill(const skill_candidate& candidate) {
    skill added;
    added.uri = uri_of(skill_path(candidate.folder));
    added.files.emplace();
    for (auto i = candidate.begin; i < candidate.end; ++i) {
      if (!summaries_[i]) continue;
      auto uri = uri_of(files_[i].path);
      if (uri == added.uri) added.frontmatter = **summaries_[i]->frontmatter;
      added.files->push_back({uri, summaries_[i]->digest, summaries_[i]->size});
      parts_.paths.emplace(std::move(uri), files_[i].path);
    }
    sort_by_uri(*added.files);
    parts_.skills.push_back(std::move(added));
  }

  /// URIs are percent-encoded, so their order differs from that of the paths.
  template <class Entries>
  static void sort_by_uri(Entries& entries) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return precedes(a.uri, b.uri); });
  }

  void add_entries() {
    std::set<std::string, std::less<>> folders;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      auto uri = uri_of(files_[i].path);
      if (!summaries_[i] || !parts_.paths.contains(uri)) continue;
      for (auto above = parent_of(files_[i].path); is_in_prefix(above); above = parent_of(above)) {
        if (!folders.emplace(above).second) break;
      }
      parts_.entries.push_back(make_entry(files_[i], *summaries_[i], std::move(uri)));
    }
    for (const auto& folder : folders) parts_.entries.push_back(make_folder_entry(uri_of(folder), last_name(folder)));
  }

  /// Whether a folder is the prefix or below it.
  [[nodiscard]] bool is_in_prefix(std::string_view folder) const {
    return !folder.empty() && (parts_.prefix.empty() || folder == parts_.prefix || is_below(folder, parts_.prefix));
  }

  [[nodiscard]] resource make_entry(const candidate_file& file, const file_summary& summary, std::string uri) const {
    resource entry;
    entry.uri = std::move(uri);
    entry.name = last_name(file.path);
    entry.kind = "file";
    const auto match =
        std::lower_bound(parts_.skills.begin(), parts_.skills.end(), entry.uri,
                         [](const skill& candidate, const std::string& key) { return precedes(candidate.uri, key); });
    if (match != parts_.skills.end() && match->uri == entry.uri) {
      entry.kind = "skill";
      entry.name = *match->frontmatter.find("name")->as_string();
      entry.description = *match->frontmatter.find("description")->as_string();
    }
    entry.mime_type = type_of(file.path);
    entry.size = summary.size;
    entry.version = summary.digest;
    entry.annotations.last_modified = file.modified;
    return entry;
  }

  /// Records the files that do not belong to a skill. A folder without skills is reported once, as a whole. Files in a skill
  /// that is left out are not reported.
  void report_unserved() {
    std::set<std::string, std::less<>> mentioned;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto& path = files_[i].path;
      if (parts_.paths.contains(uri_of(path))) continue;
      std::string_view reported = path;
      bool is_in_rejected_skill = false;
      for (auto above = parent_of(path); is_in_prefix(above); above = parent_of(above)) {
        is_in_rejected_skill = is_in_rejected_skill || unserved_.contains(above);
        if (!folders_with_skills_.contains(above)) reported = above;
      }
      if (is_in_rejected_skill || (reported == path && unserved_.contains(parent_of(path)))) continue;
      if (mentioned.emplace(reported).second)
        parts_.omitted.push_back({std::string(reported), "it does not belong to a skill", false});
    }
  }

  std::vector<candidate_file> files_;
  const file_inspector& inspector_;
  std::vector<std::shared_ptr<const file_summary>> summaries_;  // by index of the file
  std::vector<skill_candidate> served_;
  std::set<std::string, std::less<>> unserved_;             // folders of skills that are left out
  std::set<std::string, std::less<>> folders_with_skills_;  // folders with a SKILL.md in or below them
  collection::parts parts_;
};

result<std::shared_ptr<const collection>> collection::build(std::string prefix, std::vector<candidate_file> files,
                                                            const file_inspector& inspector,
                                                            std::vector<omitted_entry> known_omitted) {
  return collection_builder(std::move(prefix), std::move(files), inspector, std::move(known_omitted)).build();
}

namespace {

/// The version of each entry by its URI; empty for folders.
std::map<std::string, std::string> versions_of(const entry_snapshot& entries) {
  std::map<std::string, std::string> versions;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto entry = entries.at(i);
    versions.emplace(std::move(entry.uri), std::move(entry.version));
  }
  return versions;
}

}  // namespace

std::string uri_prefix(std::string_view prefix) { return uri_of(prefix); }

tl::unexpected<failure> file_not_found(std::string_view uri) {
  HONDANA_TRY(uri::parse_query(split_uri(uri).query, {}, "skill://"));
  return fail(errc::resource_not_found, "No skill has this file.");
}

file_summary summarize(std::string_view path, std::string_view bytes) {
  bytes::sha256 digest;
  digest.update(bytes);
  file_summary summary{digest.finish(), bytes.size(), {}};
  if (last_name(path) == skill_file_name) {
    summary.frontmatter =
        front_matter::parse_frontmatter(bytes.substr(0, front_matter::front_matter_prefix_bytes)).map_error([](failure error) {
          return error.public_text;
        });
  }
  return summary;
}

collection::collection(parts contents)
    : root_uri_(uri_prefix(contents.prefix)),
      entries_(std::move(contents.entries)),
      skills_(std::move(contents.skills)),
      paths_(std::move(contents.paths)),
      omitted_(std::move(contents.omitted)) {}

const std::string* collection::path_of(const std::string& uri) const {
  const auto known = paths_.find(uri);
  return known == paths_.end() ? nullptr : &known->second;
}

bool collection::is_folder(const std::string& uri) const {
  if (uri == root_uri_) return true;
  const auto entry = entries_.find(uri);
  return entry && entry->mime_type == "inode/directory";
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
  auto next = std::upper_bound(
      skills_.begin(), skills_.end(), request.after_key,
      [](const std::string& after_key, const skill& entry) { return std::is_lt(compare_by_segment(after_key, entry.uri)); });
  for (; next != skills_.end(); ++next) {
    if (page.skills.size() == request.limit) {
      page.next_key = page.skills.empty() ? request.after_key : page.skills.back().uri;
      return page;
    }
    page.skills.push_back(*next);
  }
  return page;
}

result<skill> collection::find_skill(const skill_request& request) const {
  const auto match = std::lower_bound(
      skills_.begin(), skills_.end(), request.uri,
      [](const skill& entry, const std::string& uri) { return std::is_lt(compare_by_segment(entry.uri, uri)); });
  if (match == skills_.end() || match->uri != request.uri) return fail(errc::resource_not_found, "Unknown skill.");
  return *match;
}

result<resource> collection::describe(const describe_request& request) const {
  auto entry = entries_.find(request.uri);
  // The root is not listed if there is no prefix, or no skill.
  if (!entry && request.uri == root_uri_) entry = make_folder_entry(root_uri_, root_uri_);
  if (!entry) return file_not_found(request.uri);
  if (path_of(request.uri) == nullptr) {
    read_request content;
    static_cast<request_context&>(content) = static_cast<const request_context&>(request);
    content.uri = content.requested_uri = request.uri;
    // A folder that is too large to read has no version either.
    if (auto read = read_folder(content)) entry->version = std::move(read->version);
  }
  return std::move(*entry);
}

void collection::notify_changes_since(const collection& previous, change_listener& listener) const {
  const auto old_versions = versions_of(previous.entries_);
  const auto new_versions = versions_of(entries_);
  bool is_list_changed = false;
  // The content of a folder is the list of its children, so it changes with them.
  const auto notify_added_or_removed = [&](const std::string& uri) {
    is_list_changed = true;
    listener.content_changed(uri, {});
    std::string above(parent_of(uri));
    if (above + '/' == root_uri_) above = root_uri_;  // without a prefix, the root ends with a slash and is not listed
    if (above == root_uri_ || new_versions.contains(above) || old_versions.contains(above)) listener.content_changed(above, {});
  };
  for (const auto& [uri, version] : new_versions) {
    const auto known = old_versions.find(uri);
    if (known == old_versions.end()) {
      notify_added_or_removed(uri);
    } else if (known->second != version) {
      listener.content_changed(uri, {});
      is_list_changed = is_list_changed || last_name(uri) == skill_file_name;  // the list shows its name and description
    }
  }
  for (const auto& [uri, version] : old_versions) {
    if (!new_versions.contains(uri)) notify_added_or_removed(uri);
  }
  if (is_list_changed) listener.list_changed();
}

void collection::inventory(const std::function<void(const inventory_item&)>& visitor) const {
  for (const auto& [uri, path] : paths_) visitor({path, uri, true, {}});
  for (const auto& entry : omitted_) visitor({entry.path, {}, false, entry.reason});
}

result<read_result> collection::read_folder(const read_request& request) const {
  children_request next;
  static_cast<request_context&>(next) = static_cast<const request_context&>(request);
  next.uri = request.uri;
  std::string text;
  for (;;) {
    auto page = entries_.children(next);
    for (const auto& entry : page.entries) (text += entry.uri) += '\n';
    if (text.size() > request.max_bytes) {
      return tl::unexpected(bytes::too_large_error(request.requested_uri, text.size(), request.max_bytes, false));
    }
    if (!page.next_key) break;
    next.after_key = std::move(*page.next_key);
  }
  bytes::sha256 digest;
  digest.update(text);
  auto answer = text_read_result(std::move(text), "inode/directory");
  answer.version = digest.finish();
  return answer;
}

scheme_documentation describe_scheme() {
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
