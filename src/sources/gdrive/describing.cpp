/// What a file's entry says, however it is asked for, and to whom.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "sources/gdrive/describe.hpp"
#include "sources/gdrive/provider.hpp"
#include "sources/gdrive/sheets.hpp"

namespace hondana::gdrive {
bool gdrive_provider::may_follow(const scene& in, const item& from, const caller& who) {
  if (!who.view) return true;
  const auto* now = &from;
  for (std::size_t hops = 0; now->is_shortcut() && hops < most_hops; ++hops) {
    const auto* next = in.find(now->target);
    // Of what never was listed no change is told.
    if (const auto* last = next == nullptr ? in.ended(now->target) : nullptr) return is_readable(who, *last);
    if (next == nullptr) return true;
    const auto entry = in.entries().find(next->uri);
    if (!entry || !is_readable(who, *entry)) return false;
    now = next->what.get();
  }
  return !now->is_shortcut();
}

bool gdrive_provider::is_shown(const scene& in, const resource& entry, const caller& who) {
  if (!is_seen(who, entry)) return false;
  const auto* shortcut = who.view && entry.kind == "shortcut" ? in.at(entry.uri) : nullptr;
  return shortcut == nullptr || may_follow(in, *shortcut->what, who);
}

std::vector<resource> gdrive_provider::wholes_of(const scene& in, const item& what, const std::string& uri) const {
  std::vector<resource> all;
  auto listed = uri.empty() ? std::nullopt : in.entries().find(uri);
  const auto* known = in.find(what.id);
  const bool is_where_it_was =
      listed && known != nullptr && known->what->parent == what.parent && known->what->name == what.name;
  all.push_back(listed ? std::move(*listed) : entry_of(what, how_.scheme + ":///" + what.id, {}));
  const auto place = is_where_it_was ? std::string() : in.would_be_at(what);
  if (!place.empty()) all.push_back(entry_of(what, place, {}));
  return all;
}

result<resource> gdrive_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto what, address_of(how_.scheme, request.uri));
  HONDANA_TRY(const auto known, ready(request));
  const auto& in = *known;
  if (auto entry = in.entries().find(request.uri)) {
    const auto* listed = request.who.view ? in.at(request.uri) : nullptr;
    if (listed != nullptr && !may_follow(in, *listed->what, request.who)) return nothing_there();
    return std::move(*entry);
  }
  const bool is_file = what.what == address::place::id || what.what == address::place::path;
  if (!is_file) {
    auto content = what.what == address::place::top ? [&] {
      read_request inside;
      static_cast<call&>(inside) = static_cast<const call&>(request);
      return read_folder(in, {}, inside);
    }()
                                                    : read_view(in, what.what, request.who);
    if (!content) return tl::unexpected(std::move(content.error()));
    resource entry;
    entry.uri = request.uri;
    entry.name = content->contents.front().name.empty() ? how_.name : content->contents.front().name;
    entry.mimeType = content->contents.front().mimeType;
    entry.kind = what.what == address::place::top ? "folder" : "list";
    entry.version = std::move(content->version);
    return entry;
  }
  HONDANA_TRY(const auto one, find(in, what, request));
  if (!may_follow(in, *one.what, request.who)) return nothing_there();
  auto entry = entry_of(*one.what, request.uri, {});
  const auto listed = one.uri.empty() ? std::nullopt : in.entries().find(one.uri);
  if (listed) {
    entry = *listed;
    entry.uri = request.uri;
  }
  const auto wholes = request.who.view ? wholes_of(in, *one.what, one.uri) : std::vector<resource>();
  const auto* placed = in.find(one.what->id);
  if (what.sheet) {
    if (placed == nullptr || std::find(placed->sheets.begin(), placed->sheets.end(), *what.sheet) == placed->sheets.end())
      return fail(errc::resource_not_found,
                  "The spreadsheet has no sheet of this name, or has not been read yet. Read it first.");
    auto base = entry;
    base.uri = request.uri.substr(0, request.uri.find('?'));
    entry = entry_of_sheet(base, *what.sheet);
    entry.uri = request.uri;
    if (!may_read_sheet(request.who, wholes, *what.sheet)) return nothing_there();
  }
  if (what.is_original) {
    if (!may_read_original(request.who, wholes)) return nothing_there();
    entry.mimeType = one.what->mime_type;
    entry.size = one.what->size;
  }
  return entry;
}

}  // namespace hondana::gdrive
