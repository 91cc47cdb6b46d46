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
#include <hondana/mcp.hpp>
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

std::string_view key_of(const resource& one) { return one.uri; }
std::string_view key_of(const skill& one) { return one.uri; }

/// The requested page of sorted items: those after the key that the caller may see.
template <class T>
std::vector<T> page_of(const std::vector<T>& all, const std::string& after, std::size_t limit, const view* through,
                       std::optional<std::string>& resume) {
  std::vector<T> page;
  auto next = std::upper_bound(all.begin(), all.end(), after,
                               [](const std::string& key, const T& one) { return comes_before(key, key_of(one)); });
  for (; next != all.end(); ++next) {
    if (through != nullptr && !through->may_see(key_of(*next))) continue;
    if (page.size() == limit) {
      resume = key_of(page.back());
      break;
    }
    page.push_back(*next);
  }
  return page;
}

call_options how(const call& by, upstream& to_ask) {
  const auto& of = to_ask.options();
  call_options made;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(by.deadline - monotonic_clock::now());
  made.time = std::clamp(left, std::chrono::milliseconds(1), of.timeout);
  made.whole_time = made.time;
  made.stop = by.stop;
  made.trace = by.trace;
  if (by.report) {
    made.report = [&to_ask, to = by.report, masks = of.redact](const progress& now) {
      to_ask.heard();
      to({now.done, now.total, clean_shown(now.message, longest_line, masks)});
    };
  }
  return made;
}

bool has_open_variables(const complete_request& request) {
  const auto compiled = uri_template::compile(request.uriTemplate);
  if (!compiled) return true;
  const auto& names = compiled->variables();
  return std::any_of(names.begin(), names.end(), [&request](const std::string& name) {
    const auto is_it = [&name](const auto& chosen) { return chosen.first == name; };
    return name != request.argument && std::none_of(request.context.begin(), request.context.end(), is_it);
  });
}

/// The URI that a template expands to with the other variables' values and this one; empty while variables are missing.
std::optional<std::string> completed_uri(const uri_template& compiled, const complete_request& request,
                                         const std::string& value) {
  uri_template_values values;
  for (const auto& [name, chosen] : request.context) values[name] = chosen;
  values[request.argument] = value;
  auto uri = compiled.expand(values);
  return uri ? std::optional(std::move(*uri)) : std::nullopt;
}

tl::unexpected<failure> not_found() { return fail(errc::resource_not_found, "Resource not found"); }

}  // namespace

scheme_documentation describe() {
  return {"mcp",
          "Other MCP servers, each mounted under a prefix. Their resources, templates and skills are served here.",
          {{"*", "The kind that the mounted server declares, if any."}},
          {{"mcp://NAME/URI",
            "The resource URI of the server that is configured as NAME, for example mcp://everything/demo://resource/1. Its "
            "templates have the same prefix."}}};
}

scheme_documentation mcp_provider::documentation() const {
  auto document = mcp::describe();
  document.scheme = split_uri(upstream_.names().prefix()).scheme;
  document.forms.push_back({upstream_.names().prefix() + "URI", "The resource URI of \"" + name() + "\"."});
  return document;
}

failure mcp_provider::ended(const failure& why, const std::string& theirs) {
  upstream_.ended(why);
  auto said = passed_on(why, name(), upstream_.options().redact);
  const bool is_web = theirs.starts_with("https://");
  if (is_web && (why.code == errc::resource_not_found || why.code == errc::refused)) {
    return {errc::fetch_directly,
            "The mounted server \"" + name() + "\" does not read web pages. Fetch " + clean(theirs, longest_line) +
                " directly over HTTPS.",
            std::move(said.private_text)};
  }
  return said;
}

