/// Answers from a collection.
#include "sources/skills/collection.hpp"

#include <algorithm>
#include <compare>
#include <utility>

#include <hondana/uri.hpp>

#include "base/bytes/prepare.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/skills/naming.hpp"
#include "sources/skills/parts.hpp"
#include "text/front_matter/frontmatter.hpp"

namespace hondana::skills {
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
    // What is too large to be read has no version either.
    if (auto read = read_folder(content)) entry->version = std::move(read->version);
  }
  return std::move(*entry);
}

void collection::tell_changes_since(const collection& before, change_listener& to) const {
  const auto then = versions_of(before.entries_);
  const auto now = versions_of(entries_);
  bool is_other_list = false;
  // A folder's content is the list of its children.
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
      is_other_list = is_other_list || last_name(uri) == skill_file_name;  // what it says of itself is in the list
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
