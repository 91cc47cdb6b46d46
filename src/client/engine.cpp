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

constexpr int max_rounds = 20;
constexpr std::size_t max_tool_bytes = 4u << 20;
constexpr std::chrono::seconds handler_timeout{5};
constexpr std::size_t max_logs = 1'000;
constexpr std::size_t max_log_bytes = 8u << 20;

std::string key_of(const client_target& target) {
  if (const auto* child = std::get_if<child_target>(&target)) {
    std::string out = "child";
    const auto add = [&out](const std::string& part) { out += ' ' + std::to_string(part.size()) + ':' + part; };
    add(child->working_directory.value_or(std::string()));
    for (const auto& argument : child->command) add(argument);
    for (const auto& [name, text] : child->environment) {
      add(name);
      add(text);
    }
    return out;
  }
  if (const auto* http = std::get_if<http_target>(&target))
    return "http " + http->socket_path.value_or(std::string()) + ' ' + http->url;
  return "memory " + std::to_string(reinterpret_cast<std::uintptr_t>(std::get<memory_target>(target).server));
}

/// Identifies this client in a shared cache: the application's identity, plus headers and certificate, which may authenticate
/// it.
std::string identity_of(const client_target& target, const client_options& options) {
  const auto* http = std::get_if<http_target>(&target);
  if (http == nullptr || (http->headers.empty() && !http->certificate_file)) return options.identity;
  const auto certificate_file = http->certificate_file.value_or(std::string());
  auto material = std::to_string(certificate_file.size()) + ':' + certificate_file;
  for (const auto& [name, text] : http->headers)
    material += std::to_string(name.size()) + ':' + name + std::to_string(text.size()) + ':' + text;
  return options.identity + '\n' + bytes::to_hex(bytes::digest_of(material));
}

std::shared_ptr<token_source> tokens_of(const client_target& target) {
  const auto* http = std::get_if<http_target>(&target);
  return http == nullptr ? nullptr : http->tokens;
}

/// Returns `options` with the rest of `total_timeout` after `elapsed`. Errors: timed_out if it is over. `method`: for the text.
result<call_options> with_remaining_total(const call_options& options, clock::duration elapsed, const std::string& method) {
  auto out = options;
  if (!out.total_timeout) return out;
  const auto total_timeout = *out.total_timeout;
  out.total_timeout = total_timeout - std::chrono::duration_cast<std::chrono::milliseconds>(elapsed);
  if (out.total_timeout->count() > 0) return out;
  return fail(errc::timed_out, "the server did not answer " + method + " within " + std::to_string(total_timeout.count()) +
                                   " ms; raise the time limit");
}

/// Removes tools whose `x-mcp-header` is invalid, because they cannot be called over HTTP. Passes the tool and the reason to
/// `log`.
void drop_unusable(std::vector<tool>& tools, const std::function<void(const std::string&)>& log) {
  std::erase_if(tools, [&log](const tool& entry) {
    const auto mirrored = handlers::mirrored_arguments(entry.input_schema);
    if (mirrored) return false;
    log("the tool \"" + entry.name.substr(0, 200) + "\" is left out: " + mirrored.error().public_text);
    return true;
  });
}

}  // namespace

