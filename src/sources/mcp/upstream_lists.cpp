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

std::size_t weight_of(const std::vector<icon>& icons) {
  std::size_t sum = 0;
  for (const auto& one : icons) {
    sum += sizeof one + one.src.size() + one.mimeType.size() + one.theme.size();
    for (const auto& size : one.sizes) sum += sizeof(std::string) + size.size();
  }
  return sum;
}

std::size_t weight_of(const metadata& facts) {
  std::size_t sum = 0;
  for (const auto& [key, what] : facts) {
    const auto* text = std::get_if<std::string>(&what);
    sum += sizeof(metadata::value_type) + key.size() + (text == nullptr ? 0 : text->size());
  }
  return sum;
}

}  // namespace

std::size_t weight_of(const resource& entry) {
  return sizeof entry + entry.uri.size() + entry.name.size() + entry.title.size() + entry.description.size() +
         entry.mimeType.size() + entry.kind.size() + entry.version.size() + weight_of(entry.icons) + weight_of(entry.metadata);
}

std::size_t weight_of(const resource_template& entry) {
  return sizeof entry + entry.uriTemplate.size() + entry.name.size() + entry.title.size() + entry.description.size() +
         entry.mimeType.size() + weight_of(entry.icons);
}

std::size_t weight_of(const skill& entry) {
  // A parsed value takes several times the memory of its text.
  constexpr std::size_t spread = 4;
  std::size_t sum = sizeof entry + entry.uri.size() + spread * entry.frontmatter.to_text().size();
  if (!entry.files) return sum;
  for (const auto& one : *entry.files) sum += sizeof one + one.uri.size() + one.digest.size();
  return sum;
}

namespace {

constexpr std::size_t most_left_out = 1000;
/// An entry that passed this mount twice is in a cycle.
constexpr std::size_t most_turns = 2;

bool before(std::string_view a, std::string_view b) { return std::is_lt(compare_by_segment(a, b)); }

bool is_same(const skill& a, const skill& b) { return a.uri == b.uri && a.files == b.files && a.frontmatter == b.frontmatter; }

}  // namespace

std::optional<skill> adopted(skill theirs, const naming& names, const rules& which) {
  auto uri = names.ours(theirs.uri);
  if (!uri) return std::nullopt;
  theirs.uri = std::move(*uri);
  if (!theirs.files) return theirs;
  std::erase_if(*theirs.files, [&which](const skill_file& file) { return !which.reason_against(file.uri).empty(); });
  for (auto& file : *theirs.files) {
    auto one = names.ours(file.uri);
    if (!one) return std::nullopt;
    file.uri = std::move(*one);
  }
  std::sort(theirs.files->begin(), theirs.files->end(),
            [](const skill_file& a, const skill_file& b) { return before(a.uri, b.uri); });
  return theirs;
}

shelf::shelf(gathered from, const naming& names, const rules& which)
    : ttl_(from.ttl), entries_(adopted(std::move(from.entries), names, which)) {
  adopt(std::move(from.templates), names, which);
  adopt(std::move(from.skills), names, which);
  const auto add = [this](bool is_missing, std::size_t count, const char* what) {
    if (!is_missing) return;
    shortness_ += (shortness_.empty() ? "only the first " : ", the first ") + std::to_string(count) + ' ' + what;
  };
  add(from.has_more_entries, entries_.size(), "entries");
  add(from.has_more_templates, templates_.size(), "templates");
  add(from.has_more_skills, skills_.size(), "skills");
  if (!shortness_.empty())
    shortness_ += " of the mounted server are served; raise max_entries or max_templates, unless its lists are larger than " +
                  std::to_string(most_list_bytes >> 20) + " MiB";
}

std::vector<resource> shelf::adopted(std::vector<resource> theirs, const naming& names, const rules& which) {
  std::vector<resource> ours;
  std::unordered_set<std::string> seen;
  ours.reserve(theirs.size());
  for (auto& entry : theirs) {
    auto uri = take(entry.uri, entry.name, names, which);
    if (!uri) continue;
    if (!seen.insert(*uri).second) {
      leave_out(entry.uri, entry.name, "it is listed twice");
      continue;
    }
    if (*uri != names.prefix() + entry.uri) spellings_.emplace(*uri, entry.uri);
    if (const auto canonical = canonical_uri(entry.uri); canonical && names.prefix() + *canonical != *uri)
      listed_as_.emplace(names.prefix() + *canonical, *uri);
    entry.uri = std::move(*uri);
    ours.push_back(std::move(entry));
  }
  return ours;
}

