/// The class behind the Redis store of analyses.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sources/analyses/cache/redis/lua_scripts.hpp"
#include "sources/analyses/cache/redis/redis_connection.hpp"
#include "sources/analyses/cache/redis/redis_store.hpp"

namespace hondana::analyses {

/// The store, with a pool of 16 connections. Each is used by one caller at a time. While all are in use, callers wait.
class redis_store final : public analysis_store {
 public:
  /// `tls`: null without TLS.
  redis_store(redis_options options, redis_address address, tls_context tls);
  /// Connects, and checks the server. Call it once, before all other functions. Errors: as `open_redis`.
  [[nodiscard]] result<void> open();

  [[nodiscard]] result<instant> now() const override;
  [[nodiscard]] result<cached_answer> look_up(const question_key& key) const override;
  [[nodiscard]] result<std::optional<cache_entry>> get(std::string_view id) const override;
  [[nodiscard]] result<std::optional<analysis_summary>> get_summary(std::string_view id) const override;
  [[nodiscard]] result<summary_page> list(const list_filter& filter, std::string_view after_id,
                                          std::size_t max_count) const override;
  [[nodiscard]] result<std::vector<std::string>> list_names(name_kind kind, std::string_view prefix,
                                                            std::size_t max_count) const override;
  [[nodiscard]] result<std::vector<resource_version>> list_resource_versions(std::string_view after_uri,
                                                                             std::size_t max_count) const override;
  [[nodiscard]] result<resource_page> list_by_resource(std::string_view uri, const resource_position& after_position,
                                                       std::size_t max_count) const override;
  [[nodiscard]] result<claim_result> claim(const claim_parameters& parameters) override;
  [[nodiscard]] result<instant> renew(const claim_ticket& ticket, milliseconds lease_ttl) override;
  [[nodiscard]] result<analysis_summary> put(const claim_ticket& ticket, const put_parameters& parameters) override;
  [[nodiscard]] result<void> fail(const claim_ticket& ticket, std::string_view reason, milliseconds failure_ttl) override;
  [[nodiscard]] result<erase_result> erase(const erase_filter& filter) override;
  [[nodiscard]] result<erase_result> sweep(const store_limits& limits) override;
  [[nodiscard]] result<void> add_statistics(const statistics& additions) override;
  [[nodiscard]] result<statistics> read_statistics() const override;
  [[nodiscard]] result<store_info> read_info() const override;
  [[nodiscard]] result<change_batch> changes_since(std::uint64_t after_number, milliseconds timeout,
                                                   const std::stop_token& stop) const override;

 private:
  /// A connection for one caller. The destructor returns it to the pool, or closes it after an error.
  class connection_lease;
  /// Whether a command may be sent again after its connection was lost.
  enum class retry_mode : std::uint8_t {
    safe,   ///< Always: executing the command twice has the same effect as once.
    unsafe  ///< Only if no part of the command was sent.
  };
  using argument_list = std::vector<std::string_view>;

  /// Takes an idle connection, or opens one. Errors: overloaded: all are in use; those of `redis_connection::open`.
  [[nodiscard]] result<connection_lease> acquire() const;
  /// Sends a command, and sends it again at most once if the connection is lost. If the server rejects the command, this is a
  /// reply (`redis_reply::is_error`), not an error. `extra_timeout`: added to `redis_options::timeout`.
  [[nodiscard]] result<redis_reply> execute(const argument_list& arguments, retry_mode mode,
                                            milliseconds extra_timeout = {}) const;
  /// Runs a script like `execute`. `arguments`: ARGV. Errors: also source_unavailable if the server rejects the script.
  [[nodiscard]] result<redis_reply> run_script(script id, const argument_list& arguments, retry_mode mode) const;
  /// Sends a command once. `may_retry`: in: the mode is `safe`; out, after an error: the command may be sent again.
  [[nodiscard]] result<redis_reply> try_once(const argument_list& arguments, milliseconds extra_timeout, bool& may_retry) const;
  /// Checks version, format and settings of the server, and loads the scripts.
  [[nodiscard]] result<void> inspect_server();
  /// Returns a setting of the server. Empty: this user may not read it.
  [[nodiscard]] result<std::string> read_setting(const char* name) const;
  /// Converts the reply of a script that rejected a ticket or an analysis.
  [[nodiscard]] static tl::unexpected<failure> ticket_failure(const redis_reply& reply);
  void log(std::string_view line) const;

  const redis_options options_;
  const redis_address address_;
  const tls_context tls_;
  const std::string key_root_;                              ///< Prefix of all Redis keys.
  std::array<std::string, script_count> script_digests_{};  ///< For EVALSHA, by `script`.
  mutable std::mutex pool_mutex_;
  mutable std::condition_variable connection_released_;
  mutable std::vector<std::unique_ptr<redis_connection>> idle_connections_{};
  mutable std::size_t used_connections_ = 0;  ///< Including those being opened.
};

/// Decodes {id, {fields}, body} from a script's reply. nullopt: the reply is null. `now`: the store's time in milliseconds
/// since 1970.
[[nodiscard]] std::optional<cache_entry> decode_entry(const redis_reply& reply, std::int64_t now);
/// `fields`: those of the Lua function `summary`.
[[nodiscard]] analysis_summary decode_summary(const redis_reply& id, const redis_reply& fields);
/// Decodes the reply of the script `look_up`.
[[nodiscard]] cached_answer decode_answer(const redis_reply& reply);

}  // namespace hondana::analyses
