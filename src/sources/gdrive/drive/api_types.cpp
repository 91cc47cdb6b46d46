/// The types of the Drive API (files, drives, changes, channels) and their decoding from JSON.
#include "sources/gdrive/drive/api_types.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include <hondana/value.hpp>

namespace hondana::drive {
namespace {

constexpr std::string_view google_type_prefix = "application/vnd.google-apps.";

/// Parses a text of digits only; -1 for anything else.
int parse_digits(std::string_view text) noexcept {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0 && text.front() != '-' ? out : -1;
}

/// Parses a UTC offset: "Z", "+09:00", "-03:30".
std::optional<std::chrono::minutes> parse_utc_offset(std::string_view text) noexcept {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return {};
  const int hours = parse_digits(text.substr(1, 2)), minutes = parse_digits(text.substr(4, 2));
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return {};
  const std::chrono::minutes out(hours * 60 + minutes);
  return text[0] == '+' ? out : -out;
}

}  // namespace

bool file::is_native() const noexcept {
  return mime_type.starts_with(google_type_prefix) && mime_type != folder_type && mime_type != shortcut_type;
}

std::string_view file_fields() noexcept {
  return "id,name,mimeType,parents,driveId,size,version,headRevisionId,md5Checksum,modifiedTime,createdTime,"
         "owners(displayName,emailAddress),webViewLink,resourceKey,"
         "shortcutDetails(targetId,targetMimeType,targetResourceKey),trashed,starred,capabilities(canDownload)";
}

std::optional<time> parse_time(std::string_view text) noexcept {
  if (text.size() < 20 || text.size() > 40 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') ||
      text[13] != ':' || text[16] != ':')
    return {};
  const int year = parse_digits(text.substr(0, 4)), month = parse_digits(text.substr(5, 2)),
            day = parse_digits(text.substr(8, 2)), hour = parse_digits(text.substr(11, 2)),
            minute = parse_digits(text.substr(14, 2)), second = parse_digits(text.substr(17, 2));
  if (year < 0 || month < 0 || day < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return {};
  const std::chrono::year_month_day date(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return {};
  text.remove_prefix(19);
  int thousandths = 0;
  if (text.front() == '.') {
    const auto end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    if (end == 1 || end > 10) return {};
    std::string three(text.substr(1, std::min<std::size_t>(end - 1, 3)));
    three.resize(3, '0');
    thousandths = parse_digits(three);
    text.remove_prefix(end);
  }
  const auto offset = parse_utc_offset(text);
  if (!offset) return {};
  return time(std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
              std::chrono::seconds(second) + std::chrono::milliseconds(thousandths) - *offset);
}

std::string format_time(time instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<std::chrono::milliseconds> time_of_day(instant - day);
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time_of_day.hours().count()), static_cast<int>(time_of_day.minutes().count()),
                static_cast<int>(time_of_day.seconds().count()), static_cast<int>(time_of_day.subseconds().count()));
  return out;
}

namespace {

constexpr std::size_t max_keys = 100;

}  // namespace

bool is_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_id_bytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

result<void> validate_id(std::string_view text, std::string_view subject) {
  if (is_id(text)) return {};
  return fail(errc::invalid_argument, std::string(subject) +
                                          "'s id is not valid: expected 1 to 200 letters, digits, hyphens and underscores; "
                                          "copy it from the link that Drive shows (…/d/ID/…)");
}

std::string format_resource_keys(const std::vector<resource_key>& keys) {
  std::string out;
  std::size_t count = 0;
  for (const auto& key : keys) {
    if (!is_id(key.id) || !is_id(key.key)) continue;
    if (++count > max_keys) break;
    out += (out.empty() ? "" : ",") + key.id + '/' + key.key;
  }
  return out;
}

namespace {

constexpr std::size_t max_response_values = 2'000'000;
constexpr std::size_t max_owners = 100;
constexpr std::size_t max_parents = 100;
constexpr std::size_t max_links = 100;
constexpr std::size_t max_text_bytes = 64u << 10;
constexpr std::size_t max_url_bytes = 8u << 10;
/// Recorded warnings per page.
constexpr std::size_t max_warnings = 20;

tl::unexpected<failure> malformed(const std::string& path, std::string_view reason) {
  return fail(errc::protocol_error, path + ": " + std::string(reason));
}

std::string join_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + '/' + std::string(name);
}

void add_warning(std::vector<entry_warning>& warnings, std::string id, std::string message) {
  if (warnings.size() < max_warnings) warnings.push_back({std::move(id), std::move(message)});
}

/// Null if the member is absent or JSON null.
const value* find_member(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

/// Reads an optional text: empty unless it is a string of at most `max_bytes` bytes.
std::string text_member(const value& object, std::string_view name, std::size_t max_bytes = max_text_bytes) {
  const auto* member = find_member(object, name);
  if (member == nullptr || member->as_string() == nullptr || member->as_string()->size() > max_bytes) return {};
  return *member->as_string();
}

/// Anyone who shares a file with this account chooses its name. An overlong name must not break the list or change log that
/// contains it.
std::string truncate_name(const std::string& name) {
  auto end = std::min(name.size(), max_name_bytes);
  if (end == name.size()) return name;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) --end;
  return name.substr(0, end);
}

bool boolean_member(const value& object, std::string_view name) {
  const auto* member = find_member(object, name);
  return member != nullptr && member->as_boolean().value_or(false);
}

std::optional<time> time_member(const value& object, std::string_view name) {
  return parse_time(text_member(object, name, 64));
}

/// Drive writes 64-bit numbers as strings.
std::optional<std::uint64_t> number_member(const value& object, std::string_view name) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return {};
  if (const auto number = member->as_integer(); number && *number >= 0) return static_cast<std::uint64_t>(*number);
  const auto* text = member->as_string();
  std::uint64_t out = 0;
  if (text == nullptr || text->empty()) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return out;
}

