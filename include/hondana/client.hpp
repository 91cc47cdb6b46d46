/// A client of any MCP server: over a child process, HTTP, a Unix socket or memory, in every revision.
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

/// Answers what servers ask of the client's side; what is not set is not declared to them. The same ones serve requests of
/// older revisions and retried calls of 2026-07-28. They may block, and call the client: they run on a thread of the client's,
/// one at a time; what the server asks while such a call waits for it is refused. Destruction of the client does not wait for
/// them. A failure becomes an error answer or, for forms and links in a retried call, "cancel". `params`: the request as the
/// server spelled it. Spec: client/elicitation, client/sampling, client/roots.
struct client_handlers {
  /// Fields that an accepted answer leaves out get the defaults of `requestedSchema`.
  std::function<result<form_answer>(const form_request&, const value& params)> form{};
  std::function<result<form_answer>(const link_request&, const value& params)> link{};
  std::function<result<sampling_answer>(const sampling_request&, const value& params)> sampling{};
  bool sampling_tools = false;    ///< `sampling` understands tools.
  bool sampling_context = false;  ///< `sampling` includes context.
  std::function<result<std::vector<root>>()> roots{};
};

/// Answers kept for several clients. Those that a server calls public are shared by all clients of that server, the others by
/// those with the same `client_options::identity`. Threads: any.
class client_cache {
 public:
  explicit client_cache(std::size_t bytes = 32u << 20);
  ~client_cache();
  client_cache(const client_cache&) = delete;
  client_cache& operator=(const client_cache&) = delete;

  /// Of all answers kept now.
  [[nodiscard]] std::size_t bytes() const;

  class store;
  /// For the client itself.
  [[nodiscard]] store& entries() noexcept { return *store_; }

 private:
  std::unique_ptr<store> store_;
};

/// How a client behaves, and the limits it keeps.
struct client_options {
  std::string name = "hondana";
  std::string version = "0.1.0";
  std::string title{};
  /// Speak this revision and no other, "2025-06-18"; empty: the newest that both know, found as the specification says.
  std::string revision{};
  client_handlers handlers{};
  std::optional<log_level> least_log_level{};  ///< Log messages the server shall send; nothing: as it likes.
  /// Hears log messages of the server, but not of a flood of them. Threads: one of the client's, one call at a time; calls of
  /// the client are allowed in it. Destruction of the client waits up to five seconds for it.
  std::function<void(log_level level, std::string_view logger, const value& data)> on_log{};
  /// Hears what the client itself has to say: a tool that was left out, a connection made anew. Threads: any; it must not call
  /// the client, nor throw.
  std::function<void(std::string_view line)> log{};
  /// Sees each message on its way; content that a writer took is missing in it.
  /// Threads: any; several calls may run at once.
  std::function<void(message_direction way, std::string_view message)> trace{};

  /// More members for the `_meta` of every request, asked for each time; empty: none. Names as the specification has them, a
  /// prefix and a slash before each. Threads: any; it must not block. Spec: basic#general-fields.
  std::function<value::object()> meta{};

