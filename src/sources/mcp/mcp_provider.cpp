/// The provider that mounts another MCP server.
#include "sources/mcp/mcp_provider.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/authorization.hpp>
#include <hondana/clock.hpp>
#include <hondana/mount.hpp>
#include <hondana/uri.hpp>

#include "auth/credentials/credential_store.hpp"
#include "auth/credentials/stored_login.hpp"
#include "os/disk/spool.hpp"
#include "sources/config/section.hpp"
#include "sources/mcp/sanitizer.hpp"
#include "sources/mcp/settings.hpp"
#include "sources/mcp/upstream_lists.hpp"

namespace hondana::mcp {
namespace {

bool comes_before(std::string_view a, std::string_view b) { return std::is_lt(compare_by_segment(a, b)); }

std::string_view key_of(const resource& entry) { return entry.uri; }
std::string_view key_of(const skill& entry) { return entry.uri; }

/// The requested page of sorted items: those after `after_key` that the caller may see.
template <class T>
std::vector<T> make_page(const std::vector<T>& entries, const std::string& after_key, std::size_t limit,
                         const access_filter* filter, std::optional<std::string>& next_key) {
  std::vector<T> page;
  auto next = std::upper_bound(entries.begin(), entries.end(), after_key,
                               [](const std::string& key, const T& entry) { return comes_before(key, key_of(entry)); });
  for (; next != entries.end(); ++next) {
    if (filter != nullptr && !filter->may_see(key_of(*next))) continue;
    if (page.size() == limit) {
      next_key = key_of(page.back());
      break;
    }
    page.push_back(*next);
  }
  return page;
}

call_options make_call_options(const request_context& context, upstream& mounted) {
  const auto& options = mounted.options();
  call_options call_settings;
  const auto time_left = std::chrono::duration_cast<std::chrono::milliseconds>(context.deadline - monotonic_clock::now());
  call_settings.timeout = std::clamp(time_left, std::chrono::milliseconds(1), options.call_timeout);
  call_settings.total_timeout = call_settings.timeout;
  call_settings.stop = context.stop;
  call_settings.trace = context.trace;
  if (context.report_progress) {
    call_settings.on_progress = [&mounted, report_progress = context.report_progress,
                                 masks = options.redact](const progress& update) {
      mounted.report_activity();
      report_progress({update.done, update.total, sanitize_display(update.message, max_line_bytes, masks)});
    };
  }
  return call_settings;
}

bool has_open_variables(const complete_request& request) {
  const auto compiled = uri_template::compile(request.uri_template);
  if (!compiled) return true;
  const auto& names = compiled->variables();
  return std::any_of(names.begin(), names.end(), [&request](const std::string& name) {
    const auto is_named = [&name](const auto& argument) { return argument.first == name; };
    return name != request.argument && std::none_of(request.context.begin(), request.context.end(), is_named);
  });
}

/// The URI that a template expands to with this value and those of the other variables. Open variables get `placeholder`.
result<std::string> completed_uri(const uri_template& compiled, const complete_request& request, const std::string& value,
                                  std::string_view placeholder) {
  uri_template_values values;
  for (const auto& name : compiled.variables()) values[name] = std::string(placeholder);
  for (const auto& [name, argument] : request.context) values[name] = argument;
  values[request.argument] = value;
  return compiled.expand(values);
}

/// Whether the filter leaves out every resource that has this value of the variable.
bool is_left_out(const uri_filter& filter, const uri_template& compiled, const complete_request& request,
                 const std::string& value) {
  constexpr std::string_view placeholder = "0-not-chosen-0";
  const auto uri = completed_uri(compiled, request, value, placeholder);
  if (!uri) return false;
  const auto known = uri->substr(0, uri->find(placeholder));
  if (known.size() == uri->size()) return !filter.rejection_reason(*uri).empty();
  if (const auto end = known.find_first_of("?#"); end != std::string::npos)
    return !filter.rejection_reason(known.substr(0, end)).empty();
  if (!filter.may_include_below(known)) return true;
  // Patterns that match two unlike values of the open variables match all of them.
  const auto other_uri = completed_uri(compiled, request, value, "x");
  return other_uri && filter.excludes(*uri) && filter.excludes(*other_uri);
}

tl::unexpected<failure> not_found() { return fail(errc::resource_not_found, "Resource not found"); }

}  // namespace

scheme_documentation describe_scheme() {
  return {"mcp",
          "Other MCP servers, each mounted under a prefix. Their resources, templates and skills are served here.",
          {{"*", "The kind that the mounted server declares, if any."}},
          {{"mcp://NAME/URI",
            "The resource URI of the server that is configured as NAME, for example mcp://everything/demo://resource/1. Its "
            "templates have the same prefix."}}};
}

scheme_documentation mcp_provider::documentation() const {
  auto document = mcp::describe_scheme();
  document.scheme = split_uri(upstream_.mapping().prefix()).scheme;
  document.forms.push_back({upstream_.mapping().prefix() + "URI", "The resource URI of \"" + name() + "\"."});
  return document;
}

failure mcp_provider::handle_failure(const failure& error, const std::string& remote_uri) {
  upstream_.report_failure(error);
  auto relayed = relay_failure(error, name(), upstream_.options().redact);
  const bool is_web = remote_uri.starts_with("https://");
  if (is_web && (error.code == errc::resource_not_found || error.code == errc::server_error)) {
    return {errc::fetch_directly,
            "The mounted server \"" + name() + "\" does not read web pages. Fetch " + sanitize(remote_uri, max_line_bytes) +
                " directly over HTTPS.",
            std::move(relayed.private_text)};
  }
  return relayed;
}

result<mcp_provider::remote_request> mcp_provider::map_request(const request_context& context, const std::string& uri) {
  auto remote_uri = upstream_.mapping().to_remote(uri);
  if (!remote_uri) return not_found();
  if (const auto reason = upstream_.find_cycle(context); !reason.empty()) {
    return fail(errc::source_unavailable,
                "The mount \"" + name() + "\" forms a circle: " + reason + ". Read the resource from the server that owns it.");
  }
  HONDANA_TRY(auto connection, upstream_.ensure_connected(context));
  if (const auto lists = upstream_.current_lists()) {
    if (auto listed_uri = lists->remote_uri_of(uri)) remote_uri = std::move(listed_uri);
  }
  if (!upstream_.filter().rejection_reason(*remote_uri).empty()) return not_found();
  return remote_request{std::move(connection), std::move(*remote_uri), make_call_options(context, upstream_),
                        upstream_.begin_call()};
}

result<list_result> mcp_provider::list(const list_request& request) {
  if (!upstream_.find_cycle(request).empty()) return list_result{};
  const auto lists = upstream_.lists(request);
  return lists ? lists->entries().page(request) : list_result{};
}

result<std::vector<resource_template>> mcp_provider::current_templates(const request_context& request) {
  if (!upstream_.find_cycle(request).empty()) return std::vector<resource_template>{};
  const auto lists = upstream_.lists(request);
  return lists ? lists->templates() : std::vector<resource_template>{};
}

result<skills_result> mcp_skill_provider::skills(const list_request& request) {
  skills_result page;
  if (!upstream_.find_cycle(request).empty()) return page;
  const auto lists = upstream_.lists(request);
  if (lists)
    page.skills =
        make_page(lists->skills(), request.after_key, request.limit, request.caller.access_filter.get(), page.next_key);
  return page;
}

result<skill> mcp_skill_provider::find_skill(const skill_request& request) {
  HONDANA_TRY(const auto target, map_request(request, request.uri));
  if (const auto lists = upstream_.current_lists()) {
    const auto& listed = lists->skills();
    const auto match = std::find_if(listed.begin(), listed.end(), [&](const skill& entry) { return entry.uri == request.uri; });
    if (match != listed.end()) return *match;
  }
  if (!target.connection->server().has_skills) return not_found();
  auto received = target.connection->find_skill(target.remote_uri, target.options);
  if (!received) return tl::unexpected(handle_failure(received.error(), target.remote_uri));
  upstream_.report_success();
  auto local_skill = mcp::to_local_skill(std::move(*received), upstream_.mapping(), upstream_.filter());
  if (!local_skill || local_skill->uri != request.uri) return not_found();
  return std::move(*local_skill);
}

std::vector<resource> mcp_provider::to_local_entries(std::vector<resource> remote_entries) const {
  std::vector<resource> entries;
  std::unordered_set<std::string> seen;
  for (auto& entry : remote_entries) {
    auto uri = upstream_.mapping().to_local(entry.uri);
    if (!uri || !upstream_.filter().rejection_reason(entry.uri).empty() || !seen.insert(*uri).second) continue;
    entry.uri = std::move(*uri);
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const resource& a, const resource& b) { return comes_before(a.uri, b.uri); });
  return entries;
}

