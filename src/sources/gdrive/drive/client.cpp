/// A read-only client of the Google Drive API v3, and its search queries.
#include "sources/gdrive/drive/client.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/drive/request_sender.hpp"

namespace hondana::drive {

std::string quote(std::string_view text) {
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

query& query::in_folder(std::string_view id) { return add(quote(id) + " in parents"); }
query& query::name_equals(std::string_view name) { return add("name = " + quote(name)); }
query& query::name_starts_with(std::string_view prefix) { return add("name contains " + quote(prefix)); }
query& query::full_text_contains(std::string_view words) { return add("fullText contains " + quote(words)); }
query& query::type_is(std::string_view mime_type) { return add("mimeType = " + quote(mime_type)); }
query& query::type_is_not(std::string_view mime_type) { return add("mimeType != " + quote(mime_type)); }
query& query::trashed(bool is_trashed) { return add(is_trashed ? "trashed = true" : "trashed = false"); }
query& query::starred(bool is_starred) { return add(is_starred ? "starred = true" : "starred = false"); }
query& query::shared_with_me() { return add("sharedWithMe = true"); }
query& query::modified_after(std::string_view time) { return add("modifiedTime > " + quote(time)); }
query& query::custom_term(std::string_view term) { return term.empty() ? *this : add('(' + std::string(term) + ')'); }

/// Adapts the page size: halved after an answer that was too large, doubled after each that was not. Files that others share
/// with this account can make an answer arbitrarily large. A page token is valid with any page size. Threads: any.
/// Spec: Google, AIP-158 (pagination), page size.
class adaptive_page_size {
 public:
  static constexpr int max_size = 1'000;

  /// The page size of the next request, at most `requested`.
  [[nodiscard]] int next(int requested) const noexcept { return std::clamp(std::min(requested, size_.load()), 1, max_size); }
  /// Records that an answer of `size` entries was not too large.
  void record_success(int size) noexcept { size_ = std::clamp(2 * size, std::min(size_.load(), max_size), max_size); }
  /// Records that an answer of `size` entries was too large; the next request asks for half. Returns whether that is a new
  /// minimum.
  bool record_too_large(int size) noexcept {
    size_ = std::max(size / 2, 1);
    if (size_ >= min_size_) return false;
    min_size_ = size_.load();
    return true;
  }

 private:
  std::atomic<int> size_{max_size};
  std::atomic<int> min_size_{max_size};
};

namespace {

using std::chrono::milliseconds;

constexpr std::string_view drive_fields = "id,name,createdTime,hidden";
constexpr int max_redirects = 5;
constexpr std::size_t max_query_bytes = 6u << 10;

tl::unexpected<drive_error> bad_request_error(const std::string& operation, const std::string& reason) {
  return tl::unexpected(make_error(error_kind::bad_request, errc::invalid_argument, operation, reason));
}

/// Decodes the answer with `decoder`.
template <class Decoder>
auto decode_response(const api_result<endpoint::response>& response, const std::string& operation, const Decoder& decoder)
    -> api_result<typename decltype(decoder(std::string_view()))::value_type> {
  if (!response) return tl::unexpected(response.error());
  auto out = decoder(std::string_view(response->body));
  if (out) return std::move(*out);
  auto error = make_error(
      error_kind::malformed, errc::protocol_error, operation,
      "Drive sent an unusable answer (" + out.error().public_text + "); check whether a proxy or another server answered",
      std::move(out.error().private_text));
  error.status = response->status;
  return tl::unexpected(std::move(error));
}

std::string file_path(const std::string& id) { return "/drive/v3/files/" + percent_encode(id); }

void add_nonempty(string_pairs& parameters, std::string name, std::string value) {
  if (!value.empty()) parameters.emplace_back(std::move(name), std::move(value));
}

const std::string& or_default(const std::string& fields, const std::string& default_fields) {
  return fields.empty() ? default_fields : fields;
}

std::string name_of(list_request::search_corpus corpus) {
  return corpus == list_request::search_corpus::user    ? "user"
         : corpus == list_request::search_corpus::drive ? "drive"
                                                        : "allDrives";
}

bool is_media_type(std::string_view type) noexcept {
  return !type.empty() && type.size() <= 256 && type.find('/') != std::string_view::npos &&
         std::all_of(type.begin(), type.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::string format_page_size(int size, int max_size) { return std::to_string(std::clamp(size, 1, max_size)); }

/// The query parameters that changes.list and changes.watch share.
string_pairs make_change_query(const changes_request& request) {
  string_pairs out{{"pageToken", request.page_token}};
  add_nonempty(out, "driveId", request.drive_id);
  out.emplace_back("pageSize", format_page_size(request.page_size, adaptive_page_size::max_size));
  out.emplace_back("includeRemoved", "true");
  out.emplace_back("includeItemsFromAllDrives", "true");
  out.emplace_back("supportsAllDrives", "true");
  return out;
}

result<void> validate_settings(const client_settings& settings) {
  const auto invalid = [](std::string reason) { return fail(errc::invalid_argument, std::move(reason)); };
  if (auto valid = oauth::check_endpoint(settings.base_url, "the base URL of Drive"); !valid)
    return invalid(valid.error().public_text);
  const auto parts = split_uri(settings.base_url);
  if (!(parts.path.empty() || parts.path == "/") || parts.query)
    return invalid("the base URL of Drive has a path or query; write only scheme and host, such as https://www.googleapis.com");
  if (settings.base_url.starts_with("http:") && !settings.proxy.empty() && settings.proxy != "none")
    return invalid("tokens are not sent over plain http: through a proxy, which could read them; use https:, or no proxy");
  if (!(settings.quota.per_second > 0) || !(settings.quota.per_minute > 0) || settings.quota.per_second > 10'000 ||
      settings.quota.per_minute > 1'000'000)
    return invalid("requests per second and per minute must be more than 0, and at most 10000 and 1000000 respectively");
  if (settings.max_attempts < 1 || settings.max_attempts > 10) return invalid("attempts must be 1 to 10");
  for (const auto duration : {settings.initial_delay, settings.max_delay, settings.max_retry_after, settings.request_timeout,
                              settings.content_timeout, settings.stall_timeout}) {
    if (duration.count() <= 0 || duration > std::chrono::hours(1))
      return invalid("times must be more than 0 and at most an hour");
  }
  return {};
}

result<void> validate_optional_id(const std::string& id, std::string_view subject) {
  return id.empty() ? result<void>{} : validate_id(id, subject);
}

}  // namespace

struct client::state {
  state(client_settings settings, std::shared_ptr<google::access_token_source> tokens, std::shared_ptr<endpoint::endpoint> base)
      : sender(std::move(settings), std::move(tokens), std::move(base)) {}

  request_sender sender;
  adaptive_page_size file_page_size{}, change_page_size{};

  /// Requests a JSON answer. Errors: as `decode_response`.
  template <class Decoder>
  auto get(const api_request& request, const call_options& options, const Decoder& decoder) {
    return decode_response(sender.send(request, options), request.operation, decoder);
  }
  /// Requests a page of at most `max_size` entries, with fewer if the answer is too large.
  template <class Decoder>
  auto get_page(api_request request, int max_size, adaptive_page_size& page_size, const call_options& options,
                const Decoder& decoder) {
    for (int size = page_size.next(max_size);; size /= 2) {
      for (auto& [name, value] : request.query) {
        if (name == "pageSize") value = std::to_string(size);
      }
      auto response = get(request, options, decoder);
      if (response) page_size.record_success(size);
      if (response || response.error().kind != error_kind::too_large || size == 1) return response;
      if (page_size.record_too_large(size) && sender.settings().log)
        sender.settings().log("cannot " + request.operation + ", " + std::to_string(size) +
                              " per page: the answer is larger than 32 MiB; retrying with " + std::to_string(size / 2));
    }
  }
  /// Downloads a content from an export link, following redirects.
  api_result<void> follow_link(std::string url, const api_request& request, const std::string& type,
                               const call_options& options);
};

client::client(std::unique_ptr<state> initial_state) noexcept : state_(std::move(initial_state)) {}
client::~client() = default;

result<std::shared_ptr<client>> client::create(client_settings settings, std::shared_ptr<google::access_token_source> tokens) {
  HONDANA_TRY(validate_settings(settings));
  if (!tokens) return fail(errc::invalid_argument, "no credentials for Drive are given");
  HONDANA_TRY(auto base, endpoint::endpoint::create({.url = settings.base_url,
                                                     .ca_file = settings.ca_file,
                                                     .proxy = settings.proxy,
                                                     .timeout = std::max(settings.content_timeout, settings.request_timeout),
                                                     .max_idle_connections = 8}));
  return std::shared_ptr<client>(new client(std::make_unique<state>(std::move(settings), std::move(tokens), std::move(base))));
}

api_result<about_resource> client::get_about(const call_options& options) const {
  const api_request request{.operation = "read the account from Google Drive",
                            .path = "/drive/v3/about",
                            .query = {{"fields", "user(displayName,emailAddress),exportFormats"}}};
  auto out = state_->get(request, options, parse_about);
  if (out && !out->user.email.empty()) state_->sender.set_account(out->user.email);
  return out;
}

api_result<drive_page> client::list_drives(const std::string& page_token, const call_options& options, int page_size) const {
  api_request request{.operation = "list the shared drives", .path = "/drive/v3/drives"};
  request.query.emplace_back("pageSize", format_page_size(page_size, 100));
  add_nonempty(request.query, "pageToken", page_token);
  request.query.emplace_back("fields", "nextPageToken,drives(" + std::string(drive_fields) + ')');
  request.has_page_token = !page_token.empty();
  return state_->get(request, options, parse_drive_page);
}

api_result<shared_drive> client::get_drive(const std::string& id, const call_options& options) const {
  api_request request{.operation = "read metadata of the shared drive"};
  if (const auto valid = validate_id(id, "the shared drive"); !valid)
    return bad_request_error(request.operation, valid.error().public_text);
  request.operation += ' ' + id;
  request.path = "/drive/v3/drives/" + percent_encode(id);
  request.query.emplace_back("fields", drive_fields);
  return state_->get(request, options, parse_drive);
}

api_result<file_page> client::list_files(const list_request& request, const call_options& options) const {
  api_request out{.operation = request.drive_id.empty() ? "list files of Google Drive"
                                                        : "list files of the shared drive " + request.drive_id,
                  .path = "/drive/v3/files"};
  if (const auto valid = validate_optional_id(request.drive_id, "the shared drive"); !valid)
    return bad_request_error("list files of Google Drive", valid.error().public_text);
  if (request.drive_id.empty() == (request.corpus == list_request::search_corpus::drive))
    return bad_request_error(out.operation,
                             "the id of a shared drive must be given if only its files are listed, and only then");
  if (request.q.size() > max_query_bytes) return bad_request_error(out.operation, "the query is longer than 6 KiB; split it");
  add_nonempty(out.query, "q", request.q);
  out.query.emplace_back("corpora", name_of(request.corpus));
  add_nonempty(out.query, "driveId", request.drive_id);
  add_nonempty(out.query, "orderBy", request.order_by);
  out.query.emplace_back("pageSize", format_page_size(request.page_size, adaptive_page_size::max_size));
  add_nonempty(out.query, "pageToken", request.page_token);
  out.query.emplace_back("spaces", "drive");
  out.query.emplace_back("includeItemsFromAllDrives", "true");
  out.query.emplace_back("supportsAllDrives", "true");
  out.query.emplace_back(
      "fields", "nextPageToken,incompleteSearch,files(" + or_default(request.fields, std::string(file_fields())) + ')');
  out.has_page_token = !request.page_token.empty();
  return state_->get_page(std::move(out), request.page_size, state_->file_page_size, options, parse_file_page);
}

api_result<file> client::get_file(const std::string& id, const call_options& options) const {
  api_request request{.operation = "read metadata of the file"};
  if (const auto valid = validate_id(id, "the file"); !valid)
    return bad_request_error(request.operation, valid.error().public_text);
  request.operation = id == "root" ? "read metadata of My Drive" : request.operation + ' ' + id;
  request.path = file_path(id);
  request.query = {{"fields", std::string(file_fields()) + ",exportLinks"}, {"supportsAllDrives", "true"}};
  return state_->get(request, options, parse_file);
}

api_result<void> client::get_content(const std::string& id, const std::optional<byte_range>& range, const content_sink& sink,
                                     const call_options& options) const {
  api_request request{.operation = "read the file"};
  if (const auto valid = validate_id(id, "the file"); !valid)
    return bad_request_error(request.operation, valid.error().public_text);
  request.operation += ' ' + id;
  if (range && range->last && *range->last < range->first)
    return bad_request_error(request.operation, "the range ends before it begins");
  request.path = file_path(id);
  request.query = {{"alt", "media"}, {"supportsAllDrives", "true"}};
  request.sink = &sink;
  request.range = range;
  HONDANA_TRY(state_->sender.send(request, options));
  return {};
}

api_result<void> client::export_content(const std::string& id, const std::string& mime_type, const content_sink& sink,
                                        const call_options& options) const {
  api_request request{.operation = "export the file"};
  if (const auto valid = validate_id(id, "the file"); !valid)
    return bad_request_error(request.operation, valid.error().public_text);
  if (!is_media_type(mime_type)) return bad_request_error(request.operation, "the export type is not a media type");
  request.operation += ' ' + id + " as " + mime_type;
  request.path = file_path(id) + "/export";
  request.query = {{"mimeType", mime_type}};
  request.sink = &sink;
  request.is_export = true;
  HONDANA_TRY(state_->sender.send(request, options));
  return {};
}

api_result<void> client::state::follow_link(std::string url, const api_request& request, const std::string& type,
                                            const call_options& options) {
  const auto malformed = [&](const std::string& reason) {
    return tl::unexpected(make_error(error_kind::malformed, errc::protocol_error, request.operation, reason));
  };
  const auto& settings = sender.settings();
  for (int redirects = 0; redirects <= max_redirects; ++redirects) {
    const auto policy = check_link(url, settings.base_url);
    if (!policy.is_allowed)
      return malformed("its export link points to " + oauth::display_url(url) +
                       ", which is not a Google host, so it was not followed");
    // Google redirects to its log-in page if it does not accept the token.
    if (policy.is_login_page && redirects > 0)
      return tl::unexpected(classify_error(401, {}, {}, sender.make_error_context(request)));
    auto opened = endpoint::endpoint::create({.url = url,
                                              .ca_file = settings.ca_file,
                                              .proxy = settings.proxy,
                                              .timeout = std::max(settings.content_timeout, settings.request_timeout)});
    if (!opened) return malformed("its export link cannot be used: " + opened.error().public_text);
    const link_server target{std::move(*opened), policy.receives_token, type};
    HONDANA_TRY(const auto response, sender.send(request, options, &target));
    if (response.status < 300 || response.status >= 400) return {};
    auto next = resolve_redirect(url, response.location);
    if (next.empty()) return malformed("its export link redirects without a target");
    url = std::move(next);
  }
  return malformed("its export link redirects more than 5 times");
}

api_result<void> client::export_by_link(const file& file, const std::string& mime_type, const content_sink& sink,
                                        const call_options& options) const {
  api_request request{.operation = "export the file"};
  if (const auto valid = validate_id(file.id, "the file"); !valid)
    return bad_request_error(request.operation, valid.error().public_text);
  request.operation += ' ' + file.id + " by its link";
  request.sink = &sink;
  request.is_export = true;
  const auto link = std::find_if(file.export_links.begin(), file.export_links.end(),
                                 [&](const auto& entry) { return entry.first == mime_type; });
  if (link == file.export_links.end())
    return tl::unexpected(
        make_error(error_kind::not_exportable, errc::unsupported, request.operation, "Drive has no export link for this type"));
  return state_->follow_link(link->second, request, mime_type, options);
}

api_result<std::string> client::get_start_page_token(const std::string& drive_id, const call_options& options) const {
  api_request request{.operation = "get the start page token of changes", .path = "/drive/v3/changes/startPageToken"};
  if (const auto valid = validate_optional_id(drive_id, "the shared drive"); !valid)
    return bad_request_error(request.operation, valid.error().public_text);
  add_nonempty(request.query, "driveId", drive_id);
  request.query.emplace_back("supportsAllDrives", "true");
  return state_->get(request, options, parse_start_token);
}

api_result<change_page> client::list_changes(const changes_request& request, const call_options& options) const {
  api_request out{.operation = request.drive_id.empty() ? "list changes in Google Drive" : "list changes in a shared drive",
                  .path = "/drive/v3/changes"};
  if (const auto valid = validate_optional_id(request.drive_id, "the shared drive"); !valid)
    return bad_request_error(out.operation, valid.error().public_text);
  if (request.page_token.empty())
    return bad_request_error(out.operation, "the page token is missing; get a start page token first");
  out.query = make_change_query(request);
  out.query.emplace_back("fields", "nextPageToken,newStartPageToken,changes(changeType,removed,time,fileId,driveId,file(" +
                                       or_default(request.fields, std::string(file_fields())) + "),drive(" +
                                       std::string(drive_fields) + "))");
  out.has_page_token = true;
  return state_->get_page(std::move(out), request.page_size, state_->change_page_size, options, parse_change_page);
}

api_result<channel> client::watch_changes(const watch_request& request, const call_options& options) const {
  api_request out{.operation = "subscribe to changes in Google Drive", .path = "/drive/v3/changes/watch"};
  if (const auto valid = validate_optional_id(request.changes.drive_id, "the shared drive"); !valid)
    return bad_request_error(out.operation, valid.error().public_text);
  const bool is_id_valid = !request.id.empty() && request.id.size() <= 64 &&
                           std::all_of(request.id.begin(), request.id.end(),
                                       [](char c) { return is_id({&c, 1}) || c == '+' || c == '/' || c == '='; });
  if (!is_id_valid)
    return bad_request_error(out.operation, "the channel's id is not valid; expected 1 to 64 letters, digits and -_+/=");
  if (!request.address.starts_with("https://"))
    return bad_request_error(out.operation, "Google sends notifications to https: addresses only; configure a public one");
  if (request.token.size() > 256) return bad_request_error(out.operation, "the channel's token is longer than 256 bytes");
  if (request.changes.page_token.empty())
    return bad_request_error(out.operation, "the page token is missing; get a start page token first");
  out.query = make_change_query(request.changes);
  out.has_page_token = true;
  value::object body{{"id", request.id}, {"type", "web_hook"}, {"address", request.address}};
  if (!request.token.empty()) body.emplace_back("token", request.token);
  if (request.ttl) body.emplace_back("params", value(value::object{{"ttl", std::to_string(request.ttl->count())}}));
  out.body = value(std::move(body)).to_text();
  return state_->get(out, options, parse_channel);
}

api_result<void> client::stop_channel(const std::string& id, const std::string& resource_id,
                                      const call_options& options) const {
  api_request request{.operation = "unsubscribe from changes", .path = "/drive/v3/channels/stop"};
  request.body = value(value::object{{"id", id}, {"resourceId", resource_id}}).to_text();
  const auto response = state_->sender.send(request, options);
  // The channel has already expired.
  if (!response && response.error().kind != error_kind::not_found && response.error().kind != error_kind::gone)
    return tl::unexpected(response.error());
  return {};
}

client::statistics client::current_statistics() const { return state_->sender.current_statistics(); }
std::string client::account() const { return state_->sender.account(); }

std::vector<std::string> client::addresses() const {
  const auto base = state_->sender.base().address();
  // Export links redirect to Google hosts that are not known in advance.
  const bool is_google = state_->sender.settings().base_url == default_base_url;
  if (is_google || base == "*:*") return {"*:*"};
  return {base};
}

}  // namespace hondana::drive