result<mcp_provider::place> mcp_provider::find(const call& by, const std::string& ours) {
  auto theirs = upstream_.names().theirs(ours);
  if (!theirs) return not_found();
  if (const auto why = upstream_.circle(by); !why.empty()) {
    return fail(errc::source_unavailable,
                "The mount \"" + name() + "\" forms a circle: " + why + ". Read the resource from the server that owns it.");
  }
  HONDANA_TRY(auto with, upstream_.reach(by));
  if (const auto known = upstream_.known()) {
    if (auto spelled = known->spelling_of(ours)) theirs = std::move(spelled);
  }
  if (!upstream_.which().reason_against(*theirs).empty()) return not_found();
  return place{std::move(with), std::move(*theirs), how(by, upstream_), upstream_.begin_call()};
}

result<list_result> mcp_provider::list(const list_request& request) {
  if (!upstream_.circle(request).empty()) return list_result{};
  const auto all = upstream_.lists(request);
  return all ? all->entries().page(request) : list_result{};
}

result<std::vector<resource_template>> mcp_provider::templates_now(const call& request) {
  if (!upstream_.circle(request).empty()) return std::vector<resource_template>{};
  const auto all = upstream_.lists(request);
  return all ? all->templates() : std::vector<resource_template>{};
}

result<skills_result> mcp_provider::skills(const list_request& request) {
  skills_result page;
  if (!upstream_.circle(request).empty()) return page;
  const auto all = upstream_.lists(request);
  if (all) page.skills = page_of(all->skills(), request.after, request.limit, request.who.view.get(), page.resume);
  return page;
}

result<skill> mcp_provider::find_skill(const skill_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  if (const auto known = upstream_.known()) {
    const auto& all = known->skills();
    const auto found = std::find_if(all.begin(), all.end(), [&](const skill& one) { return one.uri == request.uri; });
    if (found != all.end()) return *found;
  }
  if (!at.with->server().has_skills) return not_found();
  auto got = at.with->find_skill(at.theirs, at.how);
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  upstream_.succeeded();
  auto ours = mcp::adopted(std::move(*got), upstream_.names(), upstream_.which());
  if (!ours || ours->uri != request.uri) return not_found();
  return std::move(*ours);
}

std::vector<resource> mcp_provider::adopted(std::vector<resource> theirs) const {
  std::vector<resource> ours;
  std::unordered_set<std::string> seen;
  for (auto& one : theirs) {
    auto uri = upstream_.names().ours(one.uri);
    if (!uri || !upstream_.which().reason_against(one.uri).empty() || !seen.insert(*uri).second) continue;
    one.uri = std::move(*uri);
    ours.push_back(std::move(one));
  }
  std::sort(ours.begin(), ours.end(), [](const resource& a, const resource& b) { return comes_before(a.uri, b.uri); });
  return ours;
}

result<list_result> mcp_provider::children(const children_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  if (!at.with->server().has_folders)
    return fail(errc::unsupported, "The mounted server \"" + name() + "\" does not list folders. Use resources/list.");
  allowance room;
  room.until = request.deadline;
  gathering<resource> all(upstream_.options().max_entries, room, upstream_.options().redact);
  auto done = take_all(at.with->children(at.theirs, at.how), all);
  if (done && all.has_more())
    done = fail(errc::response_too_large, "the folder has more than " + std::to_string(upstream_.options().max_entries) +
                                              " entries, or its list is larger than " + std::to_string(most_list_bytes >> 20) +
                                              " MiB");
  if (!done) return tl::unexpected(ended(done.error(), at.theirs));
  upstream_.succeeded();
  list_result page;
  page.entries = page_of(adopted(std::move(all).taken()), request.after, request.limit, request.who.view.get(), page.resume);
  return page;
}

result<resource> mcp_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  if (!at.with->server().has_versions) {
    const auto known = upstream_.known();
    auto listed = known ? known->entry_of(request.uri) : std::nullopt;
    if (!listed) return not_found();
    listed->uri = request.uri;
    return std::move(*listed);
  }
  auto got = at.with->describe(at.theirs, at.how);
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  upstream_.succeeded();
  make_fit(*got, upstream_.options().redact);
  got->uri = request.uri;
  return std::move(*got);
}