result<list_result> mcp_provider::children(const children_request& request) {
  HONDANA_TRY(const auto target, map_request(request, request.uri));
  if (!target.connection->server().has_folders)
    return fail(errc::unsupported, "The mounted server \"" + name() + "\" does not list folders. Use resources/list.");
  list_budget budget;
  budget.deadline = request.deadline;
  list_collector<resource> collector(upstream_.options().max_entries, budget, upstream_.options().redact);
  auto outcome = collect(target.connection->children(target.remote_uri, target.options), collector);
  if (outcome && collector.has_more())
    outcome = fail(errc::response_too_large, "the folder has more than " + std::to_string(upstream_.options().max_entries) +
                                                 " entries, or its list is larger than " +
                                                 std::to_string(max_list_bytes >> 20) + " MiB");
  if (!outcome) return tl::unexpected(handle_failure(outcome.error(), target.remote_uri));
  upstream_.report_success();
  list_result page;
  page.entries = make_page(to_local_entries(std::move(collector).extract()), request.after_key, request.limit,
                           request.caller.access_filter.get(), page.next_key);
  return page;
}

result<resource> mcp_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto target, map_request(request, request.uri));
  if (!target.connection->server().has_versions) {
    const auto lists = upstream_.current_lists();
    auto listed = lists ? lists->find_entry(request.uri) : std::nullopt;
    if (!listed) return not_found();
    listed->uri = request.uri;
    return std::move(*listed);
  }
  auto received = target.connection->describe(target.remote_uri, target.options);
  if (!received) return tl::unexpected(handle_failure(received.error(), target.remote_uri));
  upstream_.report_success();
  sanitize_fields(*received, upstream_.options().redact);
  received->uri = request.uri;
  return std::move(*received);
}