void shelf::adopt(std::vector<resource_template> theirs, const naming& names, const rules& which) {
  for (auto& one : theirs) {
    if (const auto reason = which.reason_against(one.uriTemplate); !reason.empty()) {
      leave_out(one.uriTemplate, one.name, reason);
      continue;
    }
    if (names.turns(one.uriTemplate) >= most_turns) {
      leave_out(one.uriTemplate, one.name, "it already passed through this mount");
      continue;
    }
    auto text = names.prefix() + one.uriTemplate;
    const auto compiled = uri_template::compile(text);
    if (!compiled || !covers(names.prefix(), compiled->literal_prefix())) {
      leave_out(one.uriTemplate, one.name,
                "the template cannot be used: " +
                    (compiled ? "it leads outside the mount's prefix" : clean(compiled.error().public_text, longest_line)));
      continue;
    }
    one.uriTemplate = std::move(text);
    templates_.push_back(std::move(one));
  }
  const auto by_text = [](const resource_template& a, const resource_template& b) { return a.uriTemplate < b.uriTemplate; };
  std::unordered_set<std::string> seen;
  std::erase_if(templates_, [&seen](const resource_template& one) { return !seen.insert(one.uriTemplate).second; });
  std::sort(templates_.begin(), templates_.end(), by_text);
}

void shelf::adopt(std::vector<skill> theirs, const naming& names, const rules& which) {
  for (auto& one : theirs) {
    const auto name = one.uri;
    if (!take(one.uri, name, names, which)) continue;
    auto ours = mcp::adopted(std::move(one), names, which);
    if (!ours) {
      leave_out(name, name, "one of its files has a URI that cannot be served here");
      continue;
    }
    skills_.push_back(std::move(*ours));
  }
  std::unordered_set<std::string> seen;
  std::erase_if(skills_, [&seen](const skill& one) { return !seen.insert(one.uri).second; });
  std::sort(skills_.begin(), skills_.end(), [](const skill& a, const skill& b) { return before(a.uri, b.uri); });
}

std::optional<std::string> shelf::take(const std::string& theirs, const std::string& name, const naming& names,
                                       const rules& which) {
  if (const auto reason = which.reason_against(theirs); !reason.empty()) {
    leave_out(theirs, name, reason);
    return std::nullopt;
  }
  if (names.turns(theirs) >= most_turns) {
    leave_out(theirs, name, "it already passed through this mount");
    return std::nullopt;
  }
  auto ours = names.ours(theirs);
  if (!ours) {
    leave_out(theirs, name, "its URI cannot be used: " + clean(ours.error().public_text, longest_line));
    return std::nullopt;
  }
  return std::move(*ours);
}

void shelf::leave_out(const std::string& theirs, const std::string& name, const std::string& reason) {
  ++left_out_count_;
  if (left_out_.size() == most_left_out) return;
  const auto uri = clean(theirs, longest_line);
  left_out_.push_back({name.empty() || name == theirs ? uri : name + " (" + uri + ')', {}, false, reason});
}

std::optional<std::string> shelf::spelling_of(std::string_view ours) const {
  const auto found = spellings_.find(std::string(ours));
  return found == spellings_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<resource> shelf::entry_of(std::string_view ours) const {
  if (auto listed = entries_.find(ours)) return listed;
  const auto other = listed_as_.find(std::string(ours));
  return other == listed_as_.end() ? std::nullopt : entries_.find(other->second);
}

bool shelf::says_the_same_as(const shelf& other) const {
  if (entries_.size() != other.entries_.size() || templates_ != other.templates_) return false;
  if (!std::equal(skills_.begin(), skills_.end(), other.skills_.begin(), other.skills_.end(), is_same)) return false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_.at(i) != other.entries_.at(i)) return false;
  }
  return spellings_ == other.spellings_;
}

}  // namespace hondana::mcp
