/// An MCP resource server to embed: add providers, then serve over stdio, HTTP or memory.
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

#include <hondana/access.hpp>
#include <hondana/error.hpp>
#include <hondana/fields.hpp>
#include <hondana/limits.hpp>
#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/scopes.hpp>
#include <hondana/search.hpp>
#include <hondana/tls.hpp>
#include <hondana/tool.hpp>

namespace hondana::inline v0 {

class auditor;
class authenticator;
class tracer;

/// What a server says of itself and the limits it keeps.
struct server_options {
  std::string name = "hondana";
  std::string version = "0.1.0";
  std::string title{};
  std::string instructions{};              ///< For models: how to use these resources. Empty: not sent.
  std::size_t page_size = 500;             ///< Entries a page.
  std::uint64_t read_limit = 64ull << 20;  ///< Content bytes a read.
  /// Bytes of contents kept for reads of what has not changed since; 0: none. What is longer than an eighth of it is not kept.
  /// Peers who take large contents slowly may hold half as much again.
  std::size_t read_cache = 32u << 20;
  /// Bytes of encoded pages of lists kept for who asks for them while nothing in them has changed; 0: none. What is longer than
  /// an eighth of it is not kept.
  std::size_t page_cache = 8u << 20;
  std::chrono::milliseconds call_deadline{30'000};    ///< Until a request is answered with an error.
  std::chrono::milliseconds input_deadline{600'000};  ///< Until a client must have answered what a handler asks of it.
  std::size_t handler_threads = 4;                    ///< Handlers of tools and prompts that run at once.
  /// Protects what handlers give clients to keep between rounds: 32 or more random bytes, the same for all processes that
  /// answer for one another. Empty: random, good for this process only.
  std::string state_key{};
  std::chrono::milliseconds stall_limit{60'000};  ///< Until a peer that takes no bytes is dropped.
  /// `serve_stdio`, at the end of its input: until requests under way are left without an answer, and until a peer that takes
  /// no bytes is dropped.
  std::chrono::milliseconds stdio_drain{1'000};
  /// Whether peers are told of changed lists, and may subscribe to resources; declared to them as `listChanged` and
  /// `subscribe`. An application that never calls `resources_changed` and `resource_updated` says so here.
  bool announces_lists = true;
  bool announces_contents = true;
  /// Whether there are the tools `list_resources`, `read_resource` and `search_resources`, by which models of clients that only
  /// call tools reach every resource (docs/tools.md). Then the application's tools have other names. Off, since tools are an
  /// application's own to choose; the program `hondana` turns it on.
  bool resource_tools = false;
  /// What callers with a token must be allowed. A server with rules that `check` refuses cannot be made
  /// (std::invalid_argument), nor take the place of another (`server::replace`).
  scope_rules scopes{};
  /// Keeps the record of requests (audit.hpp, docs/audit.md). Null: there is none.
  std::shared_ptr<auditor> audit{};
  /// How much callers may ask for; refused the same way by its `check`.
  server_limits limits{};
  /// Who may list and read what; without rules everybody may everything. Rules that `check` refuses are as those of `scopes`.
  access_rules access{};
  /// Traces requests (tracing.hpp, docs/observability.md). Null: nothing is traced.
  std::shared_ptr<tracer> traces{};
  /// An index of what is served (search.hpp, docs/search.md), for `search:///` and the tool `search_resources`; for one server,
  /// for as long as that lives. Null: there is no `search:///`, and the tool goes through lists and small texts.
  std::shared_ptr<search_index> search{};
  /// Receives one line a noteworthy event; may be empty. Threads: any.
  std::function<void(std::string_view)> log{};
};

/// What the read cache holds, and what it has done since the server was made.
struct read_cache_counts {
  std::uint64_t hits = 0;       ///< Reads answered from it, after the source said that the version still holds.
  std::uint64_t misses = 0;     ///< Reads of sources that could be kept, answered by the source.
  std::uint64_t evictions = 0;  ///< Contents dropped to make room.
  std::size_t entries = 0;      ///< Contents held now.
  std::size_t bytes = 0;        ///< Memory they take.
};

/// What the cache of pages holds, and what it has done since sources or options last changed.
struct page_cache_counts {
  std::uint64_t hits = 0;       ///< Requests answered from it.
  std::uint64_t misses = 0;     ///< Requests for pages that could be kept, answered by their sources.
  std::uint64_t evictions = 0;  ///< Pages dropped to make room.
  std::size_t entries = 0;      ///< Pages held now.
  std::size_t bytes = 0;        ///< Memory they take.
};

class core;

/// The server: an ordered set of providers, tools, prompts and the options. Threads: `add` from one thread before serving.
class server {
 public:
  explicit server(server_options options = {});
  ~server();
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;

  /// Adds a source. Errors: invalid_argument when its prefixes or templates are malformed or overlap an earlier provider's;
  /// the text names both.
  result<void> add(std::shared_ptr<provider> source);

  /// Replaces sources and options as one step; requests under way finish on what they started with. Errors: as `add`,
  /// and then nothing changes. Threads: any, also while serving.
  result<void> replace(server_options options, std::vector<std::shared_ptr<provider>> sources);

  /// Tells subscribed peers that a resource has changed, come or gone. `title` is shown to peers of revisions that have a place
  /// for it; peers of the versioned dialect get the entry that the source then describes, so call this after the change, and
  /// `resources_changed` as well when something has come or gone. Errors: invalid_argument for something that is no URI.
  /// Threads: any; returns without waiting for any peer.
  result<void> resource_updated(std::string_view uri, std::string_view title = {});
  /// Tells peers that the list of resources or templates has changed; `add` and `replace` do so themselves. Threads: any.
  void resources_changed();
  /// Adds a tool, or puts it in the place of the one of its name. `handler` is called for each `tools/call` of it.
  /// Errors: invalid_argument for a name, schema or `x-mcp-header` that cannot be; the text says what to change.
  /// Threads: any, also while serving; calls under way finish with the handler they began with.
  result<void> add_tool(tool entry, tool_handler handler);
  /// The same with typed arguments: `handler` takes the call and a `Struct`, and the schema is that of `arguments`.
  template <class Struct, class Handler>
  result<void> add_tool(tool entry, const fields<Struct>& arguments, Handler handler) {
    entry.inputSchema = arguments.schema();
    return add_tool(std::move(entry), tool_handler([arguments, handler](const tool_call& call) -> result<tool_outcome> {
                      auto decoded = arguments.decode(call.arguments);
                      if (!decoded) return tl::unexpected(std::move(decoded.error()));
                      return handler(call, std::move(*decoded));
                    }));
  }
  /// False when there is none of that name.
  bool remove_tool(std::string_view name);
  /// The same for prompts.
  result<void> add_prompt(prompt entry, prompt_handler handler);
  bool remove_prompt(std::string_view name);

  /// Sends a log message that belongs to no request to every peer with a session that wants messages of this level (modern
  /// peers have none: what concerns their requests is sent by `handler_call::log`). A peer that does not read loses the oldest
  /// beyond a hundred. Nothing secret may be in it. Threads: any; returns without waiting for any peer.
  void log(log_level level, std::string_view logger, const value& data);

  /// How well reads are answered without reading again. Threads: any.
  [[nodiscard]] read_cache_counts cached_reads() const;
  /// How well lists are answered without asking sources. Threads: any.
  [[nodiscard]] page_cache_counts cached_pages() const;

  /// For transports: the engine behind this server. Never null.
  [[nodiscard]] const std::shared_ptr<hondana::core>& engine() const noexcept;

 private:
  std::shared_ptr<hondana::core> core_;
};

/// Serves one peer over standard input and output until end of input or `stop_serving_stdio`, and returns an exit code:
/// 0 after end of input or a stop, 1 when input or output failed or an answer had to be cut off.
///
/// After the end of input, requests read before it have one second, and what is answered is written as long as the peer takes
/// a byte a second; after a stop, everything has five seconds. Nothing but messages goes to standard output. Input lines may
/// have up to 16 MiB. A stop puts an empty line into an input that is a pipe, to end the waiting for it. Answers at hand are
/// written to a pipe by the thread that reads, if SIGPIPE is ignored when this begins, which saves a change of threads; it must
/// not be turned on again meanwhile. Threads: one call at a time; blocks.
[[nodiscard]] int serve_stdio(server& server);
/// Makes the present or the next `serve_stdio` finish and return. Threads: any, but not a signal handler itself.
void stop_serving_stdio();

/// A peer inside the process: whole messages in, whole messages out. Threads: any.
class memory_peer {
 public:
  explicit memory_peer(server& server);
  ~memory_peer();
  memory_peer(const memory_peer&) = delete;
  memory_peer& operator=(const memory_peer&) = delete;

  /// Sends one JSON-RPC message.
  void send(std::string_view message);
  /// The next message from the server; nothing when none came before `deadline`, or when it had to be cut off half-way.
  [[nodiscard]] std::optional<std::string> receive(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Where and how to listen for HTTP. Each limit's 0 means its default.
struct http_options {
  std::string address = "127.0.0.1";  ///< A literal address. One that is not loopback: see `without_authentication`.
  std::uint16_t port = 7325;          ///< 0: any free port.
  std::string socket{};               ///< The path of a Unix socket to listen on instead.
  unsigned socket_mode = 0600;        ///< Of that file: whoever may write it may connect.
  std::string socket_group{};         ///< Of that file, a name or a number. Empty: as the system sets it.
  std::vector<int> inherited{};       ///< Descriptors of listening sockets to take over instead.
  /// Where to report on health and readiness, and there only: `ADDRESS:PORT` or the path of a Unix socket. Empty: with the
  /// rest.
  std::string admin{};
  int inherited_admin = -1;  ///< A descriptor to take over for that instead; -1: none.
  /// With it messages go by TLS 1.2 or newer, and without it in the clear. Unix sockets and `admin` never use it.
  tls_options tls{};

  /// What the server is called by besides loopback names and its address: `name` (at any port) or `name:port`. Requests with
  /// another Host are refused.
  std::vector<std::string> hosts{};
  /// The origins of web pages that may ask, `https://name[:port]`, besides those of this machine and the server's own.
  std::vector<std::string> origins{};
  /// Tells who asks (authenticator.hpp, docs/authorization.md). Null: everybody is "anonymous".
  std::shared_ptr<hondana::authenticator> authenticator{};
  /// Everybody who reaches the address may read everything. Without this or an authenticator, and without `hosts`, only
  /// loopback is listened on.
  bool without_authentication = false;
  /// The proxies whose word on a client's address and scheme is taken (`Forwarded`, X-Forwarded-For, X-Forwarded-Proto):
  /// literal addresses or networks, "::1", "10.0.0.0/8"; "unix" for whoever connects to a Unix socket.
  std::vector<std::string> trusted_proxies{};

  std::size_t max_body_bytes = 16u << 20;
  std::size_t max_header_bytes = 16u << 10;
  std::size_t max_connections = 0;              ///< Default: three quarters of the descriptors the process may open.
  std::size_t max_connections_per_address = 0;  ///< Default: a quarter of the former, and no limit for loopback.
  std::size_t max_sessions = 0;                 ///< Of older clients. Default: `max_connections`, at most 16384.
  std::size_t max_sessions_per_address = 0;     ///< Default: a quarter of the former, and no limit for loopback.
  std::chrono::milliseconds header_time{10'000};
  std::chrono::milliseconds body_time{300'000};
  std::chrono::milliseconds keep_alive_time{60'000};  ///< Between two requests.
  std::chrono::milliseconds session_idle_time{1'800'000};
  unsigned threads = 0;  ///< Default: one a processor, at most 4.
};

/// A listening HTTP server with `/mcp`, `/healthz` and `/readyz`. Destruction stops it at once.
class http_service {
 public:
  /// Binds and serves on threads of its own. Errors: invalid_argument for an address that is malformed or not allowed, and for
  /// malformed hosts, origins and proxies; source_unavailable when it cannot be bound, and for a port in use the text says so.
  /// As `reload_certificates` for TLS.
  [[nodiscard]] static result<http_service> start(server& server, http_options options = {});
  ~http_service();
  http_service(http_service&&) noexcept;
  http_service& operator=(http_service&&) noexcept;

  /// The port for messages; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The port for reports; 0 when there is none of its own.
  [[nodiscard]] std::uint16_t admin_port() const noexcept;
  /// Reads the files of `http_options::tls` again. Connections made from here on see them, those that stand live on with the
  /// old ones, but for clients whose authority is not among the new ones; without TLS nothing happens. Errors:
  /// invalid_argument, naming file and reason; then the old ones stay. Threads: any.
  [[nodiscard]] result<void> reload_certificates();
  /// Reports that it is no longer ready, stops accepting, lets requests under way finish until `limit` has passed, then closes
  /// everything.
  void drain(std::chrono::milliseconds limit);

 private:
  struct state;
  explicit http_service(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
