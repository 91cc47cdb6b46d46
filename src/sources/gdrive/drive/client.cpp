/// A read-only client of the Google Drive API v3, and its search queries.
#include "sources/gdrive/drive/client.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/drive/exchange.hpp"

namespace hondana::drive {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

query& query::add(std::string_view term) {
  if (!text_.empty()) text_ += " and ";
  text_ += term;
  return *this;
}

query& query::in_folder(std::string_view id) { return add(quoted(id) + " in parents"); }
query& query::name_is(std::string_view name) { return add("name = " + quoted(name)); }
query& query::name_begins(std::string_view begin) { return add("name contains " + quoted(begin)); }
query& query::text_has(std::string_view words) { return add("fullText contains " + quoted(words)); }
query& query::is_type(std::string_view mime_type) { return add("mimeType = " + quoted(mime_type)); }
query& query::is_not_type(std::string_view mime_type) { return add("mimeType != " + quoted(mime_type)); }
query& query::trashed(bool is_so) { return add(is_so ? "trashed = true" : "trashed = false"); }
query& query::starred(bool is_so) { return add(is_so ? "starred = true" : "starred = false"); }
query& query::shared_with_me() { return add("sharedWithMe = true"); }
query& query::modified_after(std::string_view time) { return add("modifiedTime > " + quoted(time)); }
query& query::also(std::string_view term) { return term.empty() ? *this : add('(' + std::string(term) + ')'); }

/// Adapts the page size: halved after an answer that was too large, doubled after each that was not. Files that others share
/// with this account can make an answer arbitrarily large. A page token is valid with any page size. Threads: any.
/// Spec: Google, AIP-158 (pagination), page size.
class page_sizes {
 public:
  static constexpr int most = 1'000;

  /// The page size of the next request, at most `wanted`.
  [[nodiscard]] int next(int wanted) const noexcept { return std::clamp(std::min(wanted, now_.load()), 1, most); }
  /// Records that an answer of `size` entries was not too large.
  void fits(int size) noexcept { now_ = std::clamp(2 * size, std::min(now_.load(), most), most); }
  /// Records that an answer of `size` entries was too large; the next request asks for half. Returns whether that is a new
  /// minimum.
  bool is_too_large(int size) noexcept {
    now_ = std::max(size / 2, 1);
    if (now_ >= least_) return false;
    least_ = now_.load();
    return true;
  }

 private:
  std::atomic<int> now_{most};
  std::atomic<int> least_{most};
};

namespace {

using std::chrono::milliseconds;

constexpr std::string_view drive_fields = "id,name,createdTime,hidden";
constexpr int most_redirects = 5;
constexpr std::size_t longest_query_text = 6u << 10;

tl::unexpected<refusal> bad_request(const std::string& doing, const std::string& why) {
  return tl::unexpected(refused(trouble::bad_request, errc::invalid_argument, doing, why));
}

/// Decodes the answer with `read`.
template <class Read>
auto read_answer(const answer<endpoint::answer>& got, const std::string& doing, const Read& read)
    -> answer<typename decltype(read(std::string_view()))::value_type> {
  if (!got) return tl::unexpected(got.error());
  auto out = read(std::string_view(got->bytes));
  if (out) return std::move(*out);
  auto why = refused(
      trouble::malformed, errc::broken_protocol, doing,
      "Drive sent an unusable answer (" + out.error().public_text + "); check whether a proxy or another server answered",
      std::move(out.error().private_text));
  why.status = got->status;
  return tl::unexpected(std::move(why));
}

std::string path_of_file(const std::string& id) { return "/drive/v3/files/" + percent_encode(id); }

void add(texts& to, std::string name, std::string value) {
  if (!value.empty()) to.emplace_back(std::move(name), std::move(value));
}

const std::string& or_usual(const std::string& fields, const std::string& usual) { return fields.empty() ? usual : fields; }

std::string name_of(list_request::corpus in) {
  return in == list_request::corpus::user ? "user" : in == list_request::corpus::drive ? "drive" : "allDrives";
}

bool is_type(std::string_view type) noexcept {
  return !type.empty() && type.size() <= 256 && type.find('/') != std::string_view::npos &&
         std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::string page_of(int size, int most) { return std::to_string(std::clamp(size, 1, most)); }

/// The query parameters that changes.list and changes.watch share.
texts change_query(const changes_request& what) {
  texts out{{"pageToken", what.page_token}};
  add(out, "driveId", what.drive_id);
  out.emplace_back("pageSize", page_of(what.page_size, page_sizes::most));
  out.emplace_back("includeRemoved", "true");
  out.emplace_back("includeItemsFromAllDrives", "true");
  out.emplace_back("supportsAllDrives", "true");
  return out;
}

result<void> check_settings(const settings& from) {
  const auto unfit = [](std::string why) { return fail(errc::invalid_argument, std::move(why)); };
  if (auto fine = oauth::check_endpoint(from.base, "the base URL of Drive"); !fine) return unfit(fine.error().public_text);
  const auto parts = split_uri(from.base);
  if (!(parts.path.empty() || parts.path == "/") || parts.query)
    return unfit("the base URL of Drive has a path or query; write only scheme and host, such as https://www.googleapis.com");
  if (from.base.starts_with("http:") && !from.proxy.empty() && from.proxy != "none")
    return unfit("tokens are not sent over plain http: through a proxy, which could read them; use https:, or no proxy");
  if (!(from.allowed.per_second > 0) || !(from.allowed.per_minute > 0) || from.allowed.per_second > 10'000 ||
      from.allowed.per_minute > 1'000'000)
    return unfit("requests per second and per minute must be more than 0, and at most 10000 and 1000000 respectively");
  if (from.attempts < 1 || from.attempts > 10) return unfit("attempts must be 1 to 10");
  for (const auto one :
       {from.first_pause, from.longest_pause, from.longest_retry_after, from.time, from.content_time, from.slow_time}) {
    if (one.count() <= 0 || one > std::chrono::hours(1)) return unfit("times must be more than 0 and at most an hour");
  }
  return {};
}

result<void> check_id_or_empty(const std::string& id, std::string_view what) {
  return id.empty() ? result<void>{} : check_id(id, what);
}

}  // namespace

struct client::state {
  state(settings from, std::shared_ptr<google::tokens> with, std::shared_ptr<endpoint::endpoint> base)
      : asking(std::move(from), std::move(with), std::move(base)) {}

