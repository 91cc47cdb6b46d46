/// SKILL.md texts, and short ways to ask a provider of skills.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

namespace hondana::skills {

inline std::string skill_text(const std::string& name, const std::string& more = {}) {
  return "---\nname: " + name + "\ndescription: About " + name + "\n" + more + "---\n# " + name + "\n";
}

inline children_request children_of(std::string uri, std::size_t limit = 500, std::string after = {}) {
  children_request made;
  made.uri = std::move(uri);
  made.limit = limit;
  made.after_key = std::move(after);
  return made;
}

inline std::vector<std::string> child_uris(folder_source& from, const std::string& uri) {
  const auto page = from.children(children_of(uri));
  std::vector<std::string> all;
  if (!page) return {"error: " + page.error().public_text};
  for (const auto& one : page->entries) all.push_back(one.uri);
  return all;
}

inline std::vector<std::string> listed_uris(provider& from) {
  const auto page = from.list({});
  std::vector<std::string> all;
  if (!page) return {"error: " + page.error().public_text};
  for (const auto& one : page->entries) all.push_back(one.uri);
  return all;
}

inline std::vector<std::string> skill_uris(skill_source& from) {
  const auto page = from.skills({});
  std::vector<std::string> all;
  if (!page) return {"error: " + page.error().public_text};
  for (const auto& one : page->skills) all.push_back(one.uri);
  return all;
}

inline result<skill> skill_at(skill_source& from, std::string uri) {
  skill_request request;
  request.uri = std::move(uri);
  return from.find_skill(request);
}

inline std::vector<std::string> file_uris(skill_source& from, std::string uri) {
  const auto found = skill_at(from, std::move(uri));
  std::vector<std::string> all;
  if (!found) return {"error: " + found.error().public_text};
  for (const auto& one : *found->files) all.push_back(one.uri);
  return all;
}

inline result<read_result> read(provider& from, const std::string& uri, std::uint64_t max_bytes = 64u << 20) {
  read_request request;
  request.uri = request.requested_uri = uri;
  request.max_bytes = max_bytes;
  return from.read(request);
}

inline result<resource> describe(entry_source& from, const std::string& uri) {
  describe_request request;
  request.uri = uri;
  return from.describe(request);
}

/// Writes down what it hears.
class recorder final : public change_listener {
 public:
  std::vector<std::string> heard;
  void list_changed() override { heard.emplace_back("list"); }
  void content_changed(std::string_view uri, std::string_view) override { heard.emplace_back(uri); }
};

/// The text of what is held whole, or "error: " and why not.
inline std::string read_text(provider& from, const std::string& uri) {
  const auto found = read(from, uri);
  if (!found) return "error: " + std::string(name_of(found.error().code));
  const auto* whole = std::get_if<shared_bytes>(&found->contents.front().data);
  return whole == nullptr ? "error: pulled" : **whole;
}

}  // namespace hondana::skills
