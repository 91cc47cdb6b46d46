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

constexpr std::string_view googles_types = "application/vnd.google-apps.";

/// Parses a text of digits only; -1 for anything else.
int digits_in(std::string_view text) noexcept {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && out >= 0 && text.front() != '-' ? out : -1;
}

/// Parses a UTC offset: "Z", "+09:00", "-03:30".
std::optional<std::chrono::minutes> offset_in(std::string_view text) noexcept {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return {};
  const int hours = digits_in(text.substr(1, 2)), minutes = digits_in(text.substr(4, 2));
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return {};
  const std::chrono::minutes out(hours * 60 + minutes);
  return text[0] == '+' ? out : -out;
}

}  // namespace

bool file::is_native() const noexcept {
  return mime_type.starts_with(googles_types) && mime_type != folder_type && mime_type != shortcut_type;
}

std::string_view file_fields() noexcept {
  return "id,name,mimeType,parents,driveId,size,version,headRevisionId,md5Checksum,modifiedTime,createdTime,"
         "owners(displayName,emailAddress),webViewLink,resourceKey,"
         "shortcutDetails(targetId,targetMimeType,targetResourceKey),trashed,starred,capabilities(canDownload)";
}

std::optional<time> time_of(std::string_view text) noexcept {
  if (text.size() < 20 || text.size() > 40 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') ||
      text[13] != ':' || text[16] != ':')
    return {};
  const int year = digits_in(text.substr(0, 4)), month = digits_in(text.substr(5, 2)), day = digits_in(text.substr(8, 2)),
            hour = digits_in(text.substr(11, 2)), minute = digits_in(text.substr(14, 2)),
            second = digits_in(text.substr(17, 2));
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
    thousandths = digits_in(three);
    text.remove_prefix(end);
  }
  const auto offset = offset_in(text);
  if (!offset) return {};
  return time(std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
              std::chrono::seconds(second) + std::chrono::milliseconds(thousandths) - *offset);
}

std::string spelled(time when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<std::chrono::milliseconds> of_day(when - day);
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(of_day.hours().count()), static_cast<int>(of_day.minutes().count()),
                static_cast<int>(of_day.seconds().count()), static_cast<int>(of_day.subseconds().count()));
  return out;
}

namespace {

constexpr std::size_t most_keys = 100;

}  // namespace

bool is_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_id && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

result<void> check_id(std::string_view text, std::string_view what) {
  if (is_id(text)) return {};
  return fail(errc::invalid_argument, std::string(what) +
                                          "'s id is not valid: expected 1 to 200 letters, digits, hyphens and underscores; "
                                          "copy it from the link that Drive shows (…/d/ID/…)");
}

std::string spelled(const std::vector<resource_key>& keys) {
  std::string out;
  std::size_t count = 0;
  for (const auto& one : keys) {
    if (!is_id(one.id) || !is_id(one.key)) continue;
    if (++count > most_keys) break;
    out += (out.empty() ? "" : ",") + one.id + '/' + one.key;
  }
  return out;
}

namespace {

constexpr std::size_t most_answer_values = 2'000'000;
constexpr std::size_t most_owners = 100;
constexpr std::size_t most_parents = 100;
constexpr std::size_t most_links = 100;
constexpr std::size_t longest_text = 64u << 10;
constexpr std::size_t longest_url = 8u << 10;
/// Recorded oddities per page.
constexpr std::size_t most_oddities = 20;

tl::unexpected<failure> bad(const std::string& place, std::string_view what) {
  return fail(errc::broken_protocol, place + ": " + std::string(what));
}

std::string below(const std::string& place, std::string_view name) {
  return place.empty() ? std::string(name) : place + '/' + std::string(name);
}

void note(std::vector<oddity>& odd, std::string id, std::string what) {
  if (odd.size() < most_oddities) odd.push_back({std::move(id), std::move(what)});
}

/// Null if the member is absent or JSON null.
const value* given(const value& of, std::string_view name) {
  const auto* found = of.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

/// Reads an optional text: empty unless it is a string of at most `most` bytes.
std::string text_in(const value& of, std::string_view name, std::size_t most = longest_text) {
  const auto* member = given(of, name);
  if (member == nullptr || member->as_string() == nullptr || member->as_string()->size() > most) return {};
  return *member->as_string();
}

/// Anyone who shares a file with this account chooses its name. An overlong name must not break the list or change log that
/// contains it.
std::string cut_name(const std::string& whole) {
  auto end = std::min(whole.size(), longest_name);
  if (end == whole.size()) return whole;
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xc0u) == 0x80u) --end;
  return whole.substr(0, end);
}

bool flag_in(const value& of, std::string_view name) {
  const auto* member = given(of, name);
  return member != nullptr && member->as_boolean().value_or(false);
}