result<complete_result> mcp_provider::complete(const complete_request& request) {
  HONDANA_TRY(const auto target, map_request(request, request.uri_template));
  // While other variables are open, a value matches many resources. Only entries show whether the caller may see one of them.
  if (!target.connection->server().has_completion || (request.caller.access_filter && has_open_variables(request)))
    return fail(errc::unsupported, "The mounted server \"" + name() + "\" cannot complete this variable.");
  auto completion =
      target.connection->complete(target.remote_uri, request.argument, request.value, request.context, target.options);
  if (!completion) return tl::unexpected(handle_failure(completion.error(), {}));
  upstream_.report_success();
  sanitize_fields(*completion);
  if (const auto compiled = uri_template::compile(target.remote_uri); compiled) {
    const auto removed = std::erase_if(completion->values, [&](const std::string& value) {
      return is_left_out(upstream_.filter(), *compiled, request, value);
    });
    if (removed != 0) completion->total.reset();
  }
  // The server's totals include values that this caller may not see.
  if (request.caller.access_filter) {
    completion->total.reset();
    completion->has_more = false;
  }
  return std::move(*completion);
}

result<void> mcp_provider::inventory(const request_context& request, const std::function<void(const inventory_item&)>& visit) {
  if (const auto reason = upstream_.find_cycle(request); !reason.empty())
    return fail(errc::source_unavailable, "The mount \"" + name() + "\" forms a circle: " + reason + '.');
  const auto lists = upstream_.lists(request);
  if (auto error = upstream_.last_error()) return tl::unexpected(std::move(*error));
  if (!lists) {
    return fail(errc::timed_out,
                "The mounted server \"" + name() +
                    "\" did not list its resources in time. Raise list_timeout_ms, or check its output in the log.");
  }
  for (std::size_t i = 0; i < lists->entries().size(); ++i) {
    const auto entry = lists->entries().at(i);
    visit({entry.name, entry.uri, true, {}});
  }
  for (const auto& skipped : lists->skipped()) visit(skipped);
  return {};
}

