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

std::string join_names(const std::vector<part>& sheets) {
  constexpr std::size_t max_named = 20;
  std::string out;
  std::size_t count = 0;
  for (const auto& sheet : sheets) {
    if (count++ == max_named) return out + ", …";
    (out += out.empty() ? "" : ", ") += '"' + display_text(sheet.sheet) + '"';
  }
  return out;
}

}  // namespace

tl::unexpected<failure> sheet_not_found(const std::string& name, const std::vector<part>& sheets, const std::string& requested,
                                        const caller_info& caller) {
  const auto existing = "it has " + join_names(sheets);
  // A hidden sheet and a missing one must look alike to a caller with an access filter. The index must drop the sheet.
  if (caller.access_filter) return fail(errc::resource_not_found, "The spreadsheet has no such sheet.", existing);
  return fail(errc::invalid_argument, "sheet: \"" + name + "\" has no sheet \"" + display_text(requested) + "\"; " + existing +
                                          ". Use one of them, or leave out the parameter for all.");
}

bool may_read_sheet(const caller_info& caller, const std::vector<resource>& access_entries, const std::string& sheet) {
  return std::all_of(access_entries.begin(), access_entries.end(),
                     [&](const auto& entry) { return is_readable(caller, make_sheet_entry(entry, sheet)); });
}

bool may_read_sheets(const caller_info& caller, const std::vector<resource>& access_entries,
                     const std::vector<std::string>& sheets) {
  return std::all_of(sheets.begin(), sheets.end(),
                     [&](const auto& sheet) { return may_read_sheet(caller, access_entries, sheet); });
}

bool may_read_original(const caller_info& caller, const std::vector<resource>& access_entries) {
  return std::all_of(access_entries.begin(), access_entries.end(), [&caller](resource entry) {
    entry.uri += "?format=original";
    return is_readable(caller, entry);
  });
}

namespace {

constexpr std::chrono::seconds max_wait{15};
constexpr std::chrono::seconds short_wait{5};
constexpr std::chrono::seconds min_wait{1};
constexpr std::size_t max_recent = 50;
constexpr std::size_t max_starred = 1'000;

/// Whether an error concerns all files. A new log-in, or time, resolves it without a change of any file's version.
bool affects_all_files(const drive::drive_error& error) {
  switch (error.kind) {
    case drive::error_kind::unauthorized:
    case drive::error_kind::insufficient_scope:
      return true;
    case drive::error_kind::forbidden:
      return error.reason.empty() || error.reason == "appNotAuthorizedToFile";
    default:
      return false;
  }
}

/// Makes the error for a caller that knows of the file, or may know of all.
/// Callers see both "not found" and "access denied" as "not found", which would hide the remedy. So both become
/// source_unavailable. For the index, errors of one file stay as they are: it drops the file and does not retry. Errors of all
/// files become source_unavailable: it retries.
tl::unexpected<failure> to_client_error(drive::drive_error error, bool is_for_index) {
  const bool is_unchanged = is_for_index && error.is_file_specific() && !affects_all_files(error);
  if ((is_for_index && affects_all_files(error)) ||
      (!is_unchanged && (error.details.code == errc::resource_not_found || error.details.code == errc::access_denied)))
    error.details.code = errc::source_unavailable;
  return tl::unexpected(std::move(error.details));
}

void limit_wait(drive::call_options& options, std::chrono::seconds timeout) {
  const auto soon = monotonic_clock::now() + timeout;
  options.deadline = options.deadline ? std::min(*options.deadline, soon) : soon;
}

drive::drive_error download_denied_error(const item& item) {
  drive::drive_error error;
  error.kind = drive::error_kind::forbidden;
  error.reason = "cannotDownloadFile";
  error.details = {errc::access_denied,
                   "cannot read \"" + display_name(item) +
                       "\": its owner does not let viewers download, print or copy it; ask the owner to allow it in the file's "
                       "sharing settings",
                   {}};
  return error;
}

void add_metadata(resource_content& output, const fetch_result& fetched, const part& part) {
  if (!part.sheet.empty()) output.metadata.emplace_back(sheet_key, display_text(part.sheet));
  if (!part.charset.empty()) output.metadata.emplace_back(charset_key, part.charset);
  if (part.replaced_count > 0) output.metadata.emplace_back(replaced_key, static_cast<std::int64_t>(part.replaced_count));
  if (part.is_truncated) output.metadata.emplace_back(truncated_key, true);
  if (fetched.uses_export_link) output.metadata.emplace_back(export_link_key, true);
  if (!fetched.problem.empty()) output.metadata.emplace_back(problem_key, fetched.problem);
  if (!fetched.age) return;
  output.metadata.emplace_back(offline_key, true);
  output.metadata.emplace_back(age_key, static_cast<std::int64_t>(fetched.age->count()));
}

}  // namespace

