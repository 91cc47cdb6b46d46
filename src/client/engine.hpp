/// The calls of a client: cached, sent, repeated when the server wants input, and reads of resources.
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

struct request {
  asking::request asked;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Besides those that every request has.
  channel::content_sink content{};
  bool is_kept = false;  ///< The answer may be kept for the time it says.
};

/// A result, and where it is from.
struct outcome {
  answer got;
  asking::freshness fresh;
  bool is_from_cache = false;

  [[nodiscard]] json::object result() const { return *got.result.as_object("result"); }
};

/// Threads: any. Lives as long as anything that runs for it; `close` ends that.
class engine : public hearer, public std::enable_shared_from_this<engine> {
 public:
  engine(client_target target, client_options options, channel_maker make = make_channel);
  ~engine() override;

  /// Opens the connection. Errors: those of `client::connect`.
  result<void> open(const call_options& how = {});
  /// Ends everything; afterwards all calls fail as cancelled.
  void close();

  /// One request with all that belongs to it. Errors: those of `client`.
  [[nodiscard]] result<outcome> call(request what, const call_options& how);
  /// Errors: unsupported, naming what the server does not declare. Opens the connection first.
  [[nodiscard]] result<server_description> need(bool server_description::* what, std::string_view name,
                                                const call_options& how);

  [[nodiscard]] const client_options& options() const noexcept { return options_; }
  [[nodiscard]] server_description server() const { return link_.server(); }
  [[nodiscard]] link& connection() noexcept { return link_; }
  [[nodiscard]] watches& watched() noexcept { return watches_; }
  /// Runs `job` behind others on the thread that application code hears changes on.
  result<void> tell_later(std::function<void()> job);
  /// What was told meanwhile is not known, so that nothing of what is kept can be relied on.
  void forget_everything();
  /// What is called is in the log, if there is one.
  void noticed(const std::string& line) override;

  /// Reads one resource. `version`: the one the caller has, or empty; `into`: takes the content, or empty.
  [[nodiscard]] result<read_answer> read(std::string_view uri, std::string_view version, const content_writer& into,
                                         const call_options& how);
  /// Of what a read gives now.
  [[nodiscard]] result<bytes::digest> digest_of(const std::string& uri, const call_options& how);

  /// Arguments that a tool wants repeated in headers; nothing for a tool that is not listed.
  using headers_of_tool = std::optional<std::vector<model::mirrored_argument>>;
  /// As listed last; it is looked for when it is not known, or `afresh`.
  [[nodiscard]] result<headers_of_tool> find_headers(std::string_view name, bool afresh, const call_options& how);
  [[nodiscard]] result<page<tool>> tool_page(const std::optional<std::string>& cursor, const call_options& how);
  /// Whether `x-mcp-header` matters: without headers it does not.
  [[nodiscard]] bool has_headers() const;

  void told(asking::news what, std::size_t bytes) override;
  void asked(const rpc::request& what, std::size_t bytes) override;
  void subscription_ended(channel::call_id id, std::optional<failure> why) override;
  void interrupted() override;
  void lost(const failure& why) override;

 private:
  [[nodiscard]] result<read_answer> fetch(const std::string& url, const content_writer& into, const call_options& how);
  /// Sends a request until it is answered with something else than that the server wants to be asked later.
  [[nodiscard]] result<answer> answered(const request& what, const call_options& how);
  [[nodiscard]] result<answer> once(const request& what, const call_options& how);
  /// The open connection, with the same patience.
  [[nodiscard]] result<asking::speech> ready(const call_options& how);
  [[nodiscard]] result<std::string> answered_questions(const json::object& result, const call_options& how);
  void reply_to(const rpc::request_id& id, const asking::reply& with);
  void hear_log(asking::log_message what, std::size_t bytes);
  void remember_tools(const std::vector<tool>& all);
  void forget(const change& what);
  [[nodiscard]] std::string server_in_cache() const;
  [[nodiscard]] client_cache::store::question question_of(const asking::request& what) const;

  const client_options options_;
  const std::string server_key_;  // names the server in a shared cache
  const std::string identity_;    // and this client
  const std::shared_ptr<token_source> tokens_;
  std::shared_ptr<client_cache> cache_;
  link link_;
  watches watches_;
  std::mutex tools_mutex_;
  using tool_headers = std::map<std::string, std::vector<model::mirrored_argument>, std::less<>>;
  tool_headers tools_;          // of tools that were listed over HTTP
  std::size_t tool_bytes_ = 0;  // of these
  std::atomic<std::size_t> logs_{0};
  std::atomic<std::size_t> log_bytes_{0};
  std::atomic<bool> drops_logs_{false};
  std::stop_source closing_;
  std::atomic<std::thread::id> teller_{};  // of telling_
  executor::pool telling_;
  asking_lane asking_;
};

}  // namespace hondana::outbound
