/// Lists of the mounted server: received within limits, and stored under our URIs.
#include "sources/mcp/upstream_lists.hpp"

#include <algorithm>
#include <compare>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>

#include <hondana/uri.hpp>

#include "sources/mcp/sanitizer.hpp"

namespace hondana::mcp {
namespace {

std::size_t memory_size(const std::vector<icon>& icons) {
  std::size_t sum = 0;
  for (const auto& image : icons) {
    sum += sizeof image + image.src.size() + image.mime_type.size() + image.theme.size();
    for (const auto& size : image.sizes) sum += sizeof(std::string) + size.size();
  }
  return sum;
}

std::size_t memory_size(const metadata& fields) {
  std::size_t sum = 0;
  for (const auto& [key, field_value] : fields) {
    const auto* text = std::get_if<std::string>(&field_value);
    sum += sizeof(metadata::value_type) + key.size() + (text == nullptr ? 0 : text->size());
  }
  return sum;
}

}  // namespace

std::size_t memory_size(const resource& entry) {
  return sizeof entry + entry.uri.size() + entry.name.size() + entry.title.size() + entry.description.size() +
         entry.mime_type.size() + entry.kind.size() + entry.version.size() + memory_size(entry.icons) +
         memory_size(entry.metadata);
}

std::size_t memory_size(const resource_template& entry) {
  return sizeof entry + entry.uri_template.size() + entry.name.size() + entry.title.size() + entry.description.size() +
         entry.mime_type.size() + memory_size(entry.icons);
}

std::size_t memory_size(const skill& entry) {
  // A parsed value takes several times the memory of its text.
  constexpr std::size_t json_factor = 4;
  std::size_t sum = sizeof entry + entry.uri.size() + json_factor * entry.frontmatter.to_text().size();
  if (!entry.files) return sum;
  for (const auto& file : *entry.files) sum += sizeof file + file.uri.size() + file.digest.size();
  return sum;
}

namespace {

constexpr std::size_t max_skipped = 1000;
/// An entry that passed this mount twice is in a cycle.
constexpr std::size_t max_passes = 2;

bool precedes(std::string_view a, std::string_view b) { return std::is_lt(compare_by_segment(a, b)); }

bool is_same(const skill& a, const skill& b) { return a.uri == b.uri && a.files == b.files && a.frontmatter == b.frontmatter; }

}  // namespace

std::optional<skill> to_local_skill(skill remote_skill, const uri_mapping& mapping, const uri_filter& filter) {
  auto uri = mapping.to_local(remote_skill.uri);
  if (!uri) return std::nullopt;
  remote_skill.uri = std::move(*uri);
  if (!remote_skill.files) return remote_skill;
  std::erase_if(*remote_skill.files, [&filter](const skill_file& file) { return !filter.rejection_reason(file.uri).empty(); });
  for (auto& file : *remote_skill.files) {
    auto local_uri = mapping.to_local(file.uri);
    if (!local_uri) return std::nullopt;
    file.uri = std::move(*local_uri);
  }
  std::sort(remote_skill.files->begin(), remote_skill.files->end(),
            [](const skill_file& a, const skill_file& b) { return precedes(a.uri, b.uri); });
  return remote_skill;
}

list_snapshot::list_snapshot(server_lists lists, const uri_mapping& mapping, const uri_filter& filter)
    : ttl_(lists.ttl), entries_(to_local_entries(std::move(lists.entries), mapping, filter)) {
  add_templates(std::move(lists.templates), mapping, filter);
  add_skills(std::move(lists.skills), mapping, filter);
  const auto add = [this](bool is_missing, std::size_t count, const char* noun) {
    if (!is_missing) return;
    truncation_note_ += (truncation_note_.empty() ? "only the first " : ", the first ") + std::to_string(count) + ' ' + noun;
  };
  add(lists.has_more_entries, entries_.size(), "entries");
  add(lists.has_more_templates, templates_.size(), "templates");
  add(lists.has_more_skills, skills_.size(), "skills");
  if (!truncation_note_.empty())
    truncation_note_ +=
        " of the mounted server are served; raise max_entries or max_templates, unless its lists are larger than " +
        std::to_string(max_list_bytes >> 20) + " MiB";
}

std::vector<resource> list_snapshot::to_local_entries(std::vector<resource> remote_entries, const uri_mapping& mapping,
                                                      const uri_filter& filter) {
  std::vector<resource> entries;
  std::unordered_set<std::string> seen;
  entries.reserve(remote_entries.size());
  for (auto& entry : remote_entries) {
    auto uri = map_uri(entry.uri, entry.name, mapping, filter);
    if (!uri) continue;
    if (!seen.insert(*uri).second) {
      add_skipped(entry.uri, entry.name, "it is listed twice");
      continue;
    }
    if (*uri != mapping.prefix() + entry.uri) remote_uris_.emplace(*uri, entry.uri);
    if (const auto canonical = canonical_uri(entry.uri); canonical && mapping.prefix() + *canonical != *uri)
      canonical_uris_.emplace(mapping.prefix() + *canonical, *uri);
    entry.uri = std::move(*uri);
    entries.push_back(std::move(entry));
  }
  return entries;
}

void list_snapshot::add_templates(std::vector<resource_template> remote_templates, const uri_mapping& mapping,
                                  const uri_filter& filter) {
  for (auto& remote : remote_templates) {
    if (const auto reason = filter.rejection_reason(remote.uri_template); !reason.empty()) {
      add_skipped(remote.uri_template, remote.name, reason);
      continue;
    }
    if (mapping.count_passes(remote.uri_template) >= max_passes) {
      add_skipped(remote.uri_template, remote.name, "it already passed through this mount");
      continue;
    }
    auto text = mapping.prefix() + remote.uri_template;
    const auto compiled = uri_template::compile(text);
    if (!compiled || !uri_covers(mapping.prefix(), compiled->literal_prefix())) {
      add_skipped(remote.uri_template, remote.name,
                  "the template cannot be used: " + (compiled ? "it leads outside the mount's prefix"
                                                              : sanitize(compiled.error().public_text, max_line_bytes)));
      continue;
    }
    remote.uri_template = std::move(text);
    templates_.push_back(std::move(remote));
  }
  const auto text_less = [](const resource_template& a, const resource_template& b) { return a.uri_template < b.uri_template; };
  std::unordered_set<std::string> seen;
  std::erase_if(templates_, [&seen](const resource_template& entry) { return !seen.insert(entry.uri_template).second; });
  std::sort(templates_.begin(), templates_.end(), text_less);
}

void list_snapshot::add_skills(std::vector<skill> remote_skills, const uri_mapping& mapping, const uri_filter& filter) {
  for (auto& remote : remote_skills) {
    const auto name = remote.uri;
    if (!map_uri(remote.uri, name, mapping, filter)) continue;
    auto local_skill = mcp::to_local_skill(std::move(remote), mapping, filter);
    if (!local_skill) {
      add_skipped(name, name, "one of its files has a URI that cannot be served here");
      continue;
    }
    skills_.push_back(std::move(*local_skill));
  }
  std::unordered_set<std::string> seen;
  std::erase_if(skills_, [&seen](const skill& entry) { return !seen.insert(entry.uri).second; });
  std::sort(skills_.begin(), skills_.end(), [](const skill& a, const skill& b) { return precedes(a.uri, b.uri); });
}

std::optional<std::string> list_snapshot::map_uri(const std::string& remote_uri, const std::string& name,
                                                  const uri_mapping& mapping, const uri_filter& filter) {
  if (const auto reason = filter.rejection_reason(remote_uri); !reason.empty()) {
    add_skipped(remote_uri, name, reason);
    return std::nullopt;
  }
  if (mapping.count_passes(remote_uri) >= max_passes) {
    add_skipped(remote_uri, name, "it already passed through this mount");
    return std::nullopt;
  }
  auto local_uri = mapping.to_local(remote_uri);
  if (!local_uri) {
    add_skipped(remote_uri, name, "its URI cannot be used: " + sanitize(local_uri.error().public_text, max_line_bytes));
    return std::nullopt;
  }
  return std::move(*local_uri);
}

void list_snapshot::add_skipped(const std::string& remote_uri, const std::string& name, const std::string& reason) {
  ++skipped_count_;
  if (skipped_.size() == max_skipped) return;
  const auto uri = sanitize(remote_uri, max_line_bytes);
  skipped_.push_back({name.empty() || name == remote_uri ? uri : name + " (" + uri + ')', {}, false, reason});
}

std::optional<std::string> list_snapshot::remote_uri_of(std::string_view uri) const {
  const auto match = remote_uris_.find(std::string(uri));
  return match == remote_uris_.end() ? std::nullopt : std::optional(match->second);
}

std::optional<resource> list_snapshot::find_entry(std::string_view uri) const {
  if (auto listed = entries_.find(uri)) return listed;
  const auto alias = canonical_uris_.find(std::string(uri));
  return alias == canonical_uris_.end() ? std::nullopt : entries_.find(alias->second);
}

bool list_snapshot::is_equivalent(const list_snapshot& other) const {
  if (entries_.size() != other.entries_.size() || templates_ != other.templates_) return false;
  if (!std::equal(skills_.begin(), skills_.end(), other.skills_.begin(), other.skills_.end(), is_same)) return false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_.at(i) != other.entries_.at(i)) return false;
  }
  return remote_uris_ == other.remote_uris_;
}

}  // namespace hondana::mcp