std::optional<time> time_in(const value& of, std::string_view name) { return time_of(text_in(of, name, 64)); }

/// Drive writes 64-bit numbers as strings.
std::optional<std::uint64_t> number_in(const value& of, std::string_view name) {
  const auto* member = given(of, name);
  if (member == nullptr) return {};
  if (const auto number = member->as_integer(); number && *number >= 0) return static_cast<std::uint64_t>(*number);
  const auto* text = member->as_string();
  std::uint64_t out = 0;
  if (text == nullptr || text->empty()) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return out;
}

result<value> object_of(std::string_view json) {
  if (json.size() > most_answer_bytes) return bad("the answer", "more than 32 MiB");
  auto parsed = value::parse(json, {most_answer_bytes, most_answer_values});
  if (!parsed) return fail(errc::broken_protocol, "the answer: expected JSON", parsed.error().public_text);
  if (parsed->as_object() == nullptr) return bad("the answer", "expected an object");
  return parsed;
}

/// Reads a required identifier.
result<std::string> id_in(const value& of, std::string_view name, const std::string& place) {
  const auto* member = given(of, name);
  if (member == nullptr) return bad(below(place, name), "missing");
  if (member->as_string() == nullptr || !is_id(*member->as_string()))
    return bad(below(place, name), "expected an identifier of letters, digits, hyphens and underscores");
  return *member->as_string();
}

/// Reads an optional page token.
result<std::string> page_token_in(const value& of, std::string_view name) {
  const auto* member = given(of, name);
  if (member == nullptr) return std::string();
  const auto* text = member->as_string();
  if (text == nullptr || text->empty() || text->size() > longest_page_token ||
      std::any_of(text->begin(), text->end(), [](char c) { return c < ' ' || c == 0x7f; }))
    return bad(std::string(name), "expected a page token of 1 to 8192 bytes");
  return *text;
}

/// Reads a required array. The result is valid as long as `of`.
result<const value::array*> elements_in(const value& of, std::string_view name) {
  const auto* member = given(of, name);
  if (member == nullptr) return bad(std::string(name), "missing");
  if (member->as_array() == nullptr) return bad(std::string(name), "expected an array");
  if (member->as_array()->size() > most_page) return bad(std::string(name), "more than 1000 elements");
  return member->as_array();
}

std::optional<person> person_of(const value& from) {
  if (from.as_object() == nullptr) return {};
  return person{text_in(from, "displayName", 1'024), text_in(from, "emailAddress", 1'024)};
}

/// Takes only well-formed links to Google or to a local test server. `place_of_link` checks them again before use.
texts links_in(const value& of) {
  texts out;
  const auto* member = given(of, "exportLinks");
  if (member == nullptr || member->as_object() == nullptr) return out;
  for (const auto& [type, link] : *member->as_object()) {
    const auto* url = link.as_string();
    if (url == nullptr || url->size() > longest_url || type.size() > 256) continue;
    if (out.size() == most_links) break;
    out.emplace_back(type, *url);
  }
  return out;
}

void read_people(const value& from, file& into) {
  if (const auto* owners = given(from, "owners"); owners != nullptr && owners->as_array() != nullptr) {
    for (const auto& one : *owners->as_array()) {
      if (into.owners.size() == most_owners) break;
      if (auto who = person_of(one)) into.owners.push_back(std::move(*who));
    }
  }
}

void read_details(const value& from, file& into) {
  into.size = number_in(from, "size");
  if (const auto version = number_in(from, "version")) into.version = std::to_string(*version);
  into.head_revision = text_in(from, "headRevisionId", 256);
  into.md5 = text_in(from, "md5Checksum", 64);
  into.modified = time_in(from, "modifiedTime");
  into.created = time_in(from, "createdTime");
  into.web_link = text_in(from, "webViewLink", longest_url);
  if (!into.web_link.starts_with("https://")) into.web_link.clear();
  into.resource_key = text_in(from, "resourceKey", longest_id);
  if (!is_id(into.resource_key)) into.resource_key.clear();
  into.export_links = links_in(from);
  into.is_trashed = flag_in(from, "trashed");
  into.is_starred = flag_in(from, "starred");
  if (const auto* may = given(from, "capabilities"))
    if (const auto* download = given(*may, "canDownload")) into.may_be_downloaded = download->as_boolean();
}