result<complete_result> mcp_provider::complete(const complete_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uriTemplate));
  // While other variables are open, a value matches many resources. Only entries show whether the caller may see one of them.
  if (!at.with->server().has_completion || (request.who.view && has_open_variables(request)))
    return provider::complete(request);
  auto got = at.with->complete(at.theirs, request.argument, request.value, request.context, at.how);
  if (!got) return tl::unexpected(ended(got.error(), {}));
  upstream_.succeeded();
  make_fit(*got);
  if (const auto compiled = uri_template::compile(at.theirs); compiled && !has_open_variables(request)) {
    const auto removed = std::erase_if(got->values, [&](const std::string& value) {
      const auto uri = completed_uri(*compiled, request, value);
      return uri && !upstream_.which().reason_against(*uri).empty();
    });
    if (removed != 0) got->total.reset();
  }
  // The server's totals include values that this caller may not see.
  if (request.who.view) {
    got->total.reset();
    got->has_more = false;
  }
  return std::move(*got);
}

result<void> mcp_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  if (const auto why = upstream_.circle(request); !why.empty())
    return fail(errc::source_unavailable, "The mount \"" + name() + "\" forms a circle: " + why + '.');
  const auto all = upstream_.lists(request);
  if (auto why = upstream_.trouble()) return tl::unexpected(std::move(*why));
  if (!all) {
    return fail(errc::timed_out,
                "The mounted server \"" + name() +
                    "\" did not list its resources in time. Raise list_wait_ms, or check its output in the log.");
  }
  for (std::size_t i = 0; i < all->entries().size(); ++i) {
    const auto entry = all->entries().at(i);
    each({entry.name, entry.uri, true, {}});
  }
  for (const auto& one : all->left_out()) each(one);
  return {};
}

namespace {

constexpr std::size_t most_items = 10'000;

failure too_large(const std::string& uri, std::uint64_t limit) {
  return {errc::response_too_large,
          uri + " is larger than " + std::to_string(limit) +
              " bytes, the limit of a read. Raise read_limit and the mount's max_read, or request a part of it from the "
              "mounted server.",
          {}};
}

failure late(const std::string& name) {
  return {errc::timed_out, "The mounted server \"" + name + "\" did not send the whole resource in time.", {}};
}

/// Receives the items of one answer.
class receiver {
 public:
  receiver(const read_request& request, std::uint64_t most, std::string name)
      : request_(request), most_(most), name_(std::move(name)) {}

  result<void> take(std::size_t item, std::string_view bytes) {
    total_ += bytes.size();
    if (total_ > most_) return tl::unexpected(too_large(request_.asked_uri, most_));
    if (item >= most_items) return fail(errc::broken_protocol, "it sent more than " + std::to_string(most_items) + " contents");
    if (monotonic_clock::now() > request_.deadline) return tl::unexpected(late(name_));
    while (spools_.size() <= item) spools_.emplace_back();
    return spools_[item].append(bytes);
  }
  /// The content of one item; empty if none arrived.
  [[nodiscard]] result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> content(std::size_t item) {
    while (spools_.size() <= item) spools_.emplace_back();
    return spools_[item].take();
  }

 private:
  const read_request& request_;
  const std::uint64_t most_;
  const std::string name_;
  std::uint64_t total_ = 0;
  std::vector<disk::spool> spools_;
};

}  // namespace

content mcp_provider::content_of(const read_item& from, const std::string& theirs) const {
  content made;
  if (!from.uri.empty() && from.uri != theirs) {
    // If its URI cannot be mapped, the content gets the requested URI.
    if (auto uri = upstream_.names().ours(from.uri)) made.uri = std::move(*uri);
  }
  made.name = clean_shown(from.name, longest_line, upstream_.options().redact);
  made.title = clean_shown(from.title, longest_line, upstream_.options().redact);
  made.mimeType = clean_media_type(from.mimeType);
  made.form = from.is_text ? content_form::text : content_form::blob;
  return made;
}

