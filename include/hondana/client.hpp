/// A client of any MCP server, over a child process, HTTP, a Unix socket or memory, in every protocol revision.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/client_target.hpp>
#include <hondana/client_types.hpp>
#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/skill.hpp>
#include <hondana/tool.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// Handlers for the server's questions to the client, in all revisions. A handler that is not set is not declared as a
/// capability. `params`: the question's parameters as the server sent them.
///
/// Threads: one thread of the client, one call at a time. Handlers may block and may call the client. While a handler waits for
/// such a call, further questions of the server are rejected. The client's destructor does not wait for handlers.
///
/// If a handler fails, a legacy server gets an error. In 2026-07-28, the answer to an elicitation is then "cancel"; after other
/// questions, the call that caused the question fails as server_error. Spec: client/elicitation, client/sampling, client/roots.
struct client_handlers {
  /// Shows a form to the user. The client adds the defaults of `requested_schema` for fields that an accepted answer leaves
  /// out.
  std::function<result<elicitation_response>(const form_request&, const value& params)> form_elicitation{};
  std::function<result<elicitation_response>(const url_request&, const value& params)> url_elicitation{};
  std::function<result<sampling_response>(const sampling_request&, const value& params)> sampling{};
  bool sampling_tools = false;    ///< `sampling` supports `sampling_request::tools`.
  bool sampling_context = false;  ///< `sampling` supports `sampling_request::include_context`.
  /// Returns the folders that the client works in.
  std::function<result<std::vector<root>>()> roots{};
};

/// A cache of answers that several clients can share. Answers that a server declares public are shared by all clients of that
/// server; other answers, by those with the same user (`client_options::identity`). Threads: any.
class client_cache {
 public:
  /// `max_bytes`: capacity.
  explicit client_cache(std::size_t max_bytes = 32u << 20);
  ~client_cache();
  client_cache(const client_cache&) = delete;
  client_cache& operator=(const client_cache&) = delete;

  /// Returns the bytes of all cached answers.
  [[nodiscard]] std::size_t bytes() const;

  class store;
  /// For the implementation of `client`.
  [[nodiscard]] store& backend() noexcept { return *store_; }

 private:
  std::unique_ptr<store> store_;
};

/// Options and limits of a client.
struct client_options {
  std::string name = "hondana";  ///< Name, version and title of the application, for the server.
  std::string version = "0.1.0";
  std::string title{};
  /// The only protocol revision to use, such as "2025-06-18". nullopt: the newest that both sides support.
  std::optional<std::string> revision{};
  client_handlers handlers{};
  /// Lowest level of log messages that the server should send. nullopt: the server decides.
  std::optional<log_level> min_log_level{};
  /// Receives the log messages that the server sends. If too many arrive, some are dropped. Threads: one thread of the client,
  /// one call at a time. It may call the client. The client's destructor waits up to five seconds for it.
  std::function<void(log_level level, std::string_view logger, const value& data)> on_log{};
  /// Receives the client's own log lines, such as that a tool was left out. May be empty. Threads: any. Must not call the
  /// client, and must not throw.
  std::function<void(std::string_view line)> log{};
  /// Receives each JSON-RPC message that is sent or received. Content for a `content_writer` is missing in it. Threads: any,
  /// several calls at once.
  std::function<void(message_direction direction, std::string_view message)> on_message{};

  /// Returns additional members of `_meta`; called for each request. Empty: none. Each name needs a prefix and a slash
  /// ("com.example/name"). Threads: any. Must not block. Spec: basic#general-fields.
  std::function<value::object()> meta{};