drive::call_options gdrive_provider::make_call_options(const snapshot& snapshot, const item& item,
                                                       const request_context& request) const {
  drive::call_options options;
  options.stop = request.stop;
  if (request.deadline != std::chrono::steady_clock::time_point::max()) options.deadline = request.deadline;
  options.resource_keys = snapshot.resource_keys_of(item);
  return options;
}

result<gdrive_provider::requested_file> gdrive_provider::find_by_id(const snapshot& snapshot, const std::string& id,
                                                                    const std::string& key,
                                                                    const request_context& request) const {
  if (const auto* listed = snapshot.find(id)) {
    const auto entry = snapshot.entries().find(listed->uri);
    if (!entry || !is_readable(request.caller, *entry)) return file_not_found();
    return requested_file{listed->item, listed->uri, {}};
  }
  // The file's drive is unknown, and so is whether that drive is served.
  if (!options_.drive_slugs.empty()) return file_not_found();
  const auto uri = options_.scheme + ":///" + id;
  if (request.caller.access_filter && !request.caller.access_filter->may_read(uri)) return file_not_found();
  item unknown;
  unknown.id = id;
  unknown.resource_key = key;
  auto options = make_call_options(snapshot, unknown, request);
  limit_wait(options, follower_.is_offline() ? short_wait : max_wait);
  auto file = options_.api->get_file(id, options);
  // A caller with an access filter must not learn which files exist.
  if (!file && request.caller.access_filter && !is_unreachable(file.error()) && file.error().kind != drive::error_kind::busy)
    return file_not_found();
  if (!file) return to_client_error(file.error(), model::is_index(request.caller));
  if (file->is_trashed || (!options_.has_shared_drives && !file->drive_id.empty())) return file_not_found();
  auto found_item = make_item(*file, file->drive_id);
  if (request.caller.access_filter && !may_access_unlisted(snapshot, *found_item, request.caller)) return file_not_found();
  return requested_file{std::move(found_item), {}, {}};
}

bool gdrive_provider::may_access_unlisted(const snapshot& snapshot, const item& item, const caller_info& caller) const {
  // The file may just have moved to a place that rules hide from this caller, as the next poll would show.
  const auto place = snapshot.expected_uri(item);
  return !place.empty() && is_readable(caller, make_entry(item, options_.scheme + ":///" + item.id, {})) &&
         is_readable(caller, make_entry(item, place, {}));
}

result<gdrive_provider::requested_file> gdrive_provider::find(const snapshot& snapshot, const address& requested,
                                                              const request_context& request) const {
  if (requested.kind == address::resource_kind::id) return find_by_id(snapshot, requested.id, {}, request);
  const auto* file = snapshot.find_by_uri(requested.uri);
  if (file == nullptr) file = snapshot.find_by_uri(to_listed_uri(requested.uri));
  if (file == nullptr) return file_not_found();
  const auto entry = snapshot.entries().find(file->uri);
  if (!entry || !is_readable(request.caller, *entry)) return file_not_found();
  return requested_file{file->item, file->uri, {}};
}