bool mcp_provider::is_excluded(const read_item& from, const std::string& theirs) const {
  // The server may spell the requested URI in another way, such as with a slash at its end.
  const auto spelled = [](std::string uri) {
    while (uri.ends_with('/')) uri.pop_back();
    return canonical_uri(uri).value_or(uri);
  };
  if (from.uri.empty() || from.uri == theirs || spelled(from.uri) == spelled(theirs)) return false;
  return !upstream_.which().reason_against(from.uri).empty();
}

result<reading> mcp_provider::read(const read_request& request) {
  HONDANA_TRY(const auto at, find(request, request.uri));
  const bool asks_for_news = request.if_version && at.with->server().has_versions;
  auto made = asks_for_news ? read_if_changed(at, request) : read_through(at, request);
  if (made) upstream_.succeeded();
  // Callers with an access filter must not distinguish missing from hidden resources, and `fetch_directly` would give them a
  // way around the filter.
  if (!made && request.who.view && made.error().code == errc::fetch_directly) {
    return fail(errc::resource_not_found, "Resource not found", std::move(made.error().private_text));
  }
  return made;
}

result<reading> mcp_provider::read_if_changed(const place& at, const read_request& request) {
  auto got = at.with->read_if_changed(at.theirs, *request.if_version, at.how);
  // The content has changed, and is too large for memory.
  if (!got && got.error().code == errc::response_too_large) return read_through(at, request);
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  reading made;
  made.ttl = got->ttl;
  if (got->is_not_modified) {
    made.version = *request.if_version;
    return made;
  }
  const auto most = std::min(request.max_bytes, upstream_.options().max_read);
  std::uint64_t total = 0;
  for (auto& item : got->items) {
    if (is_excluded(item, at.theirs)) continue;
    total += item.bytes.size();
    if (total > most) return tl::unexpected(too_large(request.asked_uri, most));
    auto one = content_of(item, at.theirs);
    one.data = std::make_shared<const std::string>(std::move(item.bytes));
    made.contents.push_back(std::move(one));
  }
  if (made.contents.empty()) return fail(errc::resource_not_found, "Resource not found", "a read without contents");
  made.version = clean(got->items.front().version, longest_word);
  return made;
}