void read_name_and_type(const value& from, const std::string& place, file& into, std::vector<oddity>& odd) {
  if (const auto* name = given(from, "name")) {
    if (name->as_string() != nullptr) into.name = cut_name(*name->as_string());
    if (name->as_string() == nullptr) note(odd, into.id, below(place, "name: expected a string"));
  }
  into.mime_type = text_in(from, "mimeType", 1'024);
  const auto* type = given(from, "mimeType");
  if (type != nullptr && (type->as_string() == nullptr || type->as_string()->size() > 1'024))
    note(odd, into.id, below(place, "mimeType: expected a short string"));
}

void read_parents(const value& from, const std::string& place, file& into, std::vector<oddity>& odd) {
  const auto* parents = given(from, "parents");
  if (parents == nullptr) return;
  if (parents->as_array() == nullptr || parents->as_array()->size() > most_parents)
    return note(odd, into.id, below(place, "parents: expected an array of at most 100 identifiers"));
  std::size_t number = 0;
  for (const auto& one : *parents->as_array()) {
    const auto* id = one.as_string();
    if (id != nullptr && is_id(*id)) into.parents.push_back(*id);
    if (id == nullptr || !is_id(*id))
      note(odd, into.id, below(place, "parents/" + std::to_string(number) + ": expected an identifier"));
    ++number;
  }
}

void read_shortcut(const value& from, const std::string& place, file& into, std::vector<oddity>& odd) {
  const auto* leads = given(from, "shortcutDetails");
  if (leads == nullptr) return;
  const auto inside = below(place, "shortcutDetails");
  if (leads->as_object() == nullptr) return note(odd, into.id, inside + ": expected an object");
  auto target = id_in(*leads, "targetId", inside);
  if (!target) return note(odd, into.id, std::move(target.error().public_text));
  into.leads_to =
      shortcut{std::move(*target), text_in(*leads, "targetMimeType", 1'024), text_in(*leads, "targetResourceKey", longest_id)};
  if (!is_id(into.leads_to->target_key)) into.leads_to->target_key.clear();
}

/// Errors if the file is unusable: it has no identifier, or its drive is unknown.
result<file> file_of(const value& from, const std::string& place, std::vector<oddity>& odd) {
  if (from.as_object() == nullptr) return bad(place.empty() ? "the answer" : place, "expected an object");
  file out;
  HONDANA_TRY(auto id, id_in(from, "id", place));
  out.id = std::move(id);
  if (given(from, "driveId") != nullptr) {
    HONDANA_TRY(auto drive, id_in(from, "driveId", place));
    out.drive_id = std::move(drive);
  }
  read_name_and_type(from, place, out, odd);
  read_parents(from, place, out, odd);
  read_shortcut(from, place, out, odd);
  read_people(from, out);
  read_details(from, out);
  return out;
}

result<shared_drive> drive_of(const value& from, const std::string& place, std::vector<oddity>&) {
  if (from.as_object() == nullptr) return bad(place.empty() ? "the answer" : place, "expected an object");
  shared_drive out;
  HONDANA_TRY(auto id, id_in(from, "id", place));
  out.id = std::move(id);
  out.name = text_in(from, "name", longest_name);
  out.created = time_in(from, "createdTime");
  out.is_hidden = flag_in(from, "hidden");
  return out;
}

template <class One>
using entry_reader = result<One> (*)(const value&, const std::string&, std::vector<oddity>&);

/// Reads the member `name` of a change, which describes the file or drive `id`. Empty if it is absent or invalid.
template <class One>
std::optional<One> now_in(const value& from, const std::string& name, const std::string& id, const std::string& place,
                          std::vector<oddity>& odd, entry_reader<One> read) {
  const auto* now = given(from, name);
  if (now == nullptr) return {};
  const auto inside = below(place, name);
  auto made = read(*now, inside, odd);
  if (made && made->id == id) return std::move(*made);
  note(odd, id, made ? below(inside, "id: differs from " + name + "Id") : std::move(made.error().public_text));
  return {};
}

/// Errors if the changed file or drive cannot be identified.
result<change> change_of(const value& from, const std::string& place, std::vector<oddity>& odd) {
  if (from.as_object() == nullptr) return bad(place, "expected an object");
  change out;
  // Old servers send `type`, new ones `changeType`. One of the ids is always present.
  const auto type = given(from, "changeType") != nullptr ? text_in(from, "changeType", 64) : text_in(from, "type", 64);
  const bool is_of_drive = type == "drive" || type == "teamDrive" || (type.empty() && given(from, "fileId") == nullptr);
  if (!type.empty() && !is_of_drive && type != "file") return bad(below(place, "changeType"), "expected \"file\" or \"drive\"");
  out.of = is_of_drive ? change::kind::drive : change::kind::file;
  HONDANA_TRY(auto id, id_in(from, is_of_drive ? "driveId" : "fileId", place));
  out.id = std::move(id);
  const auto* removed = given(from, "removed");
  if (removed != nullptr && !removed->as_boolean()) note(odd, out.id, below(place, "removed: expected true or false"));
  out.is_removed = flag_in(from, "removed");
  out.when = time_in(from, "time");
  if (is_of_drive) out.drive_now = now_in(from, "drive", out.id, place, odd, drive_of);
  if (!is_of_drive) out.now = now_in(from, "file", out.id, place, odd, file_of);
  return out;
}

/// The id for reporting an unusable entry: `id` of a file or drive, `fileId` or `driveId` of a change.
std::string known_id(const value& of, std::string_view called) {
  for (const auto* name : {"id", "fileId", "driveId"}) {
    if ((called == "change") == (std::string_view(name) == "id")) continue;
    if (auto id = text_in(of, name, longest_id); is_id(id)) return id;
  }
  return {};
}

/// A page with more entries than this is rejected if none is usable: treating it as empty would remove all known files.
constexpr std::size_t most_odd_alone = 9;

/// Reads each element of the array `name` with `read`, and skips unusable elements. `called`: the word for an element in
/// errors.
template <class One, class Read>
result<std::vector<One>> each_in(const value& of, const std::string& name, const std::string& called, std::vector<oddity>& odd,
                                 const Read& read) {
  HONDANA_TRY(const auto elements, elements_in(of, name));
  std::vector<One> out;
  out.reserve(elements->size());
  for (const auto& one : *elements) {
    auto made = read(one, called, odd);
    if (made) out.push_back(std::move(*made));
    if (!made) note(odd, known_id(one, called), std::move(made.error().public_text));
  }
  if (out.empty() && elements->size() > most_odd_alone)
    return bad(name, "none of the " + std::to_string(elements->size()) + " entries can be used");
  return out;
}

}  // namespace

result<file> file_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  // The page that lists the file reports its oddities.
  std::vector<oddity> odd;
  return file_of(from, {}, odd);
}

result<file_page> files_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  file_page out;
  HONDANA_TRY(auto files, each_in<file>(from, "files", "file", out.odd, file_of));
  HONDANA_TRY(auto next, page_token_in(from, "nextPageToken"));
  out.files = std::move(files);
  out.next = std::move(next);
  out.is_incomplete = flag_in(from, "incompleteSearch");
  return out;
}

result<shared_drive> drive_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  std::vector<oddity> odd;
  return drive_of(from, {}, odd);
}

result<drive_page> drives_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  drive_page out;
  HONDANA_TRY(auto drives, each_in<shared_drive>(from, "drives", "drive", out.odd, drive_of));
  HONDANA_TRY(auto next, page_token_in(from, "nextPageToken"));
  out.drives = std::move(drives);
  out.next = std::move(next);
  return out;
}