  /// Timeout of each call, unless `call_options::timeout` is set.
  std::chrono::milliseconds call_timeout{30'000};
  /// How long a user may take to answer a question of the server. Timeouts of calls are suspended for up to that time.
  std::chrono::milliseconds input_timeout{600'000};
  /// How long a child process may take to answer the first request, before the client assumes a legacy server. For a URL,
  /// `call_timeout` applies.
  std::chrono::milliseconds probe_timeout{5'000};
  std::size_t max_message_bytes = 64u << 20;  ///< Limit of one message in memory, including contents.
  std::uint64_t max_read_bytes = 1ull << 40;  ///< Limit of the content bytes of one `client::read_to`.
  std::size_t max_calls = 1'000;              ///< Calls at the same time. Further calls fail as overloaded.
  std::size_t cache_bytes = 32u << 20;        ///< Capacity of the client's own cache.
  std::shared_ptr<client_cache> cache{};      ///< A shared cache to use instead. Null: none.
  /// For a shared cache: any text that differs between users of the server. Empty: none in particular. The headers, token and
  /// client certificate of an `http_target` also distinguish users.
  std::string identity{};
  /// Reads `https://` resources directly instead of through the server. Such reads never use addresses of this machine or of
  /// private networks, and never send `http_target::headers`. Spec: server/resources#https.
  bool fetches_https = true;
};

/// A connection to one server. Calls block until they are answered. Threads: any, also many calls at once.
///
/// Errors of all calls:
/// - timed_out, cancelled.
/// - overloaded for too many calls, or if the server is overloaded; too_many_requests if the server limits the rate.
/// - source_unavailable if the server cannot be started or reached, or ended.
/// - protocol_error for an invalid answer.
/// - unauthorized if the server requires authentication, or rejects the credentials or scopes.
/// - unsupported if the server does not declare the feature, or supports no common protocol revision.
/// - server_error for any other error of the server.
///
/// The destructor cancels calls in other threads and ends a child process. It waits for a running watch handler, unless that
/// handler destroys the client.
class client {
 public:
  /// Connects to the server and negotiates the protocol revision. `connect_options` applies to this call only. Errors: also
  /// invalid_argument for an invalid target or revision. Spec: basic/versioning, basic/transports.
  [[nodiscard]] static result<client> connect(client_target target, client_options options = {},
                                              const call_options& connect_options = {});
  ~client();
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;

  /// Returns the server's latest description of itself. Does not block.
  [[nodiscard]] server_description server() const;

  /// Lists the resources that match `filter`, and fetches pages on demand. Spec: server/resources.
  [[nodiscard]] paged_range<resource> resources(entry_filter filter = {}, call_options options = {});
  /// Fetches one page of `resources`. `cursor`: as in `list_page`; nullopt: the first page. If the server cannot filter, the
  /// client does, so a page can be short or empty. Errors: also invalid_argument for a cursor that the server does not know.
  /// Spec: server/utilities/pagination.
  [[nodiscard]] result<list_page<resource>> resource_page(const std::optional<std::string>& cursor = {},
                                                          const entry_filter& filter = {}, const call_options& options = {});
  /// Lists URI templates. Spec: server/resources#resource-templates.
  [[nodiscard]] paged_range<resource_template> templates(call_options options = {});
  /// Lists the direct children of a folder. Errors: also resource_not_found; invalid_argument if the resource is not a folder.
  [[nodiscard]] paged_range<resource> children(std::string uri, call_options options = {});

  /// Reads one resource, from the cache if it has a fresh answer. Errors: also resource_not_found; response_too_large for more
  /// than `max_message_bytes`.
  [[nodiscard]] result<read_response> read(std::string_view uri, const call_options& options = {});
  /// Reads one resource unless `version` is current (`read_response::is_not_modified`). If the server has no versions
  /// (`server_description::has_versions`), the same as `read`. Errors: as `read`.
  [[nodiscard]] result<read_response> read_if_changed(std::string_view uri, std::string_view version,
                                                      const call_options& options = {});
  /// Reads one resource, and passes the content to `writer` as it arrives, so that any size needs only kilobytes of memory. If
  /// the read fails, `writer` may have received a part of the content. Never cached. `options.timeout` limits each wait for
  /// content, `options.total_timeout` the whole call. Errors: as `read`; those that `writer` returns.
  [[nodiscard]] result<read_response> read_to(std::string_view uri, content_writer writer, const call_options& options = {});
  /// Returns the current entry of one resource. With the versioned-resources extension the server returns it; otherwise the
  /// client searches the list. Errors: also resource_not_found.
  [[nodiscard]] result<resource> describe(std::string_view uri, const call_options& options = {});
  /// Expands a URI template. Errors: as `uri_template::compile` and `uri_template::expand`.
  [[nodiscard]] static result<std::string> expand(std::string_view uri_template, const uri_template_values& values);

  /// Completes a variable of a template. `typed`: the text typed so far. `context`: names and values of other variables that
  /// the user has already chosen. Spec: server/utilities/completion.
  [[nodiscard]] result<complete_result> complete(std::string_view uri_template, std::string_view variable,
                                                 std::string_view typed,
                                                 const std::vector<std::pair<std::string, std::string>>& context = {},
                                                 const call_options& options = {});
  /// Completes an argument of a prompt. `typed` and `context`: as for `complete`.
  [[nodiscard]] result<complete_result> complete_prompt(std::string_view prompt, std::string_view argument,
                                                        std::string_view typed,
                                                        const std::vector<std::pair<std::string, std::string>>& context = {},
                                                        const call_options& options = {});

  /// A watch that `watch` started. The destructor ends the watch, and waits for a running call of the handler unless that call
  /// destroys the `watch_handle`. It may outlive the client.
  class watch_handle {
   public:
    watch_handle() noexcept;
    ~watch_handle();
    watch_handle(watch_handle&&) noexcept;
    watch_handle& operator=(watch_handle&&) noexcept;
    /// Returns the part of the `watch_request` that the server accepted.
    [[nodiscard]] watch_request accepted() const;

   private:
    friend class client;
    struct state;
    explicit watch_handle(std::shared_ptr<state> state) noexcept;
    std::shared_ptr<state> state_;
  };
  /// Calls `handler` for each change until the `watch_handle` is destroyed, also across lost connections and restarts of the
  /// server. After a reconnect, the client subscribes again. It then reads the watched resources that it had read before, and
  /// reports those that changed. All others, and lists, are reported as possibly changed (`watch_event::was_missed`).
  ///
  /// Errors: also unsupported if the server offers none of the requested notifications; resource_not_found; invalid_argument
  /// for a request without anything to watch. Spec: basic/patterns/subscriptions, server/resources#subscriptions.
  [[nodiscard]] result<watch_handle> watch(watch_request request, watch_handler handler, const call_options& options = {});

  /// Lists tools. Over HTTP, tools with an invalid `x-mcp-header` are left out and logged. A `$ref` in a schema is never
  /// fetched. Spec: server/tools.
  [[nodiscard]] paged_range<tool> tools(call_options options = {});
  /// Calls a tool. `arguments`: an object or null. The handlers answer the server's questions. Spec: server/tools,
  /// basic/patterns/mrtr.
  [[nodiscard]] result<tool_response> call_tool(std::string_view name, const value& arguments,
                                                const call_options& options = {});
  /// Lists prompts. Spec: server/prompts.
  [[nodiscard]] paged_range<prompt> prompts(call_options options = {});
  /// Returns the messages of a prompt. `arguments`: names and values.
  [[nodiscard]] result<prompt_result> get_prompt(std::string_view name,
                                                 const std::vector<std::pair<std::string, std::string>>& arguments = {},
                                                 const call_options& options = {});

  /// Lists the entries of skills, without reading files. Spec: the extension io.modelcontextprotocol/skills.
  [[nodiscard]] paged_range<skill> skills(call_options options = {});
  /// Returns the entry of one skill. `uri`: that of its SKILL.md. Errors: also resource_not_found.
  [[nodiscard]] result<skill> find_skill(std::string_view uri, const call_options& options = {});
  /// Reads a file of a skill. Verifies its size and digest if `skill.files` is set, and the front matter if it is the SKILL.md.
  /// Errors: as `read`; protocol_error for a difference; invalid_argument if `skill.files` lacks the file.
  [[nodiscard]] result<read_response> read_skill_file(const skill& skill, std::string_view uri,
                                                      const call_options& options = {});

  /// Sends any request. `params`: an object or null. Returns the result as the server sent it. The handlers answer the server's
  /// questions.
  [[nodiscard]] result<value> request(std::string_view method, const value& params, const call_options& options = {});
  /// Ends the connection to a server that hangs, and its process or session. Pending calls fail as source_unavailable. The next
  /// call connects or starts the process again, and watches are renewed. `reason` completes the sentence "the server ..." in
  /// the errors: "did not answer a ping". Returns at once. Does nothing for a `memory_target`.
  void end_connection(std::string reason);
  /// Notifies a legacy server that the result of `client_handlers::roots` changed; connects first if necessary. Other servers
  /// are not notified. Errors: those of `connect`.
  [[nodiscard]] result<void> notify_roots_changed();

 private:
  class engine;
  explicit client(std::shared_ptr<engine> engine) noexcept;
  std::shared_ptr<engine> engine_;
};

}  // namespace hondana::inline v0