result<value> parse_object(std::string_view json) {
  if (json.size() > max_response_bytes) return malformed("the answer", "more than 32 MiB");
  auto parsed = value::parse(json, {max_response_bytes, max_response_values});
  if (!parsed) return fail(errc::protocol_error, "the answer: expected JSON", parsed.error().public_text);
  if (parsed->as_object() == nullptr) return malformed("the answer", "expected an object");
  return parsed;
}

/// Reads a required identifier.
result<std::string> required_id(const value& object, std::string_view name, const std::string& path) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return malformed(join_path(path, name), "missing");
  if (member->as_string() == nullptr || !is_id(*member->as_string()))
    return malformed(join_path(path, name), "expected an identifier of letters, digits, hyphens and underscores");
  return *member->as_string();
}

/// Reads an optional page token.
result<std::string> page_token_member(const value& object, std::string_view name) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return std::string();
  const auto* text = member->as_string();
  if (text == nullptr || text->empty() || text->size() > max_page_token_bytes ||
      std::any_of(text->begin(), text->end(), [](char c) { return c < ' ' || c == 0x7f; }))
    return malformed(std::string(name), "expected a page token of 1 to 8192 bytes");
  return *text;
}

/// Reads a required array. The result is valid as long as `object`.
result<const value::array*> required_array(const value& object, std::string_view name) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return malformed(std::string(name), "missing");
  if (member->as_array() == nullptr) return malformed(std::string(name), "expected an array");
  if (member->as_array()->size() > max_page_size) return malformed(std::string(name), "more than 1000 elements");
  return member->as_array();
}

std::optional<person> read_person(const value& object) {
  if (object.as_object() == nullptr) return {};
  return person{text_member(object, "displayName", 1'024), text_member(object, "emailAddress", 1'024)};
}

/// Takes only well-formed links to Google or to a local test server. `check_link` checks them again before use.
string_pairs read_export_links(const value& object) {
  string_pairs out;
  const auto* member = find_member(object, "exportLinks");
  if (member == nullptr || member->as_object() == nullptr) return out;
  for (const auto& [type, link] : *member->as_object()) {
    const auto* url = link.as_string();
    if (url == nullptr || url->size() > max_url_bytes || type.size() > 256) continue;
    if (out.size() == max_links) break;
    out.emplace_back(type, *url);
  }
  return out;
}