namespace {

constexpr std::size_t max_contents = 10'000;

failure too_large(const std::string& uri, std::uint64_t limit) {
  return {errc::response_too_large,
          uri + " is larger than " + std::to_string(limit) +
              " bytes, the limit of a read. Raise max_read_bytes here and in the mount, or request a part of it from the "
              "mounted server.",
          {}};
}

failure timeout_error(const std::string& name) {
  return {errc::timed_out, "The mounted server \"" + name + "\" did not send the whole resource in time.", {}};
}

/// Receives the items of one answer.
class content_receiver {
 public:
  content_receiver(const read_request& request, std::uint64_t max_bytes, std::string name)
      : request_(request), max_bytes_(max_bytes), name_(std::move(name)) {}

  result<void> append(std::size_t index, std::string_view bytes) {
    total_ += bytes.size();
    if (total_ > max_bytes_) return tl::unexpected(too_large(request_.requested_uri, max_bytes_));
    if (index >= max_contents)
      return fail(errc::protocol_error, "it sent more than " + std::to_string(max_contents) + " contents");
    if (monotonic_clock::now() > request_.deadline) return tl::unexpected(timeout_error(name_));
    while (spools_.size() <= index) spools_.emplace_back();
    return spools_[index].append(bytes);
  }
  /// The content of one item; empty if none arrived.
  [[nodiscard]] result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> content(std::size_t index) {
    while (spools_.size() <= index) spools_.emplace_back();
    return spools_[index].finish();
  }

 private:
  const read_request& request_;
  const std::uint64_t max_bytes_;
  const std::string name_;
  std::uint64_t total_ = 0;
  std::vector<disk::spool> spools_;
};

}  // namespace

resource_content mcp_provider::make_content(const received_content& received, const std::string& remote_uri) const {
  resource_content content;
  if (!received.uri.empty() && received.uri != remote_uri) {
    // If its URI cannot be mapped, the content gets the requested URI.
    if (auto uri = upstream_.mapping().to_local(received.uri)) content.uri = std::move(*uri);
  }
  content.name = sanitize_display(received.name, max_line_bytes, upstream_.options().redact);
  content.title = sanitize_display(received.title, max_line_bytes, upstream_.options().redact);
  content.mime_type = sanitize_media_type(received.mime_type);
  content.kind = received.is_text ? content_kind::text : content_kind::blob;
  return content;
}

bool mcp_provider::is_excluded(const received_content& received, const std::string& remote_uri) const {
  // The server may spell the requested URI in another way, such as with a slash at its end.
  const auto normalized = [](std::string uri) {
    while (uri.ends_with('/')) uri.pop_back();
    return canonical_uri(uri).value_or(uri);
  };
  if (received.uri.empty() || received.uri == remote_uri || normalized(received.uri) == normalized(remote_uri)) return false;
  return !upstream_.filter().rejection_reason(received.uri).empty();
}