engine::engine(client_target target, client_options options, channel_maker maker)
    : options_(std::move(options)),
      server_key_(key_of(target)),
      identity_(identity_of(target, options_)),
      tokens_(tokens_of(target)),
      cache_(options_.cache ? options_.cache : std::make_shared<client_cache>(options_.cache_bytes)),
      connection_(std::move(target), options_, *this, std::move(maker)),
      watches_(*this),
      callback_pool_("the client's handlers", 1, 100'000),
      input_queue_(options_.handlers, options_.input_timeout) {}

engine::~engine() { close(); }

result<void> engine::open(const call_options& options) {
  HONDANA_TRY(ensure_open(options));
  return {};
}

void engine::close() {
  // End all calls first. Application callbacks that this function waits for may be blocked in one.
  if (!closing_.request_stop()) return;
  watches_.stop_notifications();
  connection_.close(std::chrono::milliseconds(5'000));
  watches_.close();
  const bool is_handler = callback_thread_.load() == std::this_thread::get_id();
  callback_pool_.close(executor::clock::now() + (is_handler ? std::chrono::seconds(0) : handler_timeout));
  input_queue_.close();
}

void engine::log_line(const std::string& line) {
  if (options_.log) options_.log(asking::to_single_line(line));
}

result<void> engine::schedule(std::function<void()> job) {
  const auto tracked_job = [this, job = std::move(job)] {
    callback_thread_ = std::this_thread::get_id();
    job();
  };
  return callback_pool_.submit(tracked_job, executor::clock::time_point::max());
}

result<server_description> engine::require(bool server_description::* feature, std::string_view name,
                                           const call_options& options) {
  HONDANA_TRY(ensure_open(options));
  auto known = connection_.server();
  if (!(known.*feature))
    return fail(errc::unsupported, "the server " +
                                       (known.name.empty() ? std::string() : '"' + known.name.substr(0, 200) + "\" ") +
                                       "does not declare support for " + std::string(name));
  return known;
}

std::string engine::cache_server_key() const { return server_key_ + ' ' + connection_.server().revision; }

client_cache::store::request_key engine::cache_key(const asking::request& request) const {
  auto identity = identity_;
  // The owner of a token is not known. Another token may belong to another user, so it is part of the identity.
  if (const auto token = tokens_ ? tokens_->token() : std::nullopt; token && !token->empty())
    identity += '\n' + bytes::to_hex(bytes::digest_of(*token));
  return {cache_server_key(), std::move(identity), request.method, request.params, request.target};
}

result<call_outcome> engine::call(client_request request, const call_options& options) {
  const input_queue::wait_guard guard(input_queue_);
  auto& store = cache_->backend();
  if (request.is_cacheable && !options.bypass_cache) {
    if (const auto cached = store.find(cache_key(request.message))) {
      auto parsed = json::document::parse(*cached->first);
      if (parsed) {
        call_outcome out;
        out.response.document = std::move(*parsed);
        out.response.result = out.response.document.root();
        out.response.bytes = cached->first->size();
        out.freshness.ttl = cached->second;
        out.is_from_cache = true;
        return out;
      }
    }
  }
  const auto generation = store.generation();
  const auto initial_identity = request.is_cacheable ? cache_key(request.message).identity : std::string();
  const auto first_params = request.message.params;
  const auto start = clock::now();
  clock::duration input_time{};  // that answering questions took, which does not count
  for (int round = 0;; ++round) {
    HONDANA_TRY(const auto round_options,
                with_remaining_total(options, clock::now() - start - input_time, request.message.method));
    HONDANA_TRY(auto response, send_with_retries(request, round_options));
    call_outcome out{std::move(response), {}, false};
    const auto result = out.result();
    const auto kind = asking::find_result_kind(result);
    if (kind == asking::result_kind::complete) {
      out.freshness = asking::parse_freshness(result);
      if (request.is_cacheable && round == 0 && out.freshness.ttl > std::chrono::milliseconds(0)) {
        // If the token changed during the call, it is unknown which identity the answer belongs to.
        if (const auto key = cache_key(request.message); key.identity == initial_identity)
          store.insert(key, out.response.result.to_json(), out.freshness, generation);
      }
      return out;
    }
    if (kind == asking::result_kind::unknown || !request.message.allows_input_requests)
      return fail(errc::protocol_error,
                  "the server answered " + request.message.method + " with a result of type \"" +
                      asking::text_member(result, "resultType").substr(0, 100) + "\", which " +
                      (kind == asking::result_kind::unknown ? "this client does not know" : "is not allowed there"));
    if (round == max_rounds)
      return fail(errc::server_error, "the server asked for input " + std::to_string(max_rounds) +
                                          " times and still does not answer " + request.message.method);
    const auto asked_at = clock::now();
    HONDANA_TRY(auto input, collect_input(result, options));
    input_time += clock::now() - asked_at;
    request.message.params = first_params;
    if (!input.empty()) request.message.params += (first_params.empty() ? "" : ",") + input;
  }
}

result<asking::negotiated_protocol> engine::ensure_open(const call_options& options) {
  return call_with_retries(options, options_.call_timeout, closing_.get_token(),
                           [this](const call_options& attempt_options) { return connection_.ensure_open(attempt_options); });
}

result<rpc_response> engine::send_with_retries(const client_request& request, const call_options& options) {
  return call_with_retries(options, options_.call_timeout, closing_.get_token(),
                           [&](const call_options& attempt_options) { return send_once(request, attempt_options); });
}

result<rpc_response> engine::send_once(const client_request& request, const call_options& options) {
  const auto start = clock::now();
  for (bool is_again = false;; is_again = true) {
    HONDANA_TRY(const auto protocol, connection_.ensure_open(options));
    HONDANA_TRY(const auto remaining_options, with_remaining_total(options, clock::now() - start, request.message.method));
    auto& peer = connection_.peer();
    const auto id = peer.next_id();
    outgoing_request out{.method = request.message.method,
                         .target = request.message.target,
                         .headers = asking::headers_of(request.message, protocol),
                         .content = request.content};
    out.headers.insert(out.headers.end(), request.headers.begin(), request.headers.end());
    out.notifies_cancellation = !protocol.is_modern || !peer.current_channel()->has_exchanges();
    out.timeout = options_.call_timeout;
    auto response = peer.send_request(
        id,
        asking::encode_request(request.message, id, protocol, options_, static_cast<bool>(options.on_progress), options.trace),
        out, remaining_options);
    if (response || is_again || !response.error().server_error) return response;
    const auto& error = response.error();
    // Reconnects once if the session ended, or if the server rejects the revision.
    if (!protocol.is_modern && error.server_error->http_status == 404) {
      connection_.mark_lost(false);
    } else if (protocol.is_modern && asking::is_unsupported_revision(error)) {
      connection_.mark_lost(true);
    } else {
      return response;
    }
  }
}

result<std::string> engine::collect_input(const json::object& result, const call_options& options) {
  const auto input = asking::parse_input_requirement(result);
  if (!input) return tl::unexpected(input.error());
  std::vector<std::pair<std::string, std::string>> responses;
  for (const auto& question : input->requests) {
    HONDANA_TRY(const auto reply,
                input_queue_.execute({question.method, question.params, 0, shared_from_this()}, options.stop));
    HONDANA_TRY(auto response, asking::response_to(question, reply));
    responses.emplace_back(question.key, std::move(response));
  }
  return asking::encode_responses(*input, responses);
}

void engine::on_request(const rpc::request& request, std::size_t bytes) {
  if (request.method == "ping") return reply_to(request.id, {"{}"});
  const auto description = connection_.server();
  if (description.is_modern) {
    log_line("the server sent a request (" + request.method.substr(0, 100) +
             "), which its protocol revision does not allow; it is ignored");
    return;
  }
  if (!input_queue_.dispatcher().has_handler(request.method))
    return reply_to(request.id,
                    asking::method_not_found_reply("this client does not support the method " + request.method.substr(0, 100)));
  value params = value::object{};
  std::string text = "{";
  json::writer writer(text);
  for (const auto& [name, member] : request.params.members()) writer.key(name).raw(member.to_json());
  if (auto parsed = value::parse(text + "}")) params = std::move(*parsed);
  const auto shared_engine = shared_from_this();
  std::shared_ptr<void> input_scope;
  if (input_dispatcher::needs_user(request.method)) {
    connection_.peer().input_began();
    input_scope = std::shared_ptr<void>(nullptr, [shared_engine](void*) { shared_engine->connection_.peer().input_ended(); });
  }
  // Request ids belong to one connection. On the next connection the same id may name another request.
  const auto is_stale = [shared_engine, generation = connection_.generation()] {
    return shared_engine->connection_.generation() != generation;
  };
  const auto on_reply = [shared_engine, id = request.id, input_scope](const asking::reply& reply) {
    shared_engine->reply_to(id, reply);
  };
  if (!input_queue_.enqueue({request.method, std::move(params), bytes, shared_engine}, is_stale, on_reply))
    reply_to(request.id, asking::failure_reply("this client already has too many requests to answer"));
}

void engine::reply_to(const rpc::request_id& id, const asking::reply& reply) {
  connection_.peer().send(asking::encode_reply(id, reply));
}

void engine::queue_log(asking::log_message message, std::size_t bytes) {
  if (!options_.on_log) return;
  const auto drop = [this] {
    if (!drops_logs_.exchange(true)) log_line("some log messages of the server are dropped: there are too many");
  };
  if (logs_ >= max_logs || log_bytes_ + bytes > max_log_bytes) return drop();
  ++logs_;
  log_bytes_ += bytes;
  const auto queued = schedule([shared_engine = shared_from_this(), pending_message = std::move(message), bytes] {
    shared_engine->log_bytes_ -= bytes;
    if (--shared_engine->logs_ == 0) shared_engine->drops_logs_ = false;
    try {
      shared_engine->options_.on_log(pending_message.level, pending_message.logger, pending_message.data);
    } catch (const std::exception& error) {
      shared_engine->log_line(std::string("the log handler failed: ") + error.what());
    }
  });
  if (queued) return;
  --logs_;
  log_bytes_ -= bytes;
  drop();
}

void engine::invalidate(const watch_event& event) {
  auto& store = cache_->backend();
  const auto server = cache_server_key();
  switch (event.kind) {
    case watch_event_kind::resource:
      return store.invalidate_resource(server, event.uri);
    case watch_event_kind::resource_list:
      return store.invalidate_lists(server, {"resources/", "skills/"});
    case watch_event_kind::prompt_list:
      return store.invalidate_lists(server, {"prompts/"});
    case watch_event_kind::tool_list: {
      store.invalidate_lists(server, {"tools/"});
      const std::lock_guard lock(tools_mutex_);
      tool_bytes_ = 0;
      return tools_.clear();
    }
    case watch_event_kind::connection_lost:
    case watch_event_kind::connection_restored:
    case watch_event_kind::subscription_rejected:
      return;
  }
}

void engine::on_notification(asking::server_notification notification, std::size_t bytes) {
  if (auto* line = std::get_if<asking::log_message>(&notification.event)) return queue_log(std::move(*line), bytes);
  if (const auto* changed = std::get_if<watch_event>(&notification.event)) invalidate(*changed);
  watches_.on_notification(notification);
}

void engine::on_subscription_end(channel::call_id id, std::optional<failure> reason) {
  watches_.on_stream_end(id, std::move(reason));
}

void engine::on_disconnect(const failure& reason) {
  connection_.mark_lost(false);
  watches_.on_disconnect(reason);
}

void engine::clear_cache() {
  const auto key = cache_server_key();
  cache_->backend().invalidate_lists(key, {"resources/", "skills/", "tools/", "prompts/"});
  cache_->backend().invalidate_resource(key, {});
  const std::lock_guard lock(tools_mutex_);
  tools_.clear();
  tool_bytes_ = 0;
}

void engine::on_interruption() {
  clear_cache();
  watches_.on_interruption();
}

bool engine::has_headers() const { return connection_.server().transport == "http" && connection_.server().is_modern; }

void engine::cache_tools(const std::vector<tool>& tools) {
  const std::lock_guard lock(tools_mutex_);
  for (const auto& entry : tools) {
    auto mirrored = handlers::mirrored_arguments(entry.input_schema);
    if (!mirrored) continue;
    auto bytes = entry.name.size() + sizeof(tool_headers::value_type);
    for (const auto& argument : *mirrored) {
      bytes += argument.header.size() + sizeof argument;
      for (const auto& step : argument.path) bytes += step.size() + sizeof(std::string);
    }
    if (tool_bytes_ + bytes > max_tool_bytes) {
      tools_.clear();
      tool_bytes_ = 0;
    }
    if (bytes > max_tool_bytes) continue;
    tool_bytes_ += bytes;
    tools_.insert_or_assign(entry.name, std::move(*mirrored));
  }
}

result<list_page<tool>> engine::tool_page(const std::optional<std::string>& cursor, const call_options& options) {
  HONDANA_TRY(require(&server_description::has_tools, "tools", options));
  HONDANA_TRY(auto response, call({.message = asking::list_tools(cursor), .is_cacheable = true}, options));
  auto out = asking::parse_tools(response.result());
  if (!out) return out;
  if (!has_headers()) return out;
  drop_unusable(out->items, [this](const std::string& line) { log_line(line); });
  cache_tools(out->items);
  return out;
}

result<engine::header_arguments> engine::find_headers(std::string_view name, bool bypass_cache, const call_options& options) {
  const auto lookup = [this, name]() -> header_arguments {
    const std::lock_guard lock(tools_mutex_);
    const auto position = tools_.find(name);
    return position == tools_.end() ? header_arguments() : position->second;
  };
  if (!bypass_cache) {
    if (auto cached = lookup()) return cached;
  }
  const deadline_timer deadline(options.timeout.value_or(options_.call_timeout));
  auto list_options = options;
  list_options.on_progress = {};
  list_options.bypass_cache = bypass_cache;
  paged_range<tool> list([&](const std::optional<std::string>& cursor) -> result<list_page<tool>> {
    if (deadline.has_expired()) return fail(errc::timed_out, "the server's list of tools did not end in time");
    list_options.timeout = deadline.remaining();
    return tool_page(cursor, list_options);
  });
  for (const auto& entry : list) {
    if (!entry) return tl::unexpected(entry.error());
    if (entry->name == name) return lookup();
  }
  return header_arguments();
}

namespace {

bool is_https(std::string_view uri) {
  constexpr std::string_view scheme = "https://";
  return uri.size() > scheme.size() && ascii::starts_with_ignore_case(uri, scheme);
}

bytes::digest digest_of(const read_response& response) {
  bytes::digester digester;
  for (const auto& content : response.contents) {
    digester.update(std::to_string(content.uri.size()) + ':' + content.uri + std::to_string(content.bytes.size()) + ':');
    digester.update(content.bytes);
  }
  return digester.value();
}

}  // namespace

result<read_response> engine::read(std::string_view uri, std::string_view version, const content_writer& writer,
                                   const call_options& options) {
  if (uri.empty()) return fail(errc::invalid_argument, "the URI to read is empty");
  if (options_.fetches_https && is_https(uri)) return fetch(std::string(uri), writer, options);
  const auto start = clock::now();
  HONDANA_TRY(require(&server_description::has_resources, "resources", options));

  const bool has_version = !version.empty() && server().has_versions;
  client_request request{.message = asking::read(uri, has_version ? version : std::string_view())};
  request.is_cacheable = !has_version && !writer;
  std::vector<std::uint64_t> sizes;
  if (writer) {
    request.content = [&sizes, &writer](std::size_t index, std::string_view piece) -> result<void> {
      if (sizes.size() <= index) sizes.resize(index + 1);
      sizes[index] += piece.size();
      return writer(index, piece);
    };
  }
  HONDANA_TRY(const auto remaining_options, with_remaining_total(options, clock::now() - start, request.message.method));
  auto outcome = call(std::move(request), remaining_options);
  if (!outcome) {
    if (has_version && asking::is_not_modified(outcome.error())) {
      read_response unchanged;
      unchanged.is_not_modified = true;
      return unchanged;
    }
    return tl::unexpected(std::move(outcome.error()));
  }
  auto out = asking::parse_contents(outcome->result());
  if (!out) return out;
  out->is_from_cache = outcome->is_from_cache;
  out->ttl = outcome->freshness.ttl;
  if (writer) {
    for (std::size_t i = 0; i < std::min(sizes.size(), out->contents.size()); ++i) out->contents[i].size = sizes[i];
  } else {
    watches_.record_content(std::string(uri), outbound::digest_of(*out));
  }
  return out;
}

result<bytes::digest> engine::read_digest(const std::string& uri, const call_options& options) {
  HONDANA_TRY(const auto response, read(uri, {}, {}, options));
  return outbound::digest_of(response);
}

result<read_response> engine::fetch(const std::string& url, const content_writer& writer, const call_options& options) {
  transport::http_client::fetch_limits limits;
  limits.max_bytes = writer ? options_.max_read_bytes : options_.max_message_bytes;
  limits.timeout = options.timeout.value_or(options_.call_timeout);
  limits.total_timeout = std::min(options.total_timeout.value_or(limits.total_timeout), limits.total_timeout);
  std::stop_source stop;
  const auto end = [&stop] { stop.request_stop(); };
  const std::stop_callback by_caller(options.stop, end);
  const std::stop_callback by_client(closing_.get_token(), end);
  HONDANA_TRY(auto fetched, transport::http_client::fetch_directly(url, limits, writer, stop.get_token()));
  received_content content;
  content.uri = url;
  content.mime_type = fetched.media_type;
  content.bytes = std::move(fetched.body);
  content.size = fetched.size;
  // The bytes passed to a writer were not validated, so the media type decides.
  content.is_text =
      writer ? fetched.media_type.starts_with("text/") : json::is_utf8(content.bytes) && !json::has_nul(content.bytes);
  read_response out;
  out.contents.push_back(std::move(content));
  return out;
}

}  // namespace hondana::outbound