void read_owners(const value& object, file& file) {
  if (const auto* owners = find_member(object, "owners"); owners != nullptr && owners->as_array() != nullptr) {
    for (const auto& owner : *owners->as_array()) {
      if (file.owners.size() == max_owners) break;
      if (auto person = read_person(owner)) file.owners.push_back(std::move(*person));
    }
  }
}

void read_details(const value& object, file& file) {
  file.size = number_member(object, "size");
  if (const auto version = number_member(object, "version")) file.version = std::to_string(*version);
  file.head_revision = text_member(object, "headRevisionId", 256);
  file.md5 = text_member(object, "md5Checksum", 64);
  file.modified = time_member(object, "modifiedTime");
  file.created = time_member(object, "createdTime");
  file.web_link = text_member(object, "webViewLink", max_url_bytes);
  if (!file.web_link.starts_with("https://")) file.web_link.clear();
  file.resource_key = text_member(object, "resourceKey", max_id_bytes);
  if (!is_id(file.resource_key)) file.resource_key.clear();
  file.export_links = read_export_links(object);
  file.is_trashed = boolean_member(object, "trashed");
  file.is_starred = boolean_member(object, "starred");
  if (const auto* capabilities = find_member(object, "capabilities"))
    if (const auto* download = find_member(*capabilities, "canDownload")) file.can_download = download->as_boolean();
}

