/// The reads of the Google Drive provider: finding the file, sheets, access checks and content.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/bytes/digest.hpp"
#include "base/bytes/prepared_content.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/gdrive/address.hpp"
#include "sources/gdrive/catalog_entries.hpp"
#include "sources/gdrive/charset_conversion.hpp"
#include "sources/gdrive/gdrive_provider.hpp"

namespace hondana::gdrive {
namespace {

std::string names_of(const std::vector<part>& sheets) {
  constexpr std::size_t most_named = 20;
  std::string out;
  std::size_t count = 0;
  for (const auto& one : sheets) {
    if (count++ == most_named) return out + ", …";
    (out += out.empty() ? "" : ", ") += '"' + shown(one.sheet) + '"';
  }
  return out;
}

}  // namespace

tl::unexpected<failure> no_such_sheet(const std::string& name, const std::vector<part>& sheets, const std::string& asked,
                                      const caller& who) {
  const auto there = "it has " + names_of(sheets);
  // A hidden sheet and a missing one must look alike to a caller with an access filter. The index must drop the sheet.
  if (who.view) return fail(errc::resource_not_found, "The spreadsheet has no such sheet.", there);
  return fail(errc::invalid_argument, "sheet: \"" + name + "\" has no sheet \"" + shown(asked) + "\"; " + there +
                                          ". Use one of them, or leave out the parameter for all.");
}

bool may_read_sheet(const caller& who, const std::vector<resource>& wholes, const std::string& sheet) {
  return std::all_of(wholes.begin(), wholes.end(),
                     [&](const auto& whole) { return is_readable(who, entry_of_sheet(whole, sheet)); });
}

bool may_read_sheets(const caller& who, const std::vector<resource>& wholes, const std::vector<std::string>& all) {
  return std::all_of(all.begin(), all.end(), [&](const auto& sheet) { return may_read_sheet(who, wholes, sheet); });
}

bool may_read_original(const caller& who, const std::vector<resource>& wholes) {
  return std::all_of(wholes.begin(), wholes.end(), [&who](resource whole) {
    whole.uri += "?format=original";
    return is_readable(who, whole);
  });
}

namespace {

constexpr std::chrono::seconds most_patience{15};
constexpr std::chrono::seconds little_patience{5};
constexpr std::chrono::seconds least_patience{1};
constexpr std::size_t most_recent = 50;
constexpr std::size_t most_starred = 1'000;

/// Whether an error concerns all files. A new log-in, or time, resolves it without a change of any file's version.
bool is_of_all_files(const drive::refusal& why) {
  switch (why.what) {
    case drive::trouble::unauthorized:
    case drive::trouble::scope_missing:
      return true;
    case drive::trouble::forbidden:
      return why.reason.empty() || why.reason == "appNotAuthorizedToFile";
    default:
      return false;
  }
}

/// Makes the error for a caller that knows of the file, or may know of all.
/// Callers see both "not found" and "access denied" as "not found", which would hide the remedy. So both become
/// source_unavailable. For the index, errors of one file stay as they are: it drops the file and does not retry. Errors of all
/// files become source_unavailable: it retries.
tl::unexpected<failure> told(drive::refusal why, bool is_for_index) {
  const bool is_as_said = is_for_index && why.is_of_one_file() && !is_of_all_files(why);
  if ((is_for_index && is_of_all_files(why)) ||
      (!is_as_said && (why.why.code == errc::resource_not_found || why.why.code == errc::access_denied)))
    why.why.code = errc::source_unavailable;
  return tl::unexpected(std::move(why.why));
}

void wait_at_most(drive::errand& how, std::chrono::seconds patience) {
  const auto soon = monotonic_clock::now() + patience;
  how.until = how.until ? std::min(*how.until, soon) : soon;
}

drive::refusal barred(const item& of) {
  drive::refusal made;
  made.what = drive::trouble::forbidden;
  made.reason = "cannotDownloadFile";
  made.why = {errc::access_denied,
              "cannot read \"" + name_shown(of) +
                  "\": its owner does not let viewers download, print or copy it; ask the owner to allow it in the file's "
                  "sharing settings",
              {}};
  return made;
}

void add_facts(content& to, const fetched& from, const part& of) {
  if (!of.sheet.empty()) to.metadata.emplace_back(sheet_key, shown(of.sheet));
  if (!of.charset.empty()) to.metadata.emplace_back(charset_key, of.charset);
  if (of.replaced > 0) to.metadata.emplace_back(replaced_key, static_cast<std::int64_t>(of.replaced));
  if (of.is_cut) to.metadata.emplace_back(cut_key, true);
  if (from.is_by_link) to.metadata.emplace_back(by_link_key, true);
  if (!from.problem.empty()) to.metadata.emplace_back(problem_key, from.problem);
  if (!from.age) return;
  to.metadata.emplace_back(offline_key, true);
  to.metadata.emplace_back(age_key, static_cast<std::int64_t>(from.age->count()));
}

}  // namespace

drive::errand gdrive_provider::errand_of(const scene& in, const item& of, const call& by) const {
  drive::errand how;
  how.stop = by.stop;
  if (by.deadline != std::chrono::steady_clock::time_point::max()) how.until = by.deadline;
  how.keys = in.keys_of(of);
  return how;
}

result<gdrive_provider::found> gdrive_provider::find_by_id(const scene& in, const std::string& id, const std::string& key,
                                                           const call& by) const {
  if (const auto* one = in.find(id)) {
    const auto entry = in.entries().find(one->uri);
    if (!entry || !is_readable(by.who, *entry)) return nothing_there();
    return found{one->what, one->uri, {}};
  }
  // The file's drive is unknown, and so is whether that drive is served.
  if (!how_.drives.empty()) return nothing_there();
  const auto uri = how_.scheme + ":///" + id;
  if (by.who.view && !by.who.view->may_read(uri)) return nothing_there();
  item unknown;
  unknown.id = id;
  unknown.resource_key = key;
  auto how = errand_of(in, unknown, by);
  wait_at_most(how, follower_.is_cut_off() ? little_patience : most_patience);
  auto file = how_.from->file(id, how);
  // A caller with an access filter must not learn which files exist.
  if (!file && by.who.view && !says_unreachable(file.error()) && file.error().what != drive::trouble::busy)
    return nothing_there();
  if (!file) return told(file.error(), model::is_index(by.who));
  if (file->is_trashed || (!how_.has_shared_drives && !file->drive_id.empty())) return nothing_there();
  auto what = item_of(*file, file->drive_id);
  if (by.who.view && !may_have_unlisted(in, *what, by.who)) return nothing_there();
  return found{std::move(what), {}, {}};
}

bool gdrive_provider::may_have_unlisted(const scene& in, const item& what, const caller& who) const {
  // The file may just have moved to a place that rules hide from this caller, as the next poll would show.
  const auto place = in.would_be_at(what);
  return !place.empty() && is_readable(who, entry_of(what, how_.scheme + ":///" + what.id, {})) &&
         is_readable(who, entry_of(what, place, {}));
}

result<gdrive_provider::found> gdrive_provider::find(const scene& in, const address& what, const call& by) const {
  if (what.what == address::place::id) return find_by_id(in, what.id, {}, by);
  const auto* one = in.at(what.uri);
  if (one == nullptr) one = in.at(listed_spelling(what.uri));
  if (one == nullptr) return nothing_there();
  const auto entry = in.entries().find(one->uri);
  if (!entry || !is_readable(by.who, *entry)) return nothing_there();
  return found{one->what, one->uri, {}};
}

result<gdrive_provider::found> gdrive_provider::followed(const scene& in, found from, const call& by) const {
  std::set<std::string> seen;
  const auto name = name_shown(*from.what);
  while (from.what->is_shortcut()) {
    if (!seen.insert(from.what->id).second || seen.size() > most_hops)
      return fail(errc::invalid_argument,
                  "The shortcut \"" + name + "\" leads in a circle and never to a file. Correct it in Drive.");
    if (!drive::is_id(from.what->target))
      return fail(errc::resource_not_found, "The shortcut \"" + name + "\" has no target. Correct it in Drive.");
    auto next = find_by_id(in, from.what->target, from.what->target_key, by);
    if (!next && next.error().code == errc::resource_not_found)
      return fail(errc::resource_not_found,
                  "The target of the shortcut \"" + name + "\" does not exist, or is not shared with this account. Share it.",
                  next.error().private_text);
    if (!next) return next;
    next->through = next->uri.empty() ? how_.scheme + ":///" + next->what->id : next->uri;
    from = std::move(*next);
  }
  return from;
}

void gdrive_provider::heed(const found& of, const drive::refusal& why, bool is_of_content) {
  using drive::trouble;
  if (!says_refused(why)) return;
  if (why.what == trouble::not_found && !of.uri.empty()) follower_.lost(of.what->id);
  // Otherwise the cached content would be served the next time that Drive is unreachable.
  const bool is_of_all = why.what == trouble::unauthorized || why.what == trouble::not_enabled ||
                         (why.what == trouble::scope_missing && !is_of_content);
  const auto done = is_of_all ? where_->set_refused(true) : where_->forget_contents(of.what->id);
  if (!done && how_.log) how_.log(how_.name + ": " + done.error().public_text);
}

bool gdrive_provider::has_left(const scene& in, const drive::file& now, const item& before) const {
  if (!now.drive_id.empty() && (!how_.has_shared_drives || in.leaves_out(now.drive_id))) return true;
  auto there = *item_of(now, now.drive_id);
  // The home of a file that is shared individually out of an unknown drive is the user's.
  const bool has_moved = there.parent != before.parent || (!before.home.empty() && there.home != before.home);
  if (how_.drives.empty() || !has_moved) return false;
  auto place = in.would_be_at(there);
  if (place.empty() && !now.drive_id.empty()) {
    // If its folder is unknown, its drive may be known.
    there.parent = now.drive_id;
    place = in.would_be_at(there);
  }
  const auto& served = in.drives();
  return !place.starts_with(how_.scheme + ":///") && std::none_of(served.begin(), served.end(), [&](const auto& one) {
    return place.starts_with(how_.scheme + "://" + one.first + '/');
  });
}

result<gdrive_provider::found> gdrive_provider::now(const scene& in, found from, const call& by) {
  // The index reads thousands of files in a row, and reads again each file that a later poll reports.
  const bool is_for_index = model::is_index(by.who);
  if (from.uri.empty() || follower_.is_sure(is_for_index ? 2 * how_.longest : how_.lately)) return from;
  auto how = errand_of(in, *from.what, by);
  // A cached content is served if Drive does not answer. If Drive did not answer the last time, the wait is short.
  wait_at_most(how, !follower_.is_cut_off() ? most_patience : fetcher_.has_kept(*from.what) ? least_patience : little_patience);
  auto file = how_.from->file(from.what->id, how);
  if (!file) {
    const auto& why = file.error();
    heed(from, why, false);
    if (!says_unreachable(why)) return told(why, is_for_index);
    if (says_cut_off(why)) follower_.heard_nothing();
    from.is_offline = true;
    from.why = why.why;
    return from;
  }
  follower_.heard_something();
  if (file->is_trashed) {
    follower_.lost(from.what->id);
    return nothing_there();
  }
  if (auto done = where_->set_refused(false); !done && how_.log) how_.log(how_.name + ": " + done.error().public_text);
  if (has_left(in, *file, *from.what)) {
    follower_.noted(*file);
    if (auto done = where_->forget_contents(file->id); !done && how_.log) how_.log(how_.name + ": " + done.error().public_text);
    return nothing_there();
  }
  auto newer = item_of(*file, from.what->home);
  if (*newer != *from.what) follower_.noted(*file);
  // Access rules apply to the place where the next poll will list the file.
  const bool has_moved =
      file->drive_id != from.what->home || newer->parent != from.what->parent || newer->name != from.what->name;
  if (has_moved && by.who.view && !is_for_index) {
    const auto there = item_of(*file, file->drive_id);
    const auto place = in.would_be_at(*there);
    if (place.empty() || !is_readable(by.who, entry_of(*there, place, {}))) return nothing_there();
  }
  from.what = std::move(newer);
  return from;
}

result<reading> gdrive_provider::read_view(const scene& in, address::place which, const caller& who) const {
  const bool is_starred = which == address::place::starred;
  const auto fits = [is_starred](const item& one) {
    return !one.is_folder() && !one.is_shortcut() && (!is_starred || one.is_starred);
  };
  std::string text = is_starred ? "# Starred\n\n" : "# Recent\n\n";
  std::size_t count = 0;
  for (const auto* one : in.latest(in.files(), fits)) {
    if (count == (is_starred ? most_starred : most_recent)) break;
    const auto entry = in.entries().find(one->uri);
    if (!entry || !is_seen(who, *entry)) continue;
    ++count;
    auto name = entry->name;
    for (auto at = name.find_first_of("[]\\"); at != std::string::npos; at = name.find_first_of("[]\\", at + 2))
      name.insert(at, "\\");
    text += "- [" + name + "](" + one->uri + ')';
    if (one->what->modified) text += ", " + drive::spelled(*one->what->modified);
    text += '\n';
  }
  reading answer;
  answer.version = bytes::to_hex(bytes::digest_of(text));
  content item;
  item.name = is_starred ? "starred" : "recent";
  item.mimeType = "text/markdown";
  item.form = content_form::text;
  item.data = std::make_shared<const std::string>(std::move(text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<reading> gdrive_provider::read_folder(const scene& in, const std::string& uri, const read_request& request) {
  children_request next;
  static_cast<call&>(next) = static_cast<const call&>(request);
  next.uri = uri;
  std::string text;
  for (;;) {
    auto page = uri.empty() ? result<list_result>() : children_of(in, uri, next);
    if (uri.empty()) page->entries = top(in);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (const auto& one : page->entries) {
      if (is_shown(in, one, request.who)) (text += one.uri) += '\n';
    }
    if (text.size() > request.max_bytes)
      return tl::unexpected(bytes::too_large(request.asked_uri, text.size(), request.max_bytes, false));
    if (!page->resume) break;
    next.after = std::move(*page->resume);
  }
  reading answer;
  const auto entry = in.entries().find(uri);
  answer.version = entry && !request.who.view ? entry->version : bytes::to_hex(bytes::digest_of(text));
  content item;
  if (entry) item.name = entry->name;
  item.mimeType = folder_mime_type;
  item.form = content_form::text;
  item.data = std::make_shared<const std::string>(std::move(text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<reading> gdrive_provider::read_file(const scene& in, const address& what, const read_request& request) {
  auto one = find(in, what, request);
  if (!one) return tl::unexpected(std::move(one.error()));
  const auto asked_uri = one->uri.empty() ? request.uri.substr(0, request.uri.find('?')) : one->uri;
  HONDANA_TRY(auto target, followed(in, std::move(*one), request));
  if (target.what->is_folder()) {
    if (what.sheet || what.is_original)
      return fail(errc::invalid_argument, "A folder has no sheets and no original. Leave out the parameter to list it.");
    if (target.uri.empty()) return fail(errc::resource_not_found, "This folder is not in a served drive or folder.");
    return read_folder(in, target.uri, request);
  }
  auto file = now(in, std::move(target), request);
  if (!file) return tl::unexpected(std::move(file.error()));
  const auto how = format_of(*file->what);
  const auto name = name_shown(*file->what);
  if (what.sheet && how.how != way::workbook)
    return fail(errc::invalid_argument, "sheet: \"" + name + "\" is not a Google spreadsheet. Leave out the parameter.");
  if (what.is_original && how.how != way::rendered && how.how != way::bytes)
    return fail(errc::invalid_argument,
                "format: \"" + name + "\" is a document of a Google editor and has no original file. Leave out the parameter.");
  // The index requests each part separately, so its parts need no check.
  const auto wholes =
      request.who.view && !model::is_index(request.who) ? wholes_of(in, *file->what, file->uri) : std::vector<resource>();
  if ((what.sheet && !may_read_sheet(request.who, wholes, *what.sheet)) ||
      (what.is_original && !may_read_original(request.who, wholes)))
    return nothing_there();
  if (file->what->is_barred && how.how != way::none) {
    const auto why = barred(*file->what);
    heed(*file, why, true);
    return told(why, model::is_index(request.who));
  }
  reading answer;
  answer.version = version_of(*file->what);
  // The version does not change when access to parts is withdrawn, for example if a folder above the file moves.
  const auto* placed = in.find(file->what->id);
  const bool may_lack_parts = !wholes.empty() && !what.sheet && !what.is_original &&
                              (how.how == way::workbook ? placed == nullptr || placed->sheets.empty() ||
                                                              !may_read_sheets(request.who, wholes, placed->sheets)
                                                        : how.how == way::rendered && !may_read_original(request.who, wholes));
  if (!file->is_offline && !answer.version.empty() && answer.version == request.if_version && !may_lack_parts) return answer;
  wanted which{file->what, in.keys_of(*file->what), file->is_offline};
  which.why = file->why;
  which.sure_at = follower_.sure_at();
  auto got = what.is_original ? fetcher_.original_of(which, request, request.max_bytes)
                              : fetcher_.content_of(which, request, request.max_bytes);
  if (!got) {
    heed(*file, got.error(), true);
    // The lists must show this from now on. Otherwise no client would read again after the owner allows downloads.
    if (got.error().reason == "cannotDownloadFile" && !file->uri.empty()) {
      auto soon = errand_of(in, *file->what, request);
      wait_at_most(soon, little_patience);
      if (const auto as_it_is = how_.from->file(file->what->id, soon)) follower_.noted(*as_it_is);
    }
    return told(std::move(got.error()), model::is_index(request.who));
  }
  if (how.how == way::bytes && !what.is_original) {
    for (auto& given : got->parts) {
      HONDANA_TRY(convert_to_utf8(given, request.max_bytes));
    }
  }
  // Without a version, no client caches it or mistakes it for a content that was read from Drive.
  if (got->age) answer.version.clear();
  if (how.how == way::workbook && got->problem.empty()) {
    std::vector<std::string> names;
    for (const auto& sheet : got->parts) names.push_back(sheet.sheet);
    if (!file->uri.empty()) follower_.noted_sheets(file->what->id, std::move(names));
  }
  if (what.sheet) {
    const auto is_asked = [&what](const part& sheet) { return sheet.sheet == *what.sheet; };
    if (std::none_of(got->parts.begin(), got->parts.end(), is_asked))
      return no_such_sheet(name, got->parts, *what.sheet, request.who);
    std::erase_if(got->parts, std::not_fn(is_asked));
    got->parts.resize(1);
  }
  const auto is_hidden = [&](const part& given) {
    return (!given.sheet.empty() && !may_read_sheet(request.who, wholes, given.sheet)) ||
           (given.is_original && !what.is_original && !may_read_original(request.who, wholes));
  };
  // The version is that of the whole file. A caller that may read more later must not be answered "unchanged".
  if (std::erase_if(got->parts, is_hidden) > 0) {
    answer.version.clear();
    if (got->parts.empty() && !got->problem.empty()) return fail(errc::unsupported, '"' + name + "\": " + got->problem);
  }
  std::uint64_t total = 0;
  for (auto& next : got->parts) {
    content item;
    item.name = next.sheet.empty() ? name : name + " / " + shown(next.sheet);
    item.title = item.name;
    item.mimeType = next.mime_type;
    item.form = next.form;
    item.metadata = facts_about(*file->what);
    if (!file->through.empty()) item.metadata.emplace_back(target_key, file->through);
    add_facts(item, *got, next);
    const bool is_first = answer.contents.empty();
    if (!next.sheet.empty() && !what.sheet && !is_first) item.uri = uri_of_sheet(asked_uri, next.sheet);
    if (next.is_original && !is_first) item.uri = asked_uri + "?format=original";
    if (is_first && ((how.how == way::rendered && !next.is_original) || !next.charset.empty()))
      item.metadata.emplace_back(original_key, asked_uri + "?format=original");
    item.data = std::move(next.data);
    if (const auto* bytes = std::get_if<shared_bytes>(&item.data)) total += (*bytes)->size();
    answer.contents.push_back(std::move(item));
  }
  if (answer.contents.empty()) {
    content item;
    item.name = name;
    item.mimeType = "text/csv";
    item.form = content_form::text;
    item.data = std::make_shared<const std::string>();
    item.metadata = facts_about(*file->what);
    answer.contents.push_back(std::move(item));
  }
  if (total > request.max_bytes && how.how == way::workbook)
    return fail(errc::response_too_large, "All sheets together have " + std::to_string(total) +
                                              " bytes, which exceeds the limit of a read. Read one of them: ?sheet=NAME.");
  return answer;
}

result<reading> gdrive_provider::read(const read_request& request) {
  const auto what = address_of(how_.scheme, request.uri);
  if (!what) return tl::unexpected(what.error());
  HONDANA_TRY(const auto known, ready(request));
  const auto& in = *known;
  result<reading> made = [&] {
    if (what->what == address::place::top) return read_folder(in, {}, request);
    if (what->what == address::place::starred || what->what == address::place::recent)
      return read_view(in, what->what, request.who);
    const bool is_drive =
        what->what == address::place::path && what->uri.find('/', how_.scheme.size() + 3) == std::string::npos;
    if (!is_drive) return read_file(in, *what, request);
    if (what->sheet || what->is_original)
      return result<reading>(
          fail(errc::invalid_argument, "A drive has no sheets and no original. Leave out the parameter to list it."));
    if (!in.entries().find(what->uri)) return result<reading>(fail(errc::resource_not_found, "Drive not found."));
    return read_folder(in, what->uri, request);
  }();
  if (made && !made->version.empty() && made->version == request.if_version) made->contents.clear();
  return made;
}

}  // namespace hondana::gdrive