result<read_result> mcp_provider::read(const read_request& request) {
  HONDANA_TRY(const auto target, map_request(request, request.uri));
  const bool is_conditional = request.cached_version && target.connection->server().has_versions;
  auto response = is_conditional ? read_if_changed(target, request) : read_streamed(target, request);
  if (response) upstream_.report_success();
  // Callers with an access filter must not distinguish missing from hidden resources, and `fetch_directly` would give them a
  // way around the filter.
  if (!response && request.caller.access_filter && response.error().code == errc::fetch_directly) {
    return fail(errc::resource_not_found, "Resource not found", std::move(response.error().private_text));
  }
  return response;
}

result<read_result> mcp_provider::read_if_changed(const remote_request& target, const read_request& request) {
  auto received = target.connection->read_if_changed(target.remote_uri, *request.cached_version, target.options);
  // The content has changed, and is too large for memory.
  if (!received && received.error().code == errc::response_too_large) return read_streamed(target, request);
  if (!received) return tl::unexpected(handle_failure(received.error(), target.remote_uri));
  read_result response;
  response.ttl = received->ttl;
  if (received->is_not_modified) {
    response.version = *request.cached_version;
    return response;
  }
  const auto max_bytes = std::min(request.max_bytes, upstream_.options().max_read_bytes);
  std::uint64_t total = 0;
  for (auto& item : received->contents) {
    if (is_excluded(item, target.remote_uri)) continue;
    total += item.bytes.size();
    if (total > max_bytes) return tl::unexpected(too_large(request.requested_uri, max_bytes));
    auto content = make_content(item, target.remote_uri);
    content.data = std::make_shared<const std::string>(std::move(item.bytes));
    response.contents.push_back(std::move(content));
  }
  if (response.contents.empty()) return fail(errc::resource_not_found, "Resource not found", "a read without contents");
  response.version = sanitize(received->contents.front().version, max_word_bytes);
  return response;
}

result<read_result> mcp_provider::read_streamed(const remote_request& target, const read_request& request) {
  content_receiver receiver(request, std::min(request.max_bytes, upstream_.options().max_read_bytes), name());
  std::optional<failure> local_error;
  const auto received = target.connection->read_to(
      target.remote_uri,
      [&](std::size_t index, std::string_view bytes) {
        upstream_.report_activity();
        auto appended = receiver.append(index, bytes);
        if (!appended) local_error = appended.error();
        return appended;
      },
      target.options);
  if (!received && local_error) return tl::unexpected(std::move(*local_error));
  // The client enforces the mount's limit, but its error does not name the resource.
  if (!received && received.error().code == errc::response_too_large && !received.error().server_error)
    return tl::unexpected(too_large(request.requested_uri, upstream_.options().max_read_bytes));
  if (!received) return tl::unexpected(handle_failure(received.error(), target.remote_uri));
  if (received->contents.empty()) return fail(errc::resource_not_found, "Resource not found", "a read without contents");
  if (received->contents.size() > max_contents)
    return fail(errc::protocol_error,
                "The mounted server \"" + name() + "\" sent more than " + std::to_string(max_contents) + " contents.");
  read_result response;
  response.ttl = received->ttl;
  response.version = sanitize(received->contents.front().version, max_word_bytes);
  for (std::size_t index = 0; index < received->contents.size(); ++index) {
    if (is_excluded(received->contents[index], target.remote_uri)) continue;
    auto content = make_content(received->contents[index], target.remote_uri);
    HONDANA_TRY(auto data, receiver.content(index));
    content.data = std::move(data);
    response.contents.push_back(std::move(content));
  }
  if (response.contents.empty())
    return fail(errc::resource_not_found, "Resource not found", "all contents of a read are excluded");
  return response;
}

namespace {

/// Finds a program like execvp; empty if it does not exist.
std::string program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    std::error_code ignored;  // starting the program will report the error
    const auto path = std::filesystem::absolute(name, ignored);
    return ignored ? std::string() : path.string();
  }
  const auto paths = environment_variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::string_view remaining = paths; !remaining.empty();) {
    const auto colon = remaining.find(':');
    const auto candidate = std::string(remaining.substr(0, colon)) + '/' + name;
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    remaining.remove_prefix(colon == std::string_view::npos ? remaining.size() : colon + 1);
  }
  return {};
}