result<gdrive_provider::requested_file> gdrive_provider::follow_shortcuts(const snapshot& snapshot, requested_file requested,
                                                                          const request_context& request) const {
  std::set<std::string> visited;
  const auto name = display_name(*requested.item);
  while (requested.item->is_shortcut()) {
    if (!visited.insert(requested.item->id).second || visited.size() > max_shortcut_hops)
      return fail(errc::invalid_argument,
                  "The shortcut \"" + name + "\" leads in a circle and never to a file. Correct it in Drive.");
    if (!drive::is_id(requested.item->target))
      return fail(errc::resource_not_found, "The shortcut \"" + name + "\" has no target. Correct it in Drive.");
    auto next = find_by_id(snapshot, requested.item->target, requested.item->target_key, request);
    if (!next && next.error().code == errc::resource_not_found)
      return fail(errc::resource_not_found,
                  "The target of the shortcut \"" + name + "\" does not exist, or is not shared with this account. Share it.",
                  next.error().private_text);
    if (!next) return next;
    next->target_uri = next->uri.empty() ? options_.scheme + ":///" + next->item->id : next->uri;
    requested = std::move(*next);
  }
  return requested;
}

void gdrive_provider::record_denial(const requested_file& requested, const drive::drive_error& error, bool is_content_error) {
  using drive::error_kind;
  if (!is_access_denied(error)) return;
  if (error.kind == error_kind::not_found && !requested.uri.empty()) follower_.report_lost(requested.item->id);
  // Otherwise the cached content would be served the next time that Drive is unreachable.
  const bool affects_all = error.kind == error_kind::unauthorized || error.kind == error_kind::not_enabled ||
                           (error.kind == error_kind::insufficient_scope && !is_content_error);
  const auto stored = affects_all ? store_->set_access_denied(true) : store_->remove_contents(requested.item->id);
  if (!stored && options_.log) options_.log(options_.name + ": " + stored.error().public_text);
}

bool gdrive_provider::has_moved_out(const snapshot& snapshot, const drive::file& file, const item& previous) const {
  if (!file.drive_id.empty() && (!options_.has_shared_drives || snapshot.is_excluded_drive(file.drive_id))) return true;
  auto moved = *make_item(file, file.drive_id);
  // The home of a file that is shared individually out of an unknown drive is the user's.
  const bool has_moved = moved.parent != previous.parent || (!previous.home.empty() && moved.home != previous.home);
  if (options_.drive_slugs.empty() || !has_moved) return false;
  auto place = snapshot.expected_uri(moved);
  if (place.empty() && !file.drive_id.empty()) {
    // If its folder is unknown, its drive may be known.
    moved.parent = file.drive_id;
    place = snapshot.expected_uri(moved);
  }
  const auto& served = snapshot.drives();
  return !place.starts_with(options_.scheme + ":///") && std::none_of(served.begin(), served.end(), [&](const auto& drive) {
    return place.starts_with(options_.scheme + "://" + drive.first + '/');
  });
}

result<gdrive_provider::requested_file> gdrive_provider::refresh_file(const snapshot& snapshot, requested_file requested,
                                                                      const request_context& request) {
  // The index reads thousands of files in a row, and reads again each file that a later poll reports.
  const bool is_for_index = model::is_index(request.caller);
  if (requested.uri.empty() || follower_.is_verified(is_for_index ? 2 * options_.max_interval : options_.freshness_ttl))
    return requested;
  auto options = make_call_options(snapshot, *requested.item, request);
  // A cached content is served if Drive does not answer. If Drive did not answer the last time, the wait is short.
  limit_wait(options, !follower_.is_offline() ? max_wait : fetcher_.has_cached(*requested.item) ? min_wait : short_wait);
  auto file = options_.api->get_file(requested.item->id, options);
  if (!file) {
    const auto& error = file.error();
    record_denial(requested, error, false);
    if (!is_unreachable(error)) return to_client_error(error, is_for_index);
    if (is_unanswered(error)) follower_.record_unreachable();
    requested.is_offline = true;
    requested.offline_reason = error.details;
    return requested;
  }
  follower_.record_reachable();
  if (file->is_trashed) {
    follower_.report_lost(requested.item->id);
    return file_not_found();
  }
  if (auto stored = store_->set_access_denied(false); !stored && options_.log)
    options_.log(options_.name + ": " + stored.error().public_text);
  if (has_moved_out(snapshot, *file, *requested.item)) {
    follower_.report_file(*file);
    if (auto removed = store_->remove_contents(file->id); !removed && options_.log)
      options_.log(options_.name + ": " + removed.error().public_text);
    return file_not_found();
  }
  auto newer = make_item(*file, requested.item->home);
  if (*newer != *requested.item) follower_.report_file(*file);
  // Access rules apply to the place where the next poll will list the file.
  const bool has_moved =
      file->drive_id != requested.item->home || newer->parent != requested.item->parent || newer->name != requested.item->name;
  if (has_moved && request.caller.access_filter && !is_for_index) {
    const auto moved = make_item(*file, file->drive_id);
    const auto place = snapshot.expected_uri(*moved);
    if (place.empty() || !is_readable(request.caller, make_entry(*moved, place, {}))) return file_not_found();
  }
  requested.item = std::move(newer);
  return requested;
}