void read_name_and_type(const value& object, const std::string& path, file& file, std::vector<entry_warning>& warnings) {
  if (const auto* name = find_member(object, "name")) {
    if (name->as_string() != nullptr) file.name = truncate_name(*name->as_string());
    if (name->as_string() == nullptr) add_warning(warnings, file.id, join_path(path, "name: expected a string"));
  }
  file.mime_type = text_member(object, "mimeType", 1'024);
  const auto* type = find_member(object, "mimeType");
  if (type != nullptr && (type->as_string() == nullptr || type->as_string()->size() > 1'024))
    add_warning(warnings, file.id, join_path(path, "mimeType: expected a short string"));
}

void read_parents(const value& object, const std::string& path, file& file, std::vector<entry_warning>& warnings) {
  const auto* parents = find_member(object, "parents");
  if (parents == nullptr) return;
  if (parents->as_array() == nullptr || parents->as_array()->size() > max_parents)
    return add_warning(warnings, file.id, join_path(path, "parents: expected an array of at most 100 identifiers"));
  std::size_t index = 0;
  for (const auto& parent : *parents->as_array()) {
    const auto* id = parent.as_string();
    if (id != nullptr && is_id(*id)) file.parents.push_back(*id);
    if (id == nullptr || !is_id(*id))
      add_warning(warnings, file.id, join_path(path, "parents/" + std::to_string(index) + ": expected an identifier"));
    ++index;
  }
}

void read_shortcut(const value& object, const std::string& path, file& file, std::vector<entry_warning>& warnings) {
  const auto* details = find_member(object, "shortcutDetails");
  if (details == nullptr) return;
  const auto details_path = join_path(path, "shortcutDetails");
  if (details->as_object() == nullptr) return add_warning(warnings, file.id, details_path + ": expected an object");
  auto target = required_id(*details, "targetId", details_path);
  if (!target) return add_warning(warnings, file.id, std::move(target.error().public_text));
  file.shortcut_target = shortcut{std::move(*target), text_member(*details, "targetMimeType", 1'024),
                                  text_member(*details, "targetResourceKey", max_id_bytes)};
  if (!is_id(file.shortcut_target->target_key)) file.shortcut_target->target_key.clear();
}

/// Errors if the file is unusable: it has no identifier, or its drive is unknown.
result<file> read_file(const value& object, const std::string& path, std::vector<entry_warning>& warnings) {
  if (object.as_object() == nullptr) return malformed(path.empty() ? "the answer" : path, "expected an object");
  file out;
  HONDANA_TRY(auto id, required_id(object, "id", path));
  out.id = std::move(id);
  if (find_member(object, "driveId") != nullptr) {
    HONDANA_TRY(auto drive, required_id(object, "driveId", path));
    out.drive_id = std::move(drive);
  }
  read_name_and_type(object, path, out, warnings);
  read_parents(object, path, out, warnings);
  read_shortcut(object, path, out, warnings);
  read_owners(object, out);
  read_details(object, out);
  return out;
}

result<shared_drive> read_drive(const value& object, const std::string& path, std::vector<entry_warning>&) {
  if (object.as_object() == nullptr) return malformed(path.empty() ? "the answer" : path, "expected an object");
  shared_drive out;
  HONDANA_TRY(auto id, required_id(object, "id", path));
  out.id = std::move(id);
  out.name = text_member(object, "name", max_name_bytes);
  out.created = time_member(object, "createdTime");
  out.is_hidden = boolean_member(object, "hidden");
  return out;
}

template <class Entry>
using entry_reader = result<Entry> (*)(const value&, const std::string&, std::vector<entry_warning>&);

/// Reads the member `name` of a change, which describes the file or drive `id`. Empty if it is absent or invalid.
template <class Entry>
std::optional<Entry> read_current(const value& object, const std::string& name, const std::string& id, const std::string& path,
                                  std::vector<entry_warning>& warnings, entry_reader<Entry> reader) {
  const auto* member = find_member(object, name);
  if (member == nullptr) return {};
  const auto member_path = join_path(path, name);
  auto entry = reader(*member, member_path, warnings);
  if (entry && entry->id == id) return std::move(*entry);
  add_warning(warnings, id,
              entry ? join_path(member_path, "id: differs from " + name + "Id") : std::move(entry.error().public_text));
  return {};
}

/// Errors if the changed file or drive cannot be identified.
result<change> read_change(const value& object, const std::string& path, std::vector<entry_warning>& warnings) {
  if (object.as_object() == nullptr) return malformed(path, "expected an object");
  change out;
  // Old servers send `type`, new ones `changeType`. One of the ids is always present.
  const auto type =
      find_member(object, "changeType") != nullptr ? text_member(object, "changeType", 64) : text_member(object, "type", 64);
  const bool is_drive_change =
      type == "drive" || type == "teamDrive" || (type.empty() && find_member(object, "fileId") == nullptr);
  if (!type.empty() && !is_drive_change && type != "file")
    return malformed(join_path(path, "changeType"), "expected \"file\" or \"drive\"");
  out.kind = is_drive_change ? change::change_kind::drive : change::change_kind::file;
  HONDANA_TRY(auto id, required_id(object, is_drive_change ? "driveId" : "fileId", path));
  out.id = std::move(id);
  const auto* removed = find_member(object, "removed");
  if (removed != nullptr && !removed->as_boolean())
    add_warning(warnings, out.id, join_path(path, "removed: expected true or false"));
  out.is_removed = boolean_member(object, "removed");
  out.changed_at = time_member(object, "time");
  if (is_drive_change) out.current_drive = read_current(object, "drive", out.id, path, warnings, read_drive);
  if (!is_drive_change) out.current_file = read_current(object, "file", out.id, path, warnings, read_file);
  return out;
}

/// The id for reporting an unusable entry: `id` of a file or drive, `fileId` or `driveId` of a change.
std::string find_id(const value& object, std::string_view entry_name) {
  for (const auto* name : {"id", "fileId", "driveId"}) {
    if ((entry_name == "change") == (std::string_view(name) == "id")) continue;
    if (auto id = text_member(object, name, max_id_bytes); is_id(id)) return id;
  }
  return {};
}

/// A page with more entries than this is rejected if none is usable: treating it as empty would remove all known files.
constexpr std::size_t max_unusable_entries = 9;

/// Reads each element of the array `name` with `reader`, and skips unusable elements. `entry_name`: the word for an element in
/// errors.
template <class Entry, class Reader>
result<std::vector<Entry>> read_elements(const value& object, const std::string& name, const std::string& entry_name,
                                         std::vector<entry_warning>& warnings, const Reader& reader) {
  HONDANA_TRY(const auto elements, required_array(object, name));
  std::vector<Entry> out;
  out.reserve(elements->size());
  for (const auto& element : *elements) {
    auto entry = reader(element, entry_name, warnings);
    if (entry) out.push_back(std::move(*entry));
    if (!entry) add_warning(warnings, find_id(element, entry_name), std::move(entry.error().public_text));
  }
  if (out.empty() && elements->size() > max_unusable_entries)
    return malformed(name, "none of the " + std::to_string(elements->size()) + " entries can be used");
  return out;
}

}  // namespace

result<file> parse_file(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  // The page that lists the file reports its warnings.
  std::vector<entry_warning> warnings;
  return read_file(object, {}, warnings);
}

result<file_page> parse_file_page(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  file_page out;
  HONDANA_TRY(auto files, read_elements<file>(object, "files", "file", out.warnings, read_file));
  HONDANA_TRY(auto next, page_token_member(object, "nextPageToken"));
  out.files = std::move(files);
  out.next_page_token = std::move(next);
  out.is_incomplete = boolean_member(object, "incompleteSearch");
  return out;
}

result<shared_drive> parse_drive(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  std::vector<entry_warning> warnings;
  return read_drive(object, {}, warnings);
}

result<drive_page> parse_drive_page(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  drive_page out;
  HONDANA_TRY(auto drives, read_elements<shared_drive>(object, "drives", "drive", out.warnings, read_drive));
  HONDANA_TRY(auto next, page_token_member(object, "nextPageToken"));
  out.drives = std::move(drives);
  out.next_page_token = std::move(next);
  return out;
}

result<change_page> parse_change_page(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  change_page out;
  auto changes = read_elements<change>(object, "changes", "change", out.warnings, read_change);
  if (!changes) return tl::unexpected(std::move(changes.error()));
  HONDANA_TRY(auto next, page_token_member(object, "nextPageToken"));
  HONDANA_TRY(auto start, page_token_member(object, "newStartPageToken"));
  // Without either token polling cannot continue, and changes would be lost.
  if (next.empty() && start.empty()) return malformed("nextPageToken", "missing, and so is newStartPageToken");
  out.changes = std::move(*changes);
  out.next_page_token = std::move(next);
  out.new_start_page_token = std::move(start);
  return out;
}

result<about_resource> parse_about(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  about_resource out;
  const auto* user = find_member(object, "user");
  auto person = user == nullptr ? std::nullopt : read_person(*user);
  if (!person) return malformed("user", user == nullptr ? "missing" : "expected an object");
  out.user = std::move(*person);
  const auto* exports = find_member(object, "exportFormats");
  if (exports == nullptr || exports->as_object() == nullptr) return out;
  for (const auto& [type, targets] : *exports->as_object()) {
    if (targets.as_array() == nullptr) continue;
    for (const auto& target : *targets.as_array()) {
      if (target.as_string() != nullptr && out.export_formats.size() < max_page_size)
        out.export_formats.emplace_back(type, *target.as_string());
    }
  }
  return out;
}

result<channel> parse_channel(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  channel out;
  for (const auto& [name, destination] :
       {std::pair<std::string_view, std::string*>{"id", &out.id}, {"resourceId", &out.resource_id}}) {
    *destination = text_member(object, name, 1'024);
    if (destination->empty()) return malformed(std::string(name), "missing, or not a short string");
  }
  out.resource_uri = text_member(object, "resourceUri", max_url_bytes);
  out.token = text_member(object, "token", 1'024);
  // Milliseconds since 1970, as a string.
  constexpr std::uint64_t latest = 253'402'300'799'000;  // the end of the year 9999
  if (const auto expiration = number_member(object, "expiration"))
    out.expires_at = time(std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*expiration, latest))));
  return out;
}

result<std::string> parse_start_token(std::string_view json) {
  HONDANA_TRY(const auto object, parse_object(json));
  auto token = page_token_member(object, "startPageToken");
  if (token && token->empty()) return malformed("startPageToken", "missing");
  return token;
}

}  // namespace hondana::drive
