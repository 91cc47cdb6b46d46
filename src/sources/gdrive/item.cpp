/// Taking over what Drive says.
#include "sources/gdrive/item.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hondana/facts.hpp>

#include "text/language/language.hpp"

namespace hondana::gdrive {

namespace {

/// All but old files have one.
constexpr std::size_t most_owners = 10;

/// Whoever shares a file chooses their name: it is neither an address nor several names.
std::string as_a_name(std::string name) {
  const auto folded = language::folded(name);
  if (folded.find('@') != std::string::npos) return {};
  std::replace(name.begin(), name.end(), ',', ' ');
  return folded.find(',') == std::string::npos || language::folded(name).find(',') == std::string::npos ? name : std::string();
}

std::string owners_of(const drive::file& from) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most_owners, from.owners.size()); ++i) {
    const auto one = from.owners[i].email.empty() ? as_a_name(from.owners[i].name) : from.owners[i].email;
    if (one.empty()) continue;
    if (!out.empty()) out += between_owners;
    out += one;
  }
  return out;
}

}  // namespace

shared_item item_of(const drive::file& from, std::string home) {
  item made;
  made.id = from.id;
  made.name = from.name;
  made.mime_type = from.mime_type;
  if (!from.parents.empty()) made.parent = from.parents.front();
  made.home = std::move(home);
  made.version = from.version;
  made.content = !from.md5.empty() ? from.md5 : from.head_revision;
  made.owner = owners_of(from);
  made.web_link = from.web_link;
  made.resource_key = from.resource_key;
  if (from.leads_to) {
    made.target = from.leads_to->target;
    made.target_type = from.leads_to->target_type;
    made.target_key = from.leads_to->target_key;
  }
  made.size = from.size;
  made.modified = from.modified;
  made.created = from.created;
  made.is_trashed = from.is_trashed;
  made.is_starred = from.is_starred;
  made.is_barred = from.may_be_downloaded == false;
  return std::make_shared<const item>(std::move(made));
}

std::string version_of(const item& of) {
  constexpr std::string_view editors = "application/vnd.google-apps.";
  // What Google's editors hold has revisions without bytes; `version` is what grows with each change of these.
  const bool has_bytes = !of.mime_type.starts_with(editors);
  // Who has read it before must notice that it is not to be had any more.
  return (has_bytes && !of.content.empty() ? of.content : of.version) + (of.is_barred ? "-barred" : "");
}

}  // namespace hondana::gdrive
