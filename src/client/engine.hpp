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
#include "client/conversation.hpp"
#include "client/link.hpp"
#include "client/response_cache.hpp"
#include "client/retry.hpp"
#include "client/server_requests.hpp"
#include "client/watches.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/asking/requests.hpp"
#include "protocol/wire/asking/results.hpp"

namespace hondana::outbound {

namespace asking = wire::asking;

/// A request before it has an id.
struct request {
  asking::request asked;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< In addition to those of every request.
  channel::content_sink content{};
  bool is_kept = false;  ///< The answer may be cached for its TTL.
};

/// A result and its origin.
struct outcome {
  answer got;
  asking::freshness fresh;
  bool is_from_cache = false;

  [[nodiscard]] json::object result() const { return *got.result.as_object("result"); }
};

/// Implements the calls of `client`. Threads: any. Jobs and callbacks in progress keep it alive; `close` ends them.
class engine : public hearer, public std::enable_shared_from_this<engine> {
 public:
  engine(client_target target, client_options options, channel_maker make = make_channel);
  ~engine() override;

  /// Opens the connection. Errors: those of `client::connect`.
  result<void> open(const call_options& how = {});
  /// Ends all calls, watches and handlers. Afterwards all calls fail as cancelled.
  void close();

  /// Sends one request: looks in the cache, retries, and answers what the server asks. Errors: those of `client`.
  [[nodiscard]] result<outcome> call(request what, const call_options& how);
  /// Checks that the server declares a capability; connects first if necessary. Errors: unsupported, naming the missing
  /// capability; those of `client::connect`.
  [[nodiscard]] result<server_description> need(bool server_description::* what, std::string_view name,
                                                const call_options& how);

  [[nodiscard]] const client_options& options() const noexcept { return options_; }
  [[nodiscard]] server_description server() const { return link_.server(); }
  [[nodiscard]] link& connection() noexcept { return link_; }
  [[nodiscard]] watches& watched() noexcept { return watches_; }
  /// Queues `job` on the thread that runs the application's change and log handlers.
  result<void> tell_later(std::function<void()> job);
  /// Clears the cache for this server, because change notifications may have been missed.
  void forget_everything();
  /// Writes a line to the log, if the application set one.
  void noticed(const std::string& line) override;

  /// Reads one resource. `version`: the version that the caller has, or empty. `into`: receives the content; may be empty.
  [[nodiscard]] result<read_answer> read(std::string_view uri, std::string_view version, const content_writer& into,
                                         const call_options& how);
  /// The digest of the current content. Errors: those of `read`.
  [[nodiscard]] result<bytes::digest> digest_of(const std::string& uri, const call_options& how);

  /// Arguments that a tool requires as headers; empty optional: the tool is not listed.
  using headers_of_tool = std::optional<std::vector<model::mirrored_argument>>;
  /// The headers from the most recent list. Lists the tools again if the tool is unknown, or with `afresh`.
  [[nodiscard]] result<headers_of_tool> find_headers(std::string_view name, bool afresh, const call_options& how);
  [[nodiscard]] result<page<tool>> tool_page(const std::optional<std::string>& cursor, const call_options& how);
  /// Whether the transport has headers, so that `x-mcp-header` applies.
  [[nodiscard]] bool has_headers() const;

  void told(asking::news what, std::size_t bytes) override;
  void asked(const rpc::request& what, std::size_t bytes) override;
  void subscription_ended(channel::call_id id, std::optional<failure> why) override;
  void interrupted() override;
  void lost(const failure& why) override;

 private:
  [[nodiscard]] result<read_answer> fetch(const std::string& url, const content_writer& into, const call_options& how);
  /// Sends a request and retries while the server asks to retry later.
  [[nodiscard]] result<answer> answered(const request& what, const call_options& how);
  /// Sends a request. Reconnects and sends it a second time if the session ended or the server rejects the revision.
  [[nodiscard]] result<answer> once(const request& what, const call_options& how);
  /// Opens the connection with the same retries as `answered`.
  [[nodiscard]] result<asking::speech> ready(const call_options& how);
  /// Asks the application's handlers, and encodes their answers as members of the request's params.
  [[nodiscard]] result<std::string> answered_questions(const json::object& result, const call_options& how);
  void reply_to(const rpc::request_id& id, const asking::reply& with);
  void hear_log(asking::log_message what, std::size_t bytes);
  void remember_tools(const std::vector<tool>& all);
  void forget(const change& what);
  [[nodiscard]] std::string server_in_cache() const;
  [[nodiscard]] client_cache::store::question question_of(const asking::request& what) const;

  const client_options options_;
  const std::string server_key_;  // identifies the server in a shared cache
  const std::string identity_;    // identifies this client in a shared cache
  const std::shared_ptr<token_source> tokens_;
  std::shared_ptr<client_cache> cache_;
  link link_;
  watches watches_;
  std::mutex tools_mutex_;
  using tool_headers = std::map<std::string, std::vector<model::mirrored_argument>, std::less<>>;
  tool_headers tools_;          // of tools listed over HTTP
  std::size_t tool_bytes_ = 0;  // size of `tools_`
  std::atomic<std::size_t> logs_{0};
  std::atomic<std::size_t> log_bytes_{0};
  std::atomic<bool> drops_logs_{false};
  std::stop_source closing_;
  std::atomic<std::thread::id> teller_{};  // the thread of `telling_`
  executor::pool telling_;
  asking_lane asking_;
};

}  // namespace hondana::outbound
