/// The calls of a client: cache, retries, answers to questions of the server, and reads of resources.
#include "client/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/bytes/digest.hpp"
#include "base/json/utf8.hpp"
#include "base/json/writer.hpp"
#include "base/value/value.hpp"
#include "client/retry.hpp"
#include "protocol/wire/asking/requests.hpp"
#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "server/handlers/mirrored_arguments.hpp"
#include "transport/http_client/direct_fetch.hpp"

namespace hondana::outbound {
namespace {

constexpr int most_rounds = 20;
constexpr std::size_t most_tool_bytes = 4u << 20;
constexpr std::chrono::seconds time_of_handlers{5};
constexpr std::size_t most_logs = 1'000;
constexpr std::size_t most_log_bytes = 8u << 20;

std::string key_of(const client_target& target) {
  if (const auto* child = std::get_if<child_target>(&target)) {
    std::string out = "child";
    const auto add = [&out](const std::string& part) { out += ' ' + std::to_string(part.size()) + ':' + part; };
    add(child->folder);
    for (const auto& one : child->command) add(one);
    for (const auto& [name, text] : child->environment) {
      add(name);
      add(text);
    }
    return out;
  }
  if (const auto* http = std::get_if<http_target>(&target)) return "http " + http->socket + ' ' + http->url;
  return "memory " + std::to_string(reinterpret_cast<std::uintptr_t>(std::get<memory_target>(target).server));
}

/// Identifies this client in a shared cache: the application's identity, plus headers and certificate, which may authenticate
/// it.
std::string identity_of(const client_target& target, const client_options& options) {
  const auto* http = std::get_if<http_target>(&target);
  if (http == nullptr || (http->headers.empty() && http->certificate.empty())) return options.identity;
  auto all = std::to_string(http->certificate.size()) + ':' + http->certificate;
  for (const auto& [name, text] : http->headers)
    all += std::to_string(name.size()) + ':' + name + std::to_string(text.size()) + ':' + text;
  return options.identity + '\n' + bytes::to_hex(bytes::digest_of(all));
}

std::shared_ptr<token_source> tokens_of(const client_target& target) {
  const auto* http = std::get_if<http_target>(&target);
  return http == nullptr ? nullptr : http->tokens;
}

/// Removes tools whose `x-mcp-header` is invalid, because they cannot be called over HTTP. Passes the tool and the reason to
/// `say`.
void drop_unusable(std::vector<tool>& tools, const std::function<void(const std::string&)>& say) {
  std::erase_if(tools, [&say](const tool& one) {
    const auto mirrored = handlers::mirrored_arguments(one.inputSchema);
    if (mirrored) return false;
    say("the tool \"" + one.name.substr(0, 200) + "\" is left out: " + mirrored.error().public_text);
    return true;
  });
}

}  // namespace

engine::engine(client_target target, client_options options, channel_maker make)
    : options_(std::move(options)),
      server_key_(key_of(target)),
      identity_(identity_of(target, options_)),
      tokens_(tokens_of(target)),
      cache_(options_.cache ? options_.cache : std::make_shared<client_cache>(options_.cache_bytes)),
      link_(std::move(target), options_, *this, std::move(make)),
      watches_(*this),
      telling_("the client's handlers", 1, 100'000),
      asking_(options_.handlers, options_.input_time) {}

engine::~engine() { close(); }

result<void> engine::open(const call_options& how) {
  HONDANA_TRY(ready(how));
  return {};
}

void engine::close() {
  // End all calls first. Application callbacks that this function waits for may be blocked in one.
  if (!closing_.request_stop()) return;
  watches_.retire();
  link_.close(std::chrono::milliseconds(5'000));
  watches_.close();
  const bool is_handler = teller_.load() == std::this_thread::get_id();
  telling_.close(executor::clock::now() + (is_handler ? std::chrono::seconds(0) : time_of_handlers));
  asking_.close();
}

void engine::noticed(const std::string& line) {
  if (options_.log) options_.log(asking::one_line(line));
}

result<void> engine::tell_later(std::function<void()> job) {
  const auto noted = [this, job = std::move(job)] {
    teller_ = std::this_thread::get_id();
    job();
  };
  return telling_.submit(noted, executor::clock::time_point::max());
}

result<server_description> engine::need(bool server_description::* what, std::string_view name, const call_options& how) {
  HONDANA_TRY(ready(how));
  auto known = link_.server();
  if (!(known.*what))
    return fail(errc::unsupported, "the server " +
                                       (known.name.empty() ? std::string() : '"' + known.name.substr(0, 200) + "\" ") +
                                       "does not declare support for " + std::string(name));
  return known;
}

std::string engine::server_in_cache() const { return server_key_ + ' ' + link_.server().revision; }

client_cache::store::question engine::question_of(const asking::request& what) const {
  auto identity = identity_;
  // The owner of a token is not known. Another token may belong to another user, so it is part of the identity.
  if (const auto token = tokens_ ? tokens_->token() : std::nullopt; token && !token->empty())
    identity += '\n' + bytes::to_hex(bytes::digest_of(*token));
  return {server_in_cache(), std::move(identity), what.method, what.params, what.target};
}

result<outcome> engine::call(request what, const call_options& how) {
  const asking_lane::waiting noted(asking_);
  auto& kept = cache_->entries();
  if (what.is_kept && !how.afresh) {
    if (const auto found = kept.find(question_of(what.asked))) {
      auto parsed = json::document::parse(*found->first);
      if (parsed) {
        outcome out;
        out.got.document = std::move(*parsed);
        out.got.result = out.got.document.root();
        out.got.bytes = found->first->size();
        out.fresh.ttl = found->second;
        out.is_from_cache = true;
        return out;
      }
    }
  }
  const auto since = kept.mark();
  const auto asked_as = what.is_kept ? question_of(what.asked).identity : std::string();
  const auto first_params = what.asked.params;
  for (int round = 0;; ++round) {
    HONDANA_TRY(auto got, answered(what, how));
    outcome out{std::move(got), {}, false};
    const auto result = out.result();
    const auto kind = asking::kind_of_result(result);
    if (kind == asking::result_kind::complete) {
      out.fresh = asking::freshness_of(result);
      if (what.is_kept && round == 0 && out.fresh.ttl > std::chrono::milliseconds(0)) {
        // If the token changed during the call, it is unknown which identity the answer belongs to.
        if (const auto question = question_of(what.asked); question.identity == asked_as)
          kept.keep(question, out.got.result.to_json(), out.fresh, since);
      }
      return out;
    }
    if (kind == asking::result_kind::unknown || !what.asked.may_be_asked)
      return fail(errc::broken_protocol,
                  "the server answered " + what.asked.method + " with a result of type \"" +
                      asking::text_member(result, "resultType").substr(0, 100) + "\", which " +
                      (kind == asking::result_kind::unknown ? "this client does not know" : "is not allowed there"));
    if (round == most_rounds)
      return fail(errc::refused, "the server asked for input " + std::to_string(most_rounds) +
                                     " times and still does not answer " + what.asked.method);
    HONDANA_TRY(auto more, answered_questions(result, how));
    what.asked.params = first_params;
    if (!more.empty()) what.asked.params += (first_params.empty() ? "" : ",") + more;
  }
}

result<asking::speech> engine::ready(const call_options& how) {
  return patiently(how, options_.call_time, closing_.get_token(), [this](const call_options& now) { return link_.ready(now); });
}

result<answer> engine::answered(const request& what, const call_options& how) {
  return patiently(how, options_.call_time, closing_.get_token(), [&](const call_options& now) { return once(what, now); });
}

result<answer> engine::once(const request& what, const call_options& how) {
  for (bool is_again = false;; is_again = true) {
    HONDANA_TRY(const auto in, link_.ready(how));
    auto& talk = link_.talk();
    const auto id = talk.next_id();
    sending out{.method = what.asked.method,
                .target = what.asked.target,
                .headers = asking::headers_of(what.asked, in),
                .content = what.content};
    out.headers.insert(out.headers.end(), what.headers.begin(), what.headers.end());
    out.tells_cancellation = !in.is_modern || !talk.through()->has_exchanges();
    out.time = options_.call_time;
    auto got = talk.ask(id, asking::spelled(what.asked, id, in, options_, static_cast<bool>(how.report), how.trace), out, how);
    if (got || is_again || !got.error().answer) return got;
    const auto& why = got.error();
    // Reconnects once if the session ended, or if the server rejects the revision.
    if (!in.is_modern && why.answer->http_status == 404) {
      link_.lost(false);
    } else if (in.is_modern && asking::wants_other_revision(why)) {
      link_.lost(true);
    } else {
      return got;
    }
  }
}

result<std::string> engine::answered_questions(const json::object& result, const call_options& how) {
  const auto wanted = asking::input_wanted_by(result);
  if (!wanted) return tl::unexpected(wanted.error());
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& one : wanted->questions) {
    HONDANA_TRY(const auto given, asking_.answer({one.method, one.params, 0, shared_from_this()}, how.stop));
    HONDANA_TRY(auto response, asking::response_to(one, given));
    all.emplace_back(one.key, std::move(response));
  }
  return asking::responses(*wanted, all);
}

void engine::asked(const rpc::request& what, std::size_t bytes) {
  if (what.method == "ping") return reply_to(what.id, {"{}"});
  const auto in = link_.server();
  if (in.is_modern) {
    noticed("the server sent a request (" + what.method.substr(0, 100) +
            "), which its protocol revision does not allow; it is ignored");
    return;
  }
  if (!asking_.who().has_handler(what.method))
    return reply_to(what.id, asking::unanswered("this client does not support the method " + what.method.substr(0, 100)));
  value params = value::object{};
  std::string text = "{";
  json::writer to(text);
  for (const auto& [name, one] : what.params.members()) to.key(name).raw(one.to_json());
  if (auto parsed = value::parse(text + "}")) params = std::move(*parsed);
  const auto self = shared_from_this();
  std::shared_ptr<void> counted;
  if (questions::takes_time(what.method)) {
    link_.talk().question_began();
    counted = std::shared_ptr<void>(nullptr, [self](void*) { self->link_.talk().question_ended(); });
  }
  // Request ids belong to one connection. On the next connection the same id may name another request.
  const auto is_stale = [self, asked_in = link_.connection()] { return self->link_.connection() != asked_in; };
  const auto into = [self, id = what.id, counted](const asking::reply& given) { self->reply_to(id, given); };
  if (!asking_.ask({what.method, std::move(params), bytes, self}, is_stale, into))
    reply_to(what.id, asking::failed("this client already has too many requests to answer"));
}

void engine::reply_to(const rpc::request_id& id, const asking::reply& with) { link_.talk().tell(asking::spelled(id, with)); }

void engine::hear_log(asking::log_message what, std::size_t bytes) {
  if (!options_.on_log) return;
  const auto drop = [this] {
    if (!drops_logs_.exchange(true)) noticed("some log messages of the server are dropped: there are too many");
  };
  if (logs_ >= most_logs || log_bytes_ + bytes > most_log_bytes) return drop();
  ++logs_;
  log_bytes_ += bytes;
  const auto queued = tell_later([self = shared_from_this(), what = std::move(what), bytes] {
    self->log_bytes_ -= bytes;
    if (--self->logs_ == 0) self->drops_logs_ = false;
    try {
      self->options_.on_log(what.level, what.logger, what.data);
    } catch (const std::exception& error) {
      self->noticed(std::string("the log handler failed: ") + error.what());
    }
  });
  if (queued) return;
  --logs_;
  log_bytes_ -= bytes;
  drop();
}

void engine::forget(const change& what) {
  auto& kept = cache_->entries();
  const auto from = server_in_cache();
  switch (what.kind) {
    case change_kind::resource:
      return kept.forget_resource(from, what.uri);
    case change_kind::resource_list:
      return kept.forget_lists(from, {"resources/", "skills/"});
    case change_kind::prompt_list:
      return kept.forget_lists(from, {"prompts/"});
    case change_kind::tool_list: {
      kept.forget_lists(from, {"tools/"});
      const std::lock_guard lock(tools_mutex_);
      tool_bytes_ = 0;
      return tools_.clear();
    }
    case change_kind::connection_lost:
    case change_kind::connection_back:
    case change_kind::refused:
      return;
  }
}

void engine::told(asking::news what, std::size_t bytes) {
  if (auto* line = std::get_if<asking::log_message>(&what.what)) return hear_log(std::move(*line), bytes);
  if (const auto* changed = std::get_if<change>(&what.what)) forget(*changed);
  watches_.told(what);
}

void engine::subscription_ended(channel::call_id id, std::optional<failure> why) { watches_.ended(id, std::move(why)); }

void engine::lost(const failure& why) {
  link_.lost(false);
  watches_.lost(why);
}

void engine::forget_everything() {
  const auto key = server_in_cache();
  cache_->entries().forget_lists(key, {"resources/", "skills/", "tools/", "prompts/"});
  cache_->entries().forget_resource(key, {});
  const std::lock_guard lock(tools_mutex_);
  tools_.clear();
  tool_bytes_ = 0;
}

void engine::interrupted() {
  forget_everything();
  watches_.interrupted();
}

bool engine::has_headers() const { return link_.server().transport == "http" && link_.server().is_modern; }

void engine::remember_tools(const std::vector<tool>& all) {
  const std::lock_guard lock(tools_mutex_);
  for (const auto& one : all) {
    auto mirrored = handlers::mirrored_arguments(one.inputSchema);
    if (!mirrored) continue;
    auto bytes = one.name.size() + sizeof(tool_headers::value_type);
    for (const auto& argument : *mirrored) {
      bytes += argument.header.size() + sizeof argument;
      for (const auto& step : argument.path) bytes += step.size() + sizeof(std::string);
    }
    if (tool_bytes_ + bytes > most_tool_bytes) {
      tools_.clear();
      tool_bytes_ = 0;
    }
    if (bytes > most_tool_bytes) continue;
    tool_bytes_ += bytes;
    tools_.insert_or_assign(one.name, std::move(*mirrored));
  }
}

result<page<tool>> engine::tool_page(const std::optional<std::string>& cursor, const call_options& how) {
  HONDANA_TRY(need(&server_description::has_tools, "tools", how));
  HONDANA_TRY(auto got, call({.asked = asking::list_tools(cursor), .is_kept = true}, how));
  auto out = asking::tools_of(got.result());
  if (!out) return out;
  if (!has_headers()) return out;
  drop_unusable(out->items, [this](const std::string& line) { noticed(line); });
  remember_tools(out->items);
  return out;
}

result<engine::headers_of_tool> engine::find_headers(std::string_view name, bool afresh, const call_options& how) {
  const auto known = [this, name]() -> headers_of_tool {
    const std::lock_guard lock(tools_mutex_);
    const auto found = tools_.find(name);
    return found == tools_.end() ? headers_of_tool() : found->second;
  };
  if (!afresh) {
    if (auto found = known()) return found;
  }
  const time_left left(how.time.value_or(options_.call_time));
  auto asking = how;
  asking.report = {};
  asking.afresh = afresh;
  paged<tool> all([&](const std::optional<std::string>& cursor) -> result<page<tool>> {
    if (left.is_over()) return fail(errc::timed_out, "the server's list of tools did not end in time");
    asking.time = left.time();
    return tool_page(cursor, asking);
  });
  for (const auto& one : all) {
    if (!one) return tl::unexpected(one.error());
    if (one->name == name) return known();
  }
  return headers_of_tool();
}

namespace {

bool is_https(std::string_view uri) {
  constexpr std::string_view scheme = "https://";
  return uri.size() > scheme.size() && ascii::begins_with(uri, scheme);
}

bytes::digest digest_of(const read_answer& what) {
  bytes::digester all;
  for (const auto& one : what.items) {
    all.feed(std::to_string(one.uri.size()) + ':' + one.uri + std::to_string(one.bytes.size()) + ':');
    all.feed(one.bytes);
  }
  return all.value();
}

}  // namespace

result<read_answer> engine::read(std::string_view uri, std::string_view version, const content_writer& into,
                                 const call_options& how) {
  if (uri.empty()) return fail(errc::invalid_argument, "the URI to read is empty");
  if (options_.fetches_https && is_https(uri)) return fetch(std::string(uri), into, how);
  HONDANA_TRY(need(&server_description::has_resources, "resources", how));

  const bool has_version = !version.empty() && server().has_versions;
  request what{.asked = asking::read(uri, has_version ? version : std::string_view())};
  what.is_kept = !has_version && !into;
  std::vector<std::uint64_t> sizes;
  if (into) {
    what.content = [&sizes, &into](std::size_t item, std::string_view piece) -> result<void> {
      if (sizes.size() <= item) sizes.resize(item + 1);
      sizes[item] += piece.size();
      return into(item, piece);
    };
  }
  auto got = call(std::move(what), how);
  if (!got) {
    if (has_version && asking::is_not_modified(got.error())) {
      read_answer same;
      same.is_not_modified = true;
      return same;
    }
    return tl::unexpected(std::move(got.error()));
  }
  auto out = asking::contents_of(got->result());
  if (!out) return out;
  out->is_from_cache = got->is_from_cache;
  out->ttl = got->fresh.ttl;
  if (into) {
    for (std::size_t at = 0; at < std::min(sizes.size(), out->items.size()); ++at) out->items[at].size = sizes[at];
  } else {
    watches_.seen(std::string(uri), outbound::digest_of(*out));
  }
  return out;
}

result<bytes::digest> engine::digest_of(const std::string& uri, const call_options& how) {
  HONDANA_TRY(const auto got, read(uri, {}, {}, how));
  return outbound::digest_of(got);
}

result<read_answer> engine::fetch(const std::string& url, const content_writer& into, const call_options& how) {
  transport::http_client::fetch_limits most;
  most.bytes = into ? options_.max_read_bytes : options_.max_message_bytes;
  most.time = how.time.value_or(options_.call_time);
  std::stop_source either;
  const auto end = [&either] { either.request_stop(); };
  const std::stop_callback by_caller(how.stop, end);
  const std::stop_callback by_client(closing_.get_token(), end);
  HONDANA_TRY(auto got, transport::http_client::fetch_directly(url, most, into, either.get_token()));
  read_item item;
  item.uri = url;
  item.mimeType = got.media_type;
  item.bytes = std::move(got.bytes);
  item.size = got.size;
  // The bytes passed to a writer were not validated, so the media type decides.
  item.is_text = into ? got.media_type.starts_with("text/") : json::is_utf8(item.bytes) && !json::has_nul(item.bytes);
  read_answer out;
  out.items.push_back(std::move(item));
  return out;
}

}  // namespace hondana::outbound
