/// An MCP resource server to embed: add providers, then serve over stdio, HTTP, or in memory.
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
#include <hondana/limits.hpp>
#include <hondana/prompt.hpp>
#include <hondana/provider.hpp>
#include <hondana/scopes.hpp>
#include <hondana/search.hpp>
#include <hondana/tls.hpp>
#include <hondana/tool.hpp>
#include <hondana/tool_arguments.hpp>

namespace hondana::inline v0 {

class auditor;
class authenticator;
class tracer;

/// The name, the limits and the policies of a server.
struct server_options {
  std::string name = "hondana";  ///< Name, version and title of the application, for clients.
  std::string version = "0.1.0";
  std::string title{};
  std::string instructions{};                  ///< For models: how to use the server. Empty: not sent.
  std::size_t page_size = 500;                 ///< Entries per page.
  std::uint64_t max_read_bytes = 64ull << 20;  ///< Content bytes per read.
  /// Capacity of the cache of contents, for repeated reads of unchanged resources. Contents longer than an eighth
  /// of it are not cached. Evicted contents that are still being sent to slow clients may use half as much again.
  std::size_t read_cache_bytes = 32u << 20;
  /// Capacity of the cache of encoded list pages. Pages longer than an eighth of it are not cached.
  std::size_t page_cache_bytes = 8u << 20;
  std::chrono::milliseconds call_timeout{30'000};    ///< After this time a request is answered with an error.
  std::chrono::milliseconds input_timeout{600'000};  ///< How long a client may take to answer the questions of a handler.
  std::size_t handler_threads = 4;                   ///< How many handlers of tools and prompts run at once.
  /// Key that authenticates `input_required::state` and encrypts cursors: 32 or more random bytes. Processes that answer each
  /// other's clients need the same key. nullopt: a random key, which only this process knows.
  std::optional<std::string> state_key{};
  std::chrono::milliseconds stall_timeout{60'000};  ///< A client that accepts no bytes for this long is disconnected.
  /// For `serve_stdio` after the end of input: how long running requests may still take, and how long the client may accept no
  /// bytes.
  std::chrono::milliseconds stdio_drain_timeout{1'000};
  /// Whether clients are notified of changed lists (`listChanged`). Set it to false if no source reports changes and the
  /// application never calls `server::notify_resources_changed`.
  bool supports_list_changes = true;
  /// Whether clients may subscribe to resources (`subscribe`). Set it to false if no source reports changes and the application
  /// never calls `server::notify_resource_updated`.
  bool supports_subscriptions = true;
  /// Adds the tools `list_resources`, `read_resource` and `search_resources`, for hosts whose models call tools only
  /// (docs/tools.md). The application's tools must then have other names.
  bool has_resource_tools = false;
  /// Which scopes callers with a token or certificate need. If `validate_scope_rules` rejects the rules, `server::create` and
  /// `server::replace` fail.
  scope_rules scopes{};
  /// Receives an audit record for each request (audit.hpp, docs/audit.md). Null: no audit log.
  std::shared_ptr<auditor> audit{};
  /// Rate limits and timeouts. Invalid values are rejected as for `scopes`.
  server_limits limits{};
  /// Who may list, read and call what. Without rules, every caller may do everything. Invalid rules are rejected as for
  /// `scopes`.
  access_rules access{};
  /// Traces requests (tracing.hpp, docs/observability.md). Null: no traces.
  std::shared_ptr<tracer> traces{};
  /// A search index (search.hpp, docs/search.md), for `search:///` and the tool `search_resources`. It serves one server only,
  /// and cannot be replaced. Null: `search:///` does not exist, and the tool scans lists and small texts.
  std::shared_ptr<search_index> search{};
  /// Receives one line per noteworthy event; may be empty. Threads: any.
  std::function<void(std::string_view)> log{};
};

/// Statistics of the read cache since the server was created.
struct read_cache_statistics {
  std::uint64_t hits = 0;       ///< Reads answered from the cache, after the source or its `cache_validator` confirmed them.
  std::uint64_t misses = 0;     ///< Cacheable reads that the source answered.
  std::uint64_t evictions = 0;  ///< Contents removed to free space.
  std::size_t entries = 0;      ///< Contents stored now.
  std::size_t bytes = 0;        ///< Memory in use.
};

/// Statistics of the page cache since sources or options last changed.
struct page_cache_statistics {
  std::uint64_t hits = 0;       ///< Requests answered from the cache.
  std::uint64_t misses = 0;     ///< Requests for cacheable pages that the sources answered.
  std::uint64_t evictions = 0;  ///< Pages removed to free space.
  std::size_t entries = 0;      ///< Pages stored now.
  std::size_t bytes = 0;        ///< Memory in use.
};

class server_core;

/// The server: an ordered set of providers, the tools, the prompts and the options.
///
/// Threads: call `add` from one thread, before serving.
class server {
 public:
  /// Makes a server without sources. Errors: invalid_argument if the rules, limits or `state_key` of the options are invalid
  /// (see `validate_scope_rules`, `validate_access_rules` and `validate_server_limits`).
  [[nodiscard]] static result<server> create(server_options options = {});
  ~server();
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;

  /// Adds a source. Errors: invalid_argument if its prefixes, templates or tools are malformed, or overlap those of another
  /// source; the text names both.
  [[nodiscard]] result<void> add(std::shared_ptr<provider> source);

  /// Replaces all sources and options atomically, except `state_key` and `handler_threads`. Requests in progress finish with
  /// the old ones. Errors: as `add`; also invalid_argument for invalid options, or another `search`. Then nothing changes.
  /// Threads: any, also while serving.
  [[nodiscard]] result<void> replace(server_options options, std::vector<std::shared_ptr<provider>> sources);

  /// Notifies subscribed clients that a resource was changed, added or removed. Call it after the change, because clients of
  /// the versioned-resources extension get the current entry. `title`: the resource's title, sent in revisions that have a
  /// member for it. If a resource was added or removed, also call `notify_resources_changed`.
  ///
  /// Errors: invalid_argument if `uri` is not a URI. Threads: any. Returns without waiting for clients.
  [[nodiscard]] result<void> notify_resource_updated(std::string_view uri, std::string_view title = {});
  /// Notifies clients that the list of resources or templates changed. `add` and `replace` do so themselves. Threads: any.
  /// Returns without waiting for clients.
  void notify_resources_changed();
  /// Adds a tool, or replaces the application's tool with the same name. `handler` is called for each `tools/call`.
  /// Errors: invalid_argument for an invalid name, schema or `x-mcp-header`, or the name of a tool of the server or a source.
  /// Threads: any, also while serving. Calls in progress finish with their old handler.
  [[nodiscard]] result<void> add_tool(tool entry, tool_handler handler);
  /// As above, with typed arguments: `handler` takes the `tool_call` and a `Struct`. The tool gets the schema of `arguments`.
  template <class Struct, class Handler>
  [[nodiscard]] result<void> add_tool(tool entry, const tool_arguments<Struct>& arguments, Handler handler) {
    entry.input_schema = arguments.schema();
    return add_tool(std::move(entry), tool_handler([arguments, handler](const tool_call& call) -> result<tool_outcome> {
                      auto decoded = arguments.decode(call.arguments);
                      if (!decoded) return tl::unexpected(std::move(decoded.error()));
                      return handler(call, std::move(*decoded));
                    }));
  }
  /// Removes a tool of the application. Returns false if there was none of that name. Threads: any, also while serving.
  bool remove_tool(std::string_view name);
  /// Adds or replaces a prompt. Errors: invalid_argument for an invalid name or argument. Threads: as `add_tool`.
  [[nodiscard]] result<void> add_prompt(prompt entry, prompt_handler handler);
  /// Removes a prompt. Returns false if there was none of that name. Threads: any, also while serving.
  bool remove_prompt(std::string_view name);

  /// Sends a log message to every legacy session that wants messages of this level. Clients of 2026-07-28 get only the log
  /// messages of their own requests, by `handler_call::log`. For a client that does not read, the last hundred messages are
  /// stored. Messages must not contain secrets. Threads: any. Returns without waiting for clients.
  void log(log_level level, std::string_view logger, const value& data);

  /// Returns the statistics of the read cache. Threads: any.
  [[nodiscard]] read_cache_statistics read_statistics() const;
  /// Returns the statistics of the page cache. Threads: any.
  [[nodiscard]] page_cache_statistics page_statistics() const;

  /// Returns the implementation, for transports. Never null.
  [[nodiscard]] const std::shared_ptr<hondana::server_core>& core() const noexcept;

 private:
  explicit server(std::shared_ptr<hondana::server_core> core) noexcept;
  std::shared_ptr<hondana::server_core> core_;
};

/// Serves one client over standard input and output, until end of input or `stop_serving_stdio`. Returns an exit code: 0 after
/// end of input or a stop, 1 if input or output failed or an answer had to be cut off.
///
/// After end of input, running requests have `server_options::stdio_drain_timeout` to finish. Their answers are written as long
/// as the client accepts at least a byte in each such period. After a stop, everything has five seconds. Only messages are
/// written to standard output. Input lines may have up to 16 MiB.
///
/// A stop writes an empty line into standard input if that is a pipe, to end a blocking read. If SIGPIPE is ignored when
/// `serve_stdio` is called, it must stay ignored: the thread that reads input then also writes to output pipes.
///
/// Threads: one call at a time; blocks.
[[nodiscard]] int serve_stdio(server& server);
/// Makes the current or next `serve_stdio` finish and return. Threads: any; must not be called by a signal handler.
void stop_serving_stdio();

/// A client in the same process, which exchanges whole messages. Its identity is "local". Threads: any.
class memory_peer {
 public:
  explicit memory_peer(server& server);
  ~memory_peer();
  memory_peer(const memory_peer&) = delete;
  memory_peer& operator=(const memory_peer&) = delete;

  /// Sends one JSON-RPC message to the server.
  void send(std::string_view message);
  /// Waits for the next message from the server. nullopt: none came before `deadline`, or the message was cut off.
  [[nodiscard]] std::optional<std::string> receive(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Where and how to listen for HTTP. Limits and timeouts must be greater than 0.
struct http_options {
  std::string address = "127.0.0.1";  ///< A literal IP address. If other machines can reach it, see `without_authentication`.
  std::uint16_t port = 7325;          ///< 0: any free port.
  std::optional<std::string> socket_path{};  ///< Path of a Unix socket to listen on instead.
  unsigned socket_mode = 0600;               ///< Mode of the socket's file. Users who may write the file may connect.
  /// Group of the socket's file, a name or a number. nullopt: as the system sets it.
  std::optional<std::string> socket_group{};
  std::vector<int> inherited_sockets{};  ///< Descriptors of listening sockets to use instead (socket activation).
  /// Where to serve health, readiness and metrics, and nothing else: `ADDRESS:PORT`, or the path of a Unix socket. nullopt:
  /// at `address`.
  std::optional<std::string> admin_address{};
  std::optional<int> inherited_admin_socket{};  ///< Descriptor of a listening socket to use for `admin_address`.
  /// Messages use TLS 1.2 or newer; nullopt: they are not encrypted. Unix sockets and `admin_address` never use TLS.
  std::optional<tls_options> tls{};

  /// Host names of the server, besides loopback names and its address: `name` (any port) or `name:port`. Requests with another
  /// `Host` header are rejected.
  std::vector<std::string> allowed_hosts{};
  /// Origins of web pages that may send requests, `https://name[:port]`, besides those of this machine and the server's own.
  std::vector<std::string> allowed_origins{};
  /// Authenticates callers (authenticator.hpp, docs/authorization.md). Null: the identities of callers are as in
  /// `caller_info::identity`.
  std::shared_ptr<hondana::authenticator> authenticator{};
  /// Permits an address that other machines can reach without `authenticator`. Such an address also requires `allowed_hosts`.
  bool without_authentication = false;
  /// Proxies whose headers about the client's address and scheme are trusted (`Forwarded`, X-Forwarded-For, X-Forwarded-Proto).
  /// Literal addresses or networks, "::1", "10.0.0.0/8"; "unix" for every client of a Unix socket.
  std::vector<std::string> trusted_proxies{};

  std::size_t max_body_bytes = 16u << 20;
  std::size_t max_header_bytes = 16u << 10;
  std::optional<std::size_t> max_connections{};  ///< nullopt: three quarters of the process's limit of file descriptors.
  /// nullopt: a quarter of `max_connections`; no limit for loopback.
  std::optional<std::size_t> max_connections_per_address{};
  std::optional<std::size_t> max_sessions{};  ///< Sessions of legacy clients. nullopt: `max_connections`, at most 16384.
  std::optional<std::size_t> max_sessions_per_address{};      ///< nullopt: a quarter of `max_sessions`; no limit for loopback.
  std::chrono::milliseconds header_timeout{10'000};           ///< For the whole header of a request.
  std::chrono::milliseconds body_timeout{300'000};            ///< For the whole body of a request.
  std::chrono::milliseconds keep_alive_timeout{60'000};       ///< Between two requests on a connection.
  std::chrono::milliseconds session_idle_timeout{1'800'000};  ///< After this time without a request or stream, a session ends.
  std::optional<unsigned> threads{};                          ///< nullopt: one per processor, at most 4.
};

/// A listening HTTP server with `/mcp`, `/healthz`, `/readyz` and `/metrics`. The destructor stops it at once.
class http_service {
 public:
  /// Binds the addresses, and serves on its own threads until the `http_service` is drained or destroyed.
  ///
  /// Errors: invalid_argument for an address that is malformed or not allowed, for malformed hosts, origins and proxies, and
  /// for a limit or timeout of 0.
  /// source_unavailable if an address cannot be bound; the text says if the port is in use. For TLS, those of
  /// `reload_certificates`.
  [[nodiscard]] static result<http_service> start(server& server, http_options options = {});
  ~http_service();
  http_service(http_service&&) noexcept;
  http_service& operator=(http_service&&) noexcept;

  /// Returns the port for messages; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Returns the port of `http_options::admin_address`; 0 if there is none.
  [[nodiscard]] std::uint16_t admin_port() const noexcept;
  /// Reads the files of `http_options::tls` again. New connections use them. Existing connections stay, except those of clients
  /// whose certificate authority was removed. Without TLS, does nothing. Errors: invalid_argument with file and reason; then
  /// the old files stay in use. Threads: any.
  [[nodiscard]] result<void> reload_certificates();
  /// Stops the service: reports that it is not ready, accepts no more connections, waits up to `timeout` for running requests,
  /// and closes all connections. Blocks.
  void drain(std::chrono::milliseconds timeout);

 private:
  struct state;
  explicit http_service(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
