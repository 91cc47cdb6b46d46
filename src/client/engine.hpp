/// The calls of a client: cache, retries, answers to questions of the server, and reads of resources.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "base/executor/thread_pool.hpp"
#include "client/response_cache.hpp"
#include "client/retry.hpp"
#include "client/rpc_peer.hpp"
#include "client/server_connection.hpp"
#include "client/server_requests.hpp"
#include "client/watch_registry.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/asking/requests.hpp"
#include "protocol/wire/asking/results.hpp"

namespace hondana::outbound {

namespace asking = wire::asking;

/// A request before it has an id.
struct client_request {
  asking::request message;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< In addition to those of every request.
  channel::content_sink content{};  ///< Receives contents as they arrive. Empty: they are in the result.
  bool is_cacheable = false;        ///< The answer may come from the cache, and be cached.
};

/// The result of a call.
struct call_outcome {
  rpc_response response;
  asking::freshness freshness;
  bool is_from_cache = false;

  [[nodiscard]] json::object result() const { return *response.result.as_object("result"); }
};

/// Implements the calls of `client`. Threads: any. Must be owned by a `shared_ptr`, which its jobs and callbacks share until
/// `close`.
class engine : public peer_listener, public std::enable_shared_from_this<engine> {
 public:
  engine(client_target target, client_options options, channel_maker maker = make_channel);
  ~engine() override;

  /// Opens the connection. Errors: those of `client::connect`.
  result<void> open(const call_options& options = {});
  /// Ends all calls, watches and handlers. Afterwards all calls fail as cancelled.
  void close();

  /// Returns the result of one request, from the cache or the server. Retries, and answers the server's questions. Errors:
  /// those of `client`.
  [[nodiscard]] result<call_outcome> call(client_request request, const call_options& options);
  /// Checks that the server declares `feature`, and returns its description; connects first if necessary. `name`: of the
  /// feature, for the error. Errors: unsupported; those of `client::connect`.
  [[nodiscard]] result<server_description> require(bool server_description::* feature, std::string_view name,
                                                   const call_options& options);

  [[nodiscard]] const client_options& options() const noexcept { return options_; }
  [[nodiscard]] server_description server() const { return connection_.server(); }
  [[nodiscard]] server_connection& connection() noexcept { return connection_; }
  [[nodiscard]] watch_registry& watches() noexcept { return watches_; }
  /// Queues `job` on the thread that calls `client_options::on_log` and watch handlers. Errors: the queue is full or closed.
  result<void> schedule(std::function<void()> job);
  /// Removes all answers of this server from the cache. Called when change notifications may have been missed.
  void clear_cache();
  /// Writes a line to the log, if the application set one.
  void log_line(const std::string& line) override;

  /// Reads one resource. `version`: the version that the caller has; empty: none. `writer`: receives the content; empty: the
  /// response has it.
  [[nodiscard]] result<read_response> read(std::string_view uri, std::string_view version, const content_writer& writer,
                                           const call_options& options);
  /// Reads one resource, and returns the digest of its contents. Errors: those of `read`.
  [[nodiscard]] result<bytes::digest> read_digest(const std::string& uri, const call_options& options);

  /// The arguments of a tool that are also sent as headers. nullopt: the server does not list the tool.
  using header_arguments = std::optional<std::vector<model::mirrored_argument>>;
  /// Returns the header arguments of the tool `name`, as last listed. Lists the tools if this tool is unknown, or with
  /// `bypass_cache`.
  [[nodiscard]] result<header_arguments> find_headers(std::string_view name, bool bypass_cache, const call_options& options);
  /// Implements `client::tools`.
  [[nodiscard]] result<list_page<tool>> tool_page(const std::optional<std::string>& cursor, const call_options& options);
  /// Returns whether tool calls have headers for `x-mcp-header`: over HTTP, from revision 2026-07-28 on.
  [[nodiscard]] bool has_headers() const;

  void on_notification(asking::server_notification notification, std::size_t bytes) override;
  void on_request(const rpc::request& request, std::size_t bytes) override;
  void on_subscription_end(channel::call_id id, std::optional<failure> reason) override;
  void on_interruption() override;
  void on_disconnect(const failure& reason) override;

 private:
  /// Reads an `https:` resource directly from its URL.
  [[nodiscard]] result<read_response> fetch(const std::string& url, const content_writer& writer, const call_options& options);
  /// Sends a request, and retries while the server asks to retry later.
  [[nodiscard]] result<rpc_response> send_with_retries(const client_request& request, const call_options& options);
  /// Sends a request. Reconnects and sends it a second time if the session ended or the server rejects the revision.
  [[nodiscard]] result<rpc_response> send_once(const client_request& request, const call_options& options);
  /// Opens the connection with the same retries as `send_with_retries`.
  [[nodiscard]] result<asking::negotiated_protocol> ensure_open(const call_options& options);
  /// Passes the questions in `result` to the application's handlers. Returns the answers as members of the next request's
  /// params.
  [[nodiscard]] result<std::string> collect_input(const json::object& result, const call_options& options);
  void reply_to(const rpc::request_id& id, const asking::reply& reply);
  void queue_log(asking::log_message message, std::size_t bytes);
  void cache_tools(const std::vector<tool>& tools);
  /// Removes answers that a change makes stale from the cache.
  void invalidate(const watch_event& event);
  [[nodiscard]] std::string cache_server_key() const;
  [[nodiscard]] client_cache::store::request_key cache_key(const asking::request& request) const;

  const client_options options_;
  const std::string server_key_;  // identifies the server in a shared cache
  const std::string identity_;    // identifies the user in a shared cache, together with the token
  const std::shared_ptr<token_source> tokens_;
  std::shared_ptr<client_cache> cache_;
  server_connection connection_;
  watch_registry watches_;
  std::mutex tools_mutex_;
  using tool_headers = std::map<std::string, std::vector<model::mirrored_argument>, std::less<>>;
  tool_headers tools_;                     // by tool, if tool calls have headers
  std::size_t tool_bytes_ = 0;             // size of `tools_`
  std::atomic<std::size_t> logs_{0};       // queued log messages of the server
  std::atomic<std::size_t> log_bytes_{0};  // size of these
  std::atomic<bool> drops_logs_{false};    // log messages have been dropped since the queue was empty
  std::stop_source closing_;
  std::atomic<std::thread::id> callback_thread_{};  // the thread of `callback_pool_`
  executor::thread_pool callback_pool_;
  input_queue input_queue_;
};

}  // namespace hondana::outbound