result<change_page> changes_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  change_page out;
  auto changes = each_in<change>(from, "changes", "change", out.odd, change_of);
  if (!changes) return tl::unexpected(std::move(changes.error()));
  HONDANA_TRY(auto next, page_token_in(from, "nextPageToken"));
  HONDANA_TRY(auto start, page_token_in(from, "newStartPageToken"));
  // Without either token polling cannot continue, and changes would be lost.
  if (next.empty() && start.empty()) return bad("nextPageToken", "missing, and so is newStartPageToken");
  out.changes = std::move(*changes);
  out.next = std::move(next);
  out.start = std::move(start);
  return out;
}

result<about> about_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  about out;
  const auto* user = given(from, "user");
  auto who = user == nullptr ? std::nullopt : person_of(*user);
  if (!who) return bad("user", user == nullptr ? "missing" : "expected an object");
  out.user = std::move(*who);
  const auto* exports = given(from, "exportFormats");
  if (exports == nullptr || exports->as_object() == nullptr) return out;
  for (const auto& [type, to] : *exports->as_object()) {
    if (to.as_array() == nullptr) continue;
    for (const auto& one : *to.as_array()) {
      if (one.as_string() != nullptr && out.exports.size() < most_page) out.exports.emplace_back(type, *one.as_string());
    }
  }
  return out;
}

result<channel> channel_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  channel out;
  for (const auto& [name, to] : {std::pair<std::string_view, std::string*>{"id", &out.id}, {"resourceId", &out.resource_id}}) {
    *to = text_in(from, name, 1'024);
    if (to->empty()) return bad(std::string(name), "missing, or not a short string");
  }
  out.resource_uri = text_in(from, "resourceUri", longest_url);
  out.token = text_in(from, "token", 1'024);
  // Milliseconds since 1970, as a string.
  constexpr std::uint64_t latest = 253'402'300'799'000;  // the end of the year 9999
  if (const auto ends = number_in(from, "expiration"))
    out.ends = time(std::chrono::milliseconds(static_cast<std::int64_t>(std::min(*ends, latest))));
  return out;
}

result<std::string> start_token_in(std::string_view json) {
  HONDANA_TRY(const auto from, object_of(json));
  auto token = page_token_in(from, "startPageToken");
  if (token && token->empty()) return bad("startPageToken", "missing");
  return token;
}

}  // namespace hondana::drive