result<read_result> gdrive_provider::read_list(const snapshot& snapshot, address::resource_kind kind,
                                               const caller_info& caller) const {
  const bool is_starred = kind == address::resource_kind::starred;
  const auto fits = [is_starred](const item& candidate) {
    return !candidate.is_folder() && !candidate.is_shortcut() && (!is_starred || candidate.is_starred);
  };
  std::string text = is_starred ? "# Starred\n\n" : "# Recent\n\n";
  std::size_t count = 0;
  for (const auto* file : snapshot.find_latest(snapshot.file_count(), fits)) {
    if (count == (is_starred ? max_starred : max_recent)) break;
    const auto entry = snapshot.entries().find(file->uri);
    if (!entry || !is_visible(caller, *entry)) continue;
    ++count;
    auto name = entry->name;
    for (auto position = name.find_first_of("[]\\"); position != std::string::npos;
         position = name.find_first_of("[]\\", position + 2))
      name.insert(position, "\\");
    text += "- [" + name + "](" + file->uri + ')';
    if (file->item->modified) text += ", " + drive::format_time(*file->item->modified);
    text += '\n';
  }
  read_result answer;
  answer.version = bytes::to_hex(bytes::digest_of(text));
  resource_content item;
  item.name = is_starred ? "starred" : "recent";
  item.mime_type = "text/markdown";
  item.kind = content_kind::text;
  item.data = std::make_shared<const std::string>(std::move(text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<read_result> gdrive_provider::read_folder(const snapshot& snapshot, const std::string& uri,
                                                 const read_request& request) {
  children_request next;
  static_cast<request_context&>(next) = static_cast<const request_context&>(request);
  next.uri = uri;
  std::string text;
  for (;;) {
    auto page = uri.empty() ? result<list_result>() : list_children(snapshot, uri, next);
    if (uri.empty()) page->entries = root_entries(snapshot);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (const auto& entry : page->entries) {
      if (is_listed_for(snapshot, entry, request.caller)) (text += entry.uri) += '\n';
    }
    if (text.size() > request.max_bytes)
      return tl::unexpected(bytes::too_large_error(request.requested_uri, text.size(), request.max_bytes, false));
    if (!page->next_key) break;
    next.after_key = std::move(*page->next_key);
  }
  read_result answer;
  const auto entry = snapshot.entries().find(uri);
  answer.version = entry && !request.caller.access_filter ? entry->version : bytes::to_hex(bytes::digest_of(text));
  resource_content item;
  if (entry) item.name = entry->name;
  item.mime_type = folder_mime_type;
  item.kind = content_kind::text;
  item.data = std::make_shared<const std::string>(std::move(text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<read_result> gdrive_provider::read_file(const snapshot& snapshot, const address& requested,
                                               const read_request& request) {
  auto named_file = find(snapshot, requested, request);
  if (!named_file) return tl::unexpected(std::move(named_file.error()));
  const auto listed_uri = named_file->uri.empty() ? request.uri.substr(0, request.uri.find('?')) : named_file->uri;
  HONDANA_TRY(auto target, follow_shortcuts(snapshot, std::move(*named_file), request));
  if (target.item->is_folder()) {
    if (requested.sheet || requested.is_original)
      return fail(errc::invalid_argument, "A folder has no sheets and no original. Leave out the parameter to list it.");
    if (target.uri.empty()) return fail(errc::resource_not_found, "This folder is not in a served drive or folder.");
    return read_folder(snapshot, target.uri, request);
  }
  auto file = refresh_file(snapshot, std::move(target), request);
  if (!file) return tl::unexpected(std::move(file.error()));
  const auto format = format_of(*file->item);
  const auto name = display_name(*file->item);
  if (requested.sheet && format.method != read_method::workbook)
    return fail(errc::invalid_argument, "sheet: \"" + name + "\" is not a Google spreadsheet. Leave out the parameter.");
  if (requested.is_original && format.method != read_method::rendered && format.method != read_method::bytes)
    return fail(errc::invalid_argument,
                "format: \"" + name + "\" is a document of a Google editor and has no original file. Leave out the parameter.");
  // The index requests each part separately, so its parts need no check.
  const auto access_checks = request.caller.access_filter && !model::is_index(request.caller)
                                 ? access_entries(snapshot, *file->item, file->uri)
                                 : std::vector<resource>();
  if ((requested.sheet && !may_read_sheet(request.caller, access_checks, *requested.sheet)) ||
      (requested.is_original && !may_read_original(request.caller, access_checks)))
    return file_not_found();
  if (file->item->is_download_denied && format.method != read_method::none) {
    const auto error = download_denied_error(*file->item);
    record_denial(*file, error, true);
    return to_client_error(error, model::is_index(request.caller));
  }
  read_result answer;
  answer.version = version_of(*file->item);
  // The version does not change when access to parts is withdrawn, for example if a folder above the file moves.
  const auto* placed = snapshot.find(file->item->id);
  const bool may_lack_parts =
      !access_checks.empty() && !requested.sheet && !requested.is_original &&
      (format.method == read_method::workbook
           ? placed == nullptr || placed->sheets.empty() || !may_read_sheets(request.caller, access_checks, placed->sheets)
           : format.method == read_method::rendered && !may_read_original(request.caller, access_checks));
  if (!file->is_offline && !answer.version.empty() && answer.version == request.cached_version && !may_lack_parts)
    return answer;
  fetch_request fetch{file->item, snapshot.resource_keys_of(*file->item), file->is_offline};
  fetch.offline_reason = file->offline_reason;
  fetch.verified_at = follower_.verified_at();
  auto fetched = requested.is_original ? fetcher_.fetch_original(fetch, request, request.max_bytes)
                                       : fetcher_.fetch_content(fetch, request, request.max_bytes);
  if (!fetched) {
    record_denial(*file, fetched.error(), true);
    // The lists must show this from now on. Otherwise no client would read again after the owner allows downloads.
    if (fetched.error().reason == "cannotDownloadFile" && !file->uri.empty()) {
      auto short_options = make_call_options(snapshot, *file->item, request);
      limit_wait(short_options, short_wait);
      if (const auto current = options_.api->get_file(file->item->id, short_options)) follower_.report_file(*current);
    }
    return to_client_error(std::move(fetched.error()), model::is_index(request.caller));
  }
  if (format.method == read_method::bytes && !requested.is_original) {
    for (auto& part : fetched->parts) {
      HONDANA_TRY(convert_to_utf8(part, request.max_bytes));
    }
  }
  // Without a version, no client caches it or mistakes it for a content that was read from Drive.
  if (fetched->age) answer.version.clear();
  if (format.method == read_method::workbook && fetched->problem.empty()) {
    std::vector<std::string> names;
    for (const auto& sheet : fetched->parts) names.push_back(sheet.sheet);
    if (!file->uri.empty()) follower_.report_sheets(file->item->id, std::move(names));
  }
  if (requested.sheet) {
    const auto is_requested = [&requested](const part& sheet) { return sheet.sheet == *requested.sheet; };
    if (std::none_of(fetched->parts.begin(), fetched->parts.end(), is_requested))
      return sheet_not_found(name, fetched->parts, *requested.sheet, request.caller);
    std::erase_if(fetched->parts, std::not_fn(is_requested));
    fetched->parts.resize(1);
  }
  const auto is_hidden = [&](const part& part) {
    return (!part.sheet.empty() && !may_read_sheet(request.caller, access_checks, part.sheet)) ||
           (part.is_original && !requested.is_original && !may_read_original(request.caller, access_checks));
  };
  // The version is that of the whole file. A caller that may read more later must not be answered "unchanged".
  if (std::erase_if(fetched->parts, is_hidden) > 0) {
    answer.version.clear();
    if (fetched->parts.empty() && !fetched->problem.empty())
      return fail(errc::unsupported, '"' + name + "\": " + fetched->problem);
  }
  std::uint64_t total = 0;
  for (auto& next : fetched->parts) {
    resource_content item;
    item.name = next.sheet.empty() ? name : name + " / " + display_text(next.sheet);
    item.title = item.name;
    item.mime_type = next.mime_type;
    item.kind = next.kind;
    item.metadata = make_metadata(*file->item);
    if (!file->target_uri.empty()) item.metadata.emplace_back(target_key, file->target_uri);
    add_metadata(item, *fetched, next);
    const bool is_first = answer.contents.empty();
    if (!next.sheet.empty() && !requested.sheet && !is_first) item.uri = sheet_uri(listed_uri, next.sheet);
    if (next.is_original && !is_first) item.uri = listed_uri + "?format=original";
    if (is_first && ((format.method == read_method::rendered && !next.is_original) || !next.charset.empty()))
      item.metadata.emplace_back(original_key, listed_uri + "?format=original");
    item.data = std::move(next.data);
    if (const auto* bytes = std::get_if<shared_bytes>(&item.data)) total += (*bytes)->size();
    answer.contents.push_back(std::move(item));
  }
  if (answer.contents.empty()) {
    resource_content item;
    item.name = name;
    item.mime_type = "text/csv";
    item.kind = content_kind::text;
    item.data = std::make_shared<const std::string>();
    item.metadata = make_metadata(*file->item);
    answer.contents.push_back(std::move(item));
  }
  if (total > request.max_bytes && format.method == read_method::workbook)
    return fail(errc::response_too_large, "All sheets together have " + std::to_string(total) +
                                              " bytes, which exceeds the limit of a read. Read one of them: ?sheet=NAME.");
  return answer;
}

result<read_result> gdrive_provider::read(const read_request& request) {
  const auto requested = parse_address(options_.scheme, request.uri);
  if (!requested) return tl::unexpected(requested.error());
  HONDANA_TRY(const auto shared, wait_for_snapshot(request));
  const auto& snapshot = *shared;
  result<read_result> answer = [&] {
    if (requested->kind == address::resource_kind::drive_list) return read_folder(snapshot, {}, request);
    if (requested->kind == address::resource_kind::starred || requested->kind == address::resource_kind::recent)
      return read_list(snapshot, requested->kind, request.caller);
    const bool is_drive = requested->kind == address::resource_kind::path &&
                          requested->uri.find('/', options_.scheme.size() + 3) == std::string::npos;
    if (!is_drive) return read_file(snapshot, *requested, request);
    if (requested->sheet || requested->is_original)
      return result<read_result>(
          fail(errc::invalid_argument, "A drive has no sheets and no original. Leave out the parameter to list it."));
    if (!snapshot.entries().find(requested->uri))
      return result<read_result>(fail(errc::resource_not_found, "Drive not found."));
    return read_folder(snapshot, requested->uri, request);
  }();
  if (answer && !answer->version.empty() && answer->version == request.cached_version) answer->contents.clear();
  return answer;
}

}  // namespace hondana::gdrive