result<reading> mcp_provider::read_through(const place& at, const read_request& request) {
  receiver into(request, std::min(request.max_bytes, upstream_.options().max_read), name());
  std::optional<failure> mine;
  const auto got = at.with->read_to(
      at.theirs,
      [&](std::size_t item, std::string_view bytes) {
        upstream_.heard();
        auto taken = into.take(item, bytes);
        if (!taken) mine = taken.error();
        return taken;
      },
      at.how);
  if (!got && mine) return tl::unexpected(std::move(*mine));
  // The client enforces the mount's limit, but its error does not name the resource.
  if (!got && got.error().code == errc::response_too_large && !got.error().answer)
    return tl::unexpected(too_large(request.asked_uri, upstream_.options().max_read));
  if (!got) return tl::unexpected(ended(got.error(), at.theirs));
  if (got->items.empty()) return fail(errc::resource_not_found, "Resource not found", "a read without contents");
  if (got->items.size() > most_items)
    return fail(errc::broken_protocol,
                "The mounted server \"" + name() + "\" sent more than " + std::to_string(most_items) + " contents.");
  reading made;
  made.ttl = got->ttl;
  made.version = clean(got->items.front().version, longest_word);
  for (std::size_t item = 0; item < got->items.size(); ++item) {
    if (is_excluded(got->items[item], at.theirs)) continue;
    auto one = content_of(got->items[item], at.theirs);
    HONDANA_TRY(auto data, into.content(item));
    one.data = std::move(data);
    made.contents.push_back(std::move(one));
  }
  if (made.contents.empty()) return fail(errc::resource_not_found, "Resource not found", "all contents of a read are excluded");
  return made;
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
  for (std::string_view rest = paths; !rest.empty();) {
    const auto colon = rest.find(':');
    const auto candidate = std::string(rest.substr(0, colon)) + '/' + name;
    if (candidate.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return {};
}

bool has_environment_proxy() {
  constexpr std::array names{"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::any_of(names.begin(), names.end(), [](const char* name) { return environment_variable(name).has_value(); });
}

/// Hides from callers where a mounted server is, and which account it requires. The log has the details.
class discreet_tokens final : public token_source {
 public:
  explicit discreet_tokens(std::shared_ptr<token_source> of) : of_(std::move(of)) {}

  std::optional<std::string> token() override { return of_->token(); }
  result<void> obtain(const refused_token& why, const std::stop_token& stop) override {
    auto done = of_->obtain(why, stop);
    // The public text of these errors is not passed on anyway.
    if (done || done.error().code == errc::cancelled || done.error().code == errc::unauthorized) return done;
    auto& told = done.error();
    told.private_text = told.public_text + (told.private_text.empty() ? "" : " (" + told.private_text + ')');
    told.public_text = refuses_us;
    return done;
  }

 private:
  const std::shared_ptr<token_source> of_;
};

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto settings, read_settings(from));
  settings.log = log;
  if (auto* http = std::get_if<http_target>(&settings.target)) {
    auto tokens = credentials::stored_log_in(
        *http, credentials::make_store(),
        "log in with 'hondana login --on " + settings.name + "' and this server's --config, as the user that runs it", log);
    if (tokens) http->tokens = std::make_shared<discreet_tokens>(std::move(tokens));
  }
  return make_mcp_provider(std::move(settings));
}

hondana::needs mcp_provider::needs() const {
  hondana::needs all;
  all.folders.push_back({disk::spool::folder(), true});
  const auto& target = upstream_.options().target;
  if (const auto* child = std::get_if<child_target>(&target)) {
    if (auto path = child->command.empty() ? std::string() : program_path(child->command.front()); !path.empty())
      all.programs.push_back(std::move(path));
  } else if (const auto* http = std::get_if<http_target>(&target)) {
    for (const auto* file : {&http->authorities, &http->certificate, &http->key}) {
      if (!file->empty()) all.folders.push_back({std::filesystem::absolute(*file).string(), false});
    }
    if (!http->socket.empty()) {
      all.sockets.push_back(http->socket);
    } else {
      const auto parts = split_uri(http->url);
      std::string where(parts.authority.value_or(""));
      const auto port = where.find(':', where.find(']') == std::string::npos ? 0 : where.find(']'));
      if (port == std::string::npos) where += parts.scheme == "https" ? ":443" : ":80";
      all.sockets.push_back(std::move(where));
      // Only the mounted server knows where its authorization server is, and a proxy may be anywhere.
      if (http->tokens || (http->proxy != "none" && !http->proxy.empty()) || (http->proxy.empty() && has_environment_proxy()))
        all.sockets.emplace_back("*:*");
    }
    if (const auto file = credentials::usual_file(); http->tokens && !file.empty()) {
      all.folders.push_back({std::filesystem::path(file).parent_path().string(), true});
      const auto session = oauth_session::of(http->url, {});
      for (const auto& key : session ? credentials::key_files_for((*session)->resource()) : std::vector<std::string>())
        all.folders.push_back({std::filesystem::path(key).parent_path().string(), false});
    }
  }
  return all;
}

}  // namespace hondana::mcp

namespace hondana::inline v0 {

result<std::shared_ptr<provider>> make_mcp_provider(mount_options options) {
  HONDANA_TRY(mcp::check(options));
  return std::shared_ptr<provider>(std::make_shared<mcp::mcp_provider>(std::move(options)));
}

}  // namespace hondana::inline v0
