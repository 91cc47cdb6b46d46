/// Files of skills, checked against what was announced of them.
#include <algorithm>
#include <utility>

#include "base/bytes/sha256.hpp"
#include "client/narrowing.hpp"
#include "text/front_matter/frontmatter.hpp"

namespace hondana::outbound {
namespace {

std::string named(std::string_view uri) { return '"' + std::string(uri.substr(0, 500)) + '"'; }

tl::unexpected<failure> unlike(std::string_view uri, const std::string& what) {
  return fail(errc::broken_protocol,
              "the skill's file " + named(uri) + " is rejected because it differs from its announcement: " + what);
}

/// Fields in which what was read and what was announced differ; empty when they agree.
std::string difference(const value& announced, const value& found) {
  std::string out;
  const auto add = [&out](const std::string& name) { out += (out.empty() ? "" : ", ") + name.substr(0, 100); };
  for (const auto& [name, one] : *announced.as_object()) {
    const auto* other = found.find(name);
    if (other == nullptr || !(*other == one)) add(name);
  }
  for (const auto& [name, one] : *found.as_object()) {
    if (announced.find(name) == nullptr) add(name);
  }
  return out;
}

/// Spec: the extension io.modelcontextprotocol/skills, #integrity-and-verification.
result<void> check_front(const skill& whose, std::string_view uri, const std::string& bytes) {
  const auto found = front_matter::parse_frontmatter(std::string_view(bytes).substr(0, front_matter::front_bytes));
  if (!found) return unlike(uri, "its frontmatter cannot be read: " + found.error().public_text);
  if (whose.frontmatter.as_object() == nullptr || found->as_object() == nullptr) return unlike(uri, "it has no frontmatter");
  if (const auto fields = difference(whose.frontmatter, *found); !fields.empty())
    return unlike(uri, "its frontmatter differs in " + fields);
  return {};
}

}  // namespace

result<read_answer> read_skill_file(engine& of, const skill& whose, std::string_view uri, const call_options& how) {
  const skill_file* entry = nullptr;
  if (whose.files) {
    const auto found =
        std::find_if(whose.files->begin(), whose.files->end(), [uri](const skill_file& one) { return one.uri == uri; });
    if (found == whose.files->end())
      return fail(errc::invalid_argument,
                  named(uri) + " is not a file of the skill " + named(whose.uri) + "; its entry lists the files");
    entry = &*found;
  }
  auto got = of.read(uri, {}, {}, how);
  if (!got) return got;
  if (got->items.size() != 1) return unlike(uri, "expected one content, got " + std::to_string(got->items.size()));
  const auto& content = got->items.front().bytes;
  if (entry != nullptr) {
    if (content.size() != entry->size)
      return unlike(uri, std::to_string(content.size()) + " bytes instead of " + std::to_string(entry->size));
    bytes::sha256 digest;
    digest.feed(content);
    if (const auto made = digest.finish(); made != entry->digest)
      return unlike(uri, "its digest is " + made + " instead of " + entry->digest);
  }
  if (uri == whose.uri) {
    HONDANA_TRY(check_front(whose, uri, content));
  }
  return got;
}

}  // namespace hondana::outbound