  exchanges asking;
  page_sizes files{}, changes{};

  /// Requests a JSON answer. Errors: as `read_answer`.
  template <class Read>
  auto get(const wanted& what, const errand& how, const Read& read) {
    return read_answer(asking.ask(what, how), what.doing, read);
  }
  /// Requests a page of at most `most` entries, with fewer if the answer is too large.
  template <class Read>
  auto get_page(wanted what, int most, page_sizes& sizes, const errand& how, const Read& read) {
    for (int size = sizes.next(most);; size /= 2) {
      for (auto& [name, value] : what.query) {
        if (name == "pageSize") value = std::to_string(size);
      }
      auto got = get(what, how, read);
      if (got) sizes.fits(size);
      if (got || got.error().what != trouble::too_large || size == 1) return got;
      if (sizes.is_too_large(size) && asking.from().log)
        asking.from().log("cannot " + what.doing + ", " + std::to_string(size) +
                          " per page: the answer is larger than 32 MiB; retrying with " + std::to_string(size / 2));
    }
  }
  /// Downloads a content from an export link, following redirects.
  answer<void> follow(std::string url, const wanted& what, const std::string& type, const errand& how);
};

client::client(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
client::~client() = default;

result<std::shared_ptr<client>> client::of(settings from, std::shared_ptr<google::tokens> with) {
  HONDANA_TRY(check_settings(from));
  if (!with) return fail(errc::invalid_argument, "no credentials for Drive are given");
  HONDANA_TRY(auto base, endpoint::endpoint::of({.url = from.base,
                                                 .authorities = from.authorities,
                                                 .proxy = from.proxy,
                                                 .time = std::max(from.content_time, from.time),
                                                 .idle = 8}));
  return std::shared_ptr<client>(new client(std::make_unique<state>(std::move(from), std::move(with), std::move(base))));
}

answer<about> client::get_about(const errand& how) const {
  const wanted what{.doing = "read the account from Google Drive",
                    .path = "/drive/v3/about",
                    .query = {{"fields", "user(displayName,emailAddress),exportFormats"}}};
  auto out = state_->get(what, how, about_in);
  if (out && !out->user.email.empty()) state_->asking.remember(out->user.email);
  return out;
}

answer<drive_page> client::list_drives(const std::string& page_token, const errand& how, int page_size) const {
  wanted what{.doing = "list the shared drives", .path = "/drive/v3/drives"};
  what.query.emplace_back("pageSize", page_of(page_size, 100));
  add(what.query, "pageToken", page_token);
  what.query.emplace_back("fields", "nextPageToken,drives(" + std::string(drive_fields) + ')');
  what.has_page_token = !page_token.empty();
  return state_->get(what, how, drives_in);
}

answer<shared_drive> client::get_drive(const std::string& id, const errand& how) const {
  wanted what{.doing = "read metadata of the shared drive"};
  if (const auto fine = check_id(id, "the shared drive"); !fine) return bad_request(what.doing, fine.error().public_text);
  what.doing += ' ' + id;
  what.path = "/drive/v3/drives/" + percent_encode(id);
  what.query.emplace_back("fields", drive_fields);
  return state_->get(what, how, drive_in);
}

answer<file_page> client::list_files(const list_request& what, const errand& how) const {
  wanted out{.doing = what.drive_id.empty() ? "list files of Google Drive" : "list files of the shared drive " + what.drive_id,
             .path = "/drive/v3/files"};
  if (const auto fine = check_id_or_empty(what.drive_id, "the shared drive"); !fine)
    return bad_request("list files of Google Drive", fine.error().public_text);
  if (what.drive_id.empty() == (what.in == list_request::corpus::drive))
    return bad_request(out.doing, "the id of a shared drive must be given if only its files are listed, and only then");
  if (what.q.size() > longest_query_text) return bad_request(out.doing, "the query is longer than 6 KiB; split it");
  add(out.query, "q", what.q);
  out.query.emplace_back("corpora", name_of(what.in));
  add(out.query, "driveId", what.drive_id);
  add(out.query, "orderBy", what.order_by);
  out.query.emplace_back("pageSize", page_of(what.page_size, page_sizes::most));
  add(out.query, "pageToken", what.page_token);
  out.query.emplace_back("spaces", "drive");
  out.query.emplace_back("includeItemsFromAllDrives", "true");
  out.query.emplace_back("supportsAllDrives", "true");
  out.query.emplace_back("fields",
                         "nextPageToken,incompleteSearch,files(" + or_usual(what.fields, std::string(file_fields())) + ')');
  out.has_page_token = !what.page_token.empty();
  return state_->get_page(std::move(out), what.page_size, state_->files, how, files_in);
}

answer<file> client::get_file(const std::string& id, const errand& how) const {
  wanted what{.doing = "read metadata of the file"};
  if (const auto fine = check_id(id, "the file"); !fine) return bad_request(what.doing, fine.error().public_text);
  what.doing = id == "root" ? "read metadata of My Drive" : what.doing + ' ' + id;
  what.path = path_of_file(id);
  what.query = {{"fields", std::string(file_fields()) + ",exportLinks"}, {"supportsAllDrives", "true"}};
  return state_->get(what, how, file_in);
}

answer<void> client::get_content(const std::string& id, const std::optional<byte_range>& range, const content_sink& into,
                                 const errand& how) const {
  wanted what{.doing = "read the file"};
  if (const auto fine = check_id(id, "the file"); !fine) return bad_request(what.doing, fine.error().public_text);
  what.doing += ' ' + id;
  if (range && range->last && *range->last < range->first) return bad_request(what.doing, "the range ends before it begins");
  what.path = path_of_file(id);
  what.query = {{"alt", "media"}, {"supportsAllDrives", "true"}};
  what.into = &into;
  what.range = range;
  HONDANA_TRY(state_->asking.ask(what, how));
  return {};
}

answer<void> client::export_content(const std::string& id, const std::string& mime_type, const content_sink& into,
                                    const errand& how) const {
  wanted what{.doing = "export the file"};
  if (const auto fine = check_id(id, "the file"); !fine) return bad_request(what.doing, fine.error().public_text);
  if (!is_type(mime_type)) return bad_request(what.doing, "the export type is not a media type");
  what.doing += ' ' + id + " as " + mime_type;
  what.path = path_of_file(id) + "/export";
  what.query = {{"mimeType", mime_type}};
  what.into = &into;
  what.is_export = true;
  HONDANA_TRY(state_->asking.ask(what, how));
  return {};
}

answer<void> client::state::follow(std::string url, const wanted& what, const std::string& type, const errand& how) {
  const auto malformed = [&](const std::string& why) {
    return tl::unexpected(refused(trouble::malformed, errc::broken_protocol, what.doing, why));
  };
  const auto& from = asking.from();
  for (int redirects = 0; redirects <= most_redirects; ++redirects) {
    const auto place = place_of_link(url, from.base);
    if (!place.is_allowed)
      return malformed("its export link points to " + oauth::shown(url) +
                       ", which is not a Google host, so it was not followed");
    // Google redirects to its log-in page if it does not accept the token.
    if (place.is_log_in && redirects > 0) return tl::unexpected(refusal_of(401, {}, {}, asking.circumstances_of(what)));
    auto at = endpoint::endpoint::of(
        {.url = url, .authorities = from.authorities, .proxy = from.proxy, .time = std::max(from.content_time, from.time)});
    if (!at) return malformed("its export link cannot be used: " + at.error().public_text);
    const elsewhere there{std::move(*at), place.has_token, type};
    HONDANA_TRY(const auto got, asking.ask(what, how, &there));
    if (got.status < 300 || got.status >= 400) return {};
    auto next = next_link(url, got.location);
    if (next.empty()) return malformed("its export link redirects without a target");
    url = std::move(next);
  }
  return malformed("its export link redirects more than 5 times");
}

answer<void> client::export_by_link(const file& of, const std::string& mime_type, const content_sink& into,
                                    const errand& how) const {
  wanted what{.doing = "export the file"};
  if (const auto fine = check_id(of.id, "the file"); !fine) return bad_request(what.doing, fine.error().public_text);
  what.doing += ' ' + of.id + " by its link";
  what.into = &into;
  what.is_export = true;
  const auto link =
      std::find_if(of.export_links.begin(), of.export_links.end(), [&](const auto& one) { return one.first == mime_type; });
  if (link == of.export_links.end())
    return tl::unexpected(
        refused(trouble::not_exportable, errc::unsupported, what.doing, "Drive has no export link for this type"));
  return state_->follow(link->second, what, mime_type, how);
}

answer<std::string> client::get_start_page_token(const std::string& drive_id, const errand& how) const {
  wanted what{.doing = "get the start page token of changes", .path = "/drive/v3/changes/startPageToken"};
  if (const auto fine = check_id_or_empty(drive_id, "the shared drive"); !fine)
    return bad_request(what.doing, fine.error().public_text);
  add(what.query, "driveId", drive_id);
  what.query.emplace_back("supportsAllDrives", "true");
  return state_->get(what, how, start_token_in);
}

answer<change_page> client::list_changes(const changes_request& what, const errand& how) const {
  wanted out{.doing = what.drive_id.empty() ? "list changes in Google Drive" : "list changes in a shared drive",
             .path = "/drive/v3/changes"};
  if (const auto fine = check_id_or_empty(what.drive_id, "the shared drive"); !fine)
    return bad_request(out.doing, fine.error().public_text);
  if (what.page_token.empty()) return bad_request(out.doing, "the page token is missing; get a start page token first");
  out.query = change_query(what);
  out.query.emplace_back("fields", "nextPageToken,newStartPageToken,changes(changeType,removed,time,fileId,driveId,file(" +
                                       or_usual(what.fields, std::string(file_fields())) + "),drive(" +
                                       std::string(drive_fields) + "))");
  out.has_page_token = true;
  return state_->get_page(std::move(out), what.page_size, state_->changes, how, changes_in);
}

answer<channel> client::watch_changes(const watch_request& what, const errand& how) const {
  wanted out{.doing = "subscribe to changes in Google Drive", .path = "/drive/v3/changes/watch"};
  if (const auto fine = check_id_or_empty(what.from.drive_id, "the shared drive"); !fine)
    return bad_request(out.doing, fine.error().public_text);
  const bool is_id_fine = !what.id.empty() && what.id.size() <= 64 && std::all_of(what.id.begin(), what.id.end(), [](char c) {
    return is_id({&c, 1}) || c == '+' || c == '/' || c == '=';
  });
  if (!is_id_fine) return bad_request(out.doing, "the channel's id is not valid; expected 1 to 64 letters, digits and -_+/=");
  if (!what.address.starts_with("https://"))
    return bad_request(out.doing, "Google sends notifications to https: addresses only; configure a public one");
  if (what.token.size() > 256) return bad_request(out.doing, "the channel's token is longer than 256 bytes");
  if (what.from.page_token.empty()) return bad_request(out.doing, "the page token is missing; get a start page token first");
  out.query = change_query(what.from);
  out.has_page_token = true;
  value::object body{{"id", what.id}, {"type", "web_hook"}, {"address", what.address}};
  if (!what.token.empty()) body.emplace_back("token", what.token);
  if (what.life) body.emplace_back("params", value(value::object{{"ttl", std::to_string(what.life->count())}}));
  out.body = value(std::move(body)).to_text();
  return state_->get(out, how, channel_in);
}

answer<void> client::stop_channel(const std::string& id, const std::string& resource_id, const errand& how) const {
  wanted what{.doing = "unsubscribe from changes", .path = "/drive/v3/channels/stop"};
  what.body = value(value::object{{"id", id}, {"resourceId", resource_id}}).to_text();
  const auto got = state_->asking.ask(what, how);
  // The channel has already expired.
  if (!got && got.error().what != trouble::not_found && got.error().what != trouble::gone) return tl::unexpected(got.error());
  return {};
}

client::figures client::now() const { return state_->asking.now(); }
std::string client::account() const { return state_->asking.account(); }

std::vector<std::string> client::places() const {
  const auto base = state_->asking.base().place();
  // Export links redirect to Google hosts that are not known in advance.
  const bool is_googles = state_->asking.from().base == usual_base;
  if (is_googles || base == "*:*") return {"*:*"};
  return {base};
}

}  // namespace hondana::drive