bool has_environment_proxy() {
  constexpr std::array names{"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(names.begin(), names.end(), [](const char* name) { return environment_variable(name).has_value(); });
}

/// Hides from callers where a mounted server is, and which account it requires. The log has the details.
class quiet_token_source final : public token_source {
 public:
  explicit quiet_token_source(std::shared_ptr<token_source> source) : source_(std::move(source)) {}

  std::optional<std::string> token() override { return source_->token(); }
  result<void> obtain(const rejected_token& rejection, const std::stop_token& stop) override {
    auto outcome = source_->obtain(rejection, stop);
    // The public text of these errors is not passed on anyway.
    if (outcome || outcome.error().code == errc::cancelled || outcome.error().code == errc::unauthorized) return outcome;
    auto& error = outcome.error();
    error.private_text = error.public_text + (error.private_text.empty() ? "" : " (" + error.private_text + ')');
    error.public_text = unauthorized_text;
    return outcome;
  }

 private:
  const std::shared_ptr<token_source> source_;
};

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto settings, read_settings(section));
  settings.log = log;
  if (auto* http = std::get_if<http_target>(&settings.target)) {
    auto tokens = credentials::make_stored_token_source(
        *http, credentials::make_store(),
        "log in with 'hondana login --on " + settings.name + "' and this server's --config, as the user that runs it", log);
    if (tokens) http->tokens = std::make_shared<quiet_token_source>(std::move(tokens));
  }
  return make_mcp_provider(std::move(settings));
}

hondana::system_requirements mcp_provider::requirements() const {
  hondana::system_requirements required;
  required.folders.push_back({disk::spool::folder(), true});
  const auto& target = upstream_.options().target;
  if (const auto* child = std::get_if<child_target>(&target)) {
    if (auto path = child->command.empty() ? std::string() : program_path(child->command.front()); !path.empty())
      required.programs.push_back(std::move(path));
  } else if (const auto* http = std::get_if<http_target>(&target)) {
    for (const auto* file : {&http->ca_file, &http->certificate_file, &http->key_file}) {
      if (*file) required.folders.push_back({std::filesystem::absolute(**file).string(), false});
    }
    if (http->socket_path) {
      required.sockets.push_back(*http->socket_path);
    } else {
      const auto parts = split_uri(http->url);
      std::string address(parts.authority.value_or(""));
      const auto port = address.find(':', address.find(']') == std::string::npos ? 0 : address.find(']'));
      if (port == std::string::npos) address += parts.scheme == "https" ? ":443" : ":80";
      required.sockets.push_back(std::move(address));
      // Only the mounted server knows where its authorization server is, and a proxy may be anywhere.
      if (http->tokens || (http->proxy && http->proxy != "none") || (!http->proxy && has_environment_proxy()))
        required.sockets.emplace_back("*:*");
    }
    if (const auto file = credentials::default_file(); http->tokens && !file.empty()) {
      required.folders.push_back({std::filesystem::path(file).parent_path().string(), true});
      const auto session = oauth_session::create(http->url, {});
      for (const auto& key : session ? credentials::key_files_for((*session)->resource()) : std::vector<std::string>())
        required.folders.push_back({std::filesystem::path(key).parent_path().string(), false});
    }
  }
  return required;
}

}  // namespace hondana::mcp

namespace hondana::inline v0 {

result<std::shared_ptr<provider>> make_mcp_provider(mount_options options) {
  HONDANA_TRY(mcp::validate_options(options));
  if (options.serves_skills) return std::shared_ptr<provider>(std::make_shared<mcp::mcp_skill_provider>(std::move(options)));
  return std::shared_ptr<provider>(std::make_shared<mcp::mcp_provider>(std::move(options)));
}

}  // namespace hondana::inline v0