  std::chrono::milliseconds call_time{30'000};
  /// Until people must have answered a server's question; the time of a call stands still for so long and no longer.
  std::chrono::milliseconds input_time{600'000};
  /// Until a child process that does not answer the first question is taken for an older one. A URL gets the time of calls.
  std::chrono::milliseconds probe_time{5'000};
  std::size_t max_message_bytes = 64u << 20;  ///< Of one message kept in memory, contents included.
  std::uint64_t max_read_bytes = 1ull << 40;  ///< Content bytes given to one `content_writer`.
  std::size_t max_calls = 1'000;              ///< Under way at once; more fail as overloaded.
  std::size_t cache_bytes = 32u << 20;        ///< 0: nothing is kept.
  std::shared_ptr<client_cache> cache{};      ///< Instead of one of its own.
  /// For a shared cache: as whom the server knows this client; it must differ from user to user. Empty: nobody in particular.
  /// Headers and tokens of a `http_target` tell users apart as well.
  std::string identity{};
  /// Read `https://` resources from where they are, not through the server, as the specification has it. Never from addresses
  /// of this machine or a private network, and never with what `http_target::headers` says.
  bool fetches_https = true;
};

/// One connection to one server. Calls block until they are answered, and may be made from any thread, also many at once.
///
/// Errors of all calls: timed_out, cancelled, overloaded; source_unavailable when the server cannot be reached or started or
/// went away; broken_protocol for an answer that is none; unauthorized; unsupported when the server does not declare what is
/// asked for; refused for any other error it answers. Destruction cancels what is under way in other threads, waits for a
/// handler of changes that is running unless it is called in it, and ends a child process.
class client {
 public:
  /// Finds the server and the revision to speak. Errors: invalid_argument for a target that cannot be; those of all calls.
  /// Spec: basic/versioning, basic/transports.
  /// `how`: of the connecting alone.
  [[nodiscard]] static result<client> connect(client_target target, client_options options = {}, const call_options& how = {});
  ~client();
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;

  /// What the server said of itself last. Threads: any.
  [[nodiscard]] server_description server() const;

  /// Lists. Errors: invalid_argument for a cursor the server does not know. Spec: server/resources,
  /// server/utilities/pagination.
  [[nodiscard]] paged<resource> resources(entry_filter wanted = {}, call_options how = {});
  [[nodiscard]] result<page<resource>> resource_page(const std::optional<std::string>& cursor = {},
                                                     const entry_filter& wanted = {}, const call_options& how = {});
  [[nodiscard]] paged<resource_template> templates(call_options how = {});
  /// The direct children of a folder. Errors: unsupported, resource_not_found, invalid_argument for what is no folder.
  [[nodiscard]] paged<resource> children(std::string uri, call_options how = {});

  /// Reads one resource. Errors: resource_not_found; response_too_large beyond `max_message_bytes`.
  [[nodiscard]] result<read_answer> read(std::string_view uri, const call_options& how = {});
  /// The same unless `version` is still current. Where the server has no versions it is read in any case.
  [[nodiscard]] result<read_answer> read_if_changed(std::string_view uri, std::string_view version,
                                                    const call_options& how = {});
  /// Gives the content to `into` as it comes and keeps none of it, so that any size costs kilobytes. When it fails half-way,
  /// what came before is the beginning of the content. Never cached. `how.time` is then for each wait; `how.whole_time` for the
  /// whole.
  [[nodiscard]] result<read_answer> read_to(std::string_view uri, content_writer into, const call_options& how = {});
  /// The entry of one resource as it is now. Servers of the versioned dialect tell; in others it is looked for in the list.
  [[nodiscard]] result<resource> describe(std::string_view uri, const call_options& how = {});
  /// The URI a template gives for these values. Errors: invalid_argument for a template that is malformed.
  [[nodiscard]] static result<std::string> expand(std::string_view uri_template, const uri_template_values& values);

  /// Values for a variable of a template, or an argument of a prompt; `chosen`: the others. Spec: server/utilities/completion.
  [[nodiscard]] result<complete_result> complete(std::string_view uri_template, std::string_view variable,
                                                 std::string_view typed,
                                                 const std::vector<std::pair<std::string, std::string>>& chosen = {},
                                                 const call_options& how = {});
  [[nodiscard]] result<complete_result> complete_prompt(std::string_view prompt, std::string_view argument,
                                                        std::string_view typed,
                                                        const std::vector<std::pair<std::string, std::string>>& chosen = {},
                                                        const call_options& how = {});

  /// Ends what `watch` began, when it is destroyed. After that the handler is not called any more.
  class watching {
   public:
    watching() noexcept;
    ~watching();
    watching(watching&&) noexcept;
    watching& operator=(watching&&) noexcept;
    /// What the server took on of what was asked for.
    [[nodiscard]] watch_request honoured() const;

   private:
    friend class client;
    struct state;
    explicit watching(std::shared_ptr<state> of) noexcept;
    std::shared_ptr<state> state_;
  };
  /// Tells of changes until the `watching` is gone, across lost connections and restarts of the server: then it subscribes
  /// again, and tells what has changed meanwhile as far as it has read it before, and of the rest that it may have
  /// (`change::was_missed`). Errors: unsupported when the server offers none of it; resource_not_found. Spec:
  /// basic/patterns/subscriptions, server/resources#subscriptions.
  [[nodiscard]] result<watching> watch(watch_request what, change_handler tell, const call_options& how = {});

  /// Tools. Those whose `x-mcp-header` breaks the rules are left out over HTTP, and named in the log. No `$ref` is ever
  /// fetched.
  [[nodiscard]] paged<tool> tools(call_options how = {});
  /// Calls a tool, and answers what it asks with the handlers. Spec: server/tools, basic/patterns/mrtr.
  [[nodiscard]] result<called> call_tool(std::string_view name, const value& arguments, const call_options& how = {});
  [[nodiscard]] paged<prompt> prompts(call_options how = {});
  [[nodiscard]] result<prompt_result> get_prompt(std::string_view name,
                                                 const std::vector<std::pair<std::string, std::string>>& arguments = {},
                                                 const call_options& how = {});

  /// Skills. Nothing of a skill is read before it is asked for. Spec: the extension io.modelcontextprotocol/skills.
  [[nodiscard]] paged<skill> skills(call_options how = {});
  [[nodiscard]] result<skill> find_skill(std::string_view uri, const call_options& how = {});
  /// Reads a file of a skill and checks its size and digest against the entry; of the SKILL.md also the frontmatter. Errors:
  /// broken_protocol for what does not agree, naming both; invalid_argument for a file that is not the skill's.
  [[nodiscard]] result<read_answer> read_skill_file(const skill& of, std::string_view uri, const call_options& how = {});

  /// Any request: `params` is an object or null, and the result comes as the server spelled it. Handlers answer what it asks.
  [[nodiscard]] result<value> request(std::string_view method, const value& params, const call_options& how = {});
  /// Ends the connection to a server that is stuck, and with it the server's process or session. Pending calls fail as
  /// source_unavailable; the next call connects, or starts the process, again, and watches are renewed. `why` completes the
  /// sentence "the server ..." in those errors: "did not answer a ping". Returns at once. No effect on a `memory_target`.
  void end_connection(std::string why);
  /// Tells a server of an older revision that `client_handlers::roots` would now answer something else.
  result<void> roots_changed();

 private:
  class engine;
  explicit client(std::shared_ptr<engine> inner) noexcept;
  std::shared_ptr<engine> engine_;
};

}  // namespace hondana::inline v0
