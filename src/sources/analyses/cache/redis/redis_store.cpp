/// The store of analyses in Redis: the connection pool, look-ups, lists and change events.
#include "sources/analyses/cache/redis/redis_store.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/redis/redis_store_impl.hpp"

namespace hondana::analyses {
namespace {

constexpr std::size_t max_connections = 16;
constexpr std::size_t max_idle_connections = 8;

/// Whether a version such as "7.0.15" is 6.2 or newer.
bool is_supported_version(std::string_view info) {
  static constexpr std::string_view name = "redis_version:";
  const auto position = info.find(name);
  if (position == std::string_view::npos) return true;  // a server that only claims to be Redis
  int major = 0, minor = 0;
  const auto version = info.substr(position + name.size());
  const auto* const end = version.data() + version.size();
  const auto dot = std::from_chars(version.data(), end, major).ptr;
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  return major > 6 || (major == 6 && minor >= 2);
}

}  // namespace

class redis_store::connection_lease {
 public:
  explicit connection_lease(const redis_store& store) noexcept : store_(&store) {}
  connection_lease(connection_lease&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), connection_(std::move(other.connection_)) {}
  connection_lease& operator=(connection_lease&&) = delete;
  ~connection_lease() {
    if (store_ == nullptr) return;
    const std::lock_guard lock(store_->pool_mutex_);
    --store_->used_connections_;
    if (connection_ && store_->idle_connections_.size() < max_idle_connections)
      store_->idle_connections_.push_back(std::move(connection_));
    store_->connection_released_.notify_one();
  }
  void assign(std::unique_ptr<redis_connection> connection) { connection_ = std::move(connection); }
  void discard() { connection_.reset(); }
  [[nodiscard]] redis_connection* get() const noexcept { return connection_.get(); }

 private:
  const redis_store* store_;
  std::unique_ptr<redis_connection> connection_{};
};

redis_store::redis_store(redis_options options, redis_address address, tls_context tls)
    : options_(std::move(options)),
      address_(std::move(address)),
      tls_(std::move(tls)),
      key_root_('{' + options_.prefix + "}:analyses:") {}

void redis_store::log(std::string_view line) const {
  if (options_.log) options_.log(line);
}

result<redis_store::connection_lease> redis_store::acquire() const {
  std::unique_lock lock(pool_mutex_);
  if (!monotonic_clock::wait_for(connection_released_, lock, options_.timeout,
                                 [this] { return used_connections_ < max_connections; })) {
    return hondana::fail(errc::overloaded,
                         "all connections to " + address_.display_name + ", where analyses are stored, are busy; retry later");
  }
  ++used_connections_;
  connection_lease out(*this);
  while (!idle_connections_.empty() && out.get() == nullptr) {
    auto idle = std::move(idle_connections_.back());
    idle_connections_.pop_back();
    if (idle->is_reusable()) out.assign(std::move(idle));
  }
  lock.unlock();
  if (out.get() != nullptr) return out;
  HONDANA_TRY(auto connection, redis_connection::open(address_, options_, tls_.get()));
  out.assign(std::make_unique<redis_connection>(std::move(connection)));
  return out;
}

result<redis_reply> redis_store::try_once(const argument_list& arguments, milliseconds extra_timeout, bool& may_retry) const {
  auto lease = acquire();
  if (!lease) {
    may_retry = false;  // no connection is available
    return tl::unexpected(std::move(lease.error()));
  }
  auto reply = lease->get()->execute(arguments, extra_timeout);
  if (reply) return reply;
  may_retry = may_retry || !lease->get()->was_sent();
  if (reply.error().code == errc::timed_out) may_retry = false;
  lease->discard();
  return reply;
}

result<redis_reply> redis_store::execute(const argument_list& arguments, retry_mode mode, milliseconds extra_timeout) const {
  bool may_retry = mode == retry_mode::safe;
  auto reply = try_once(arguments, extra_timeout, may_retry);
  // The server may have been restarted since.
  if (!reply && may_retry) reply = try_once(arguments, extra_timeout, may_retry);
  return reply;
}

result<redis_reply> redis_store::run_script(script id, const argument_list& arguments, retry_mode mode) const {
  argument_list command{"EVALSHA", script_digests_[static_cast<std::size_t>(id)], "1", key_root_};
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto reply = execute(command, mode);
  if (reply && reply->is_error() && reply->text.starts_with("NOSCRIPT")) {
    // The server was restarted, or its scripts were flushed. Nothing was executed.
    command[0] = "EVAL";
    command[1] = script_text(id);
    reply = execute(command, mode);
  }
  if (reply && reply->is_error()) return server_failure(address_.display_name, *reply);
  return reply;
}

result<std::string> redis_store::read_setting(const char* name) const {
  auto reply = execute({"CONFIG", "GET", name}, retry_mode::safe);
  if (!reply) return tl::unexpected(std::move(reply.error()));
  return reply->at(1).text;
}

result<void> redis_store::inspect_server() {
  HONDANA_TRY(const auto info, execute({"INFO", "server"}, retry_mode::safe));
  if (info.is_error() && !info.text.starts_with("NOPERM")) return server_failure(address_.display_name, info);
  if (!info.is_error() && !is_supported_version(info.text))
    return hondana::fail(errc::source_unavailable,
                         address_.display_name + " is older than Redis 6.2; analyses require 6.2 or newer");
  for (std::size_t i = 0; i < script_digests_.size(); ++i) {
    HONDANA_TRY(const auto loaded, execute({"SCRIPT", "LOAD", script_text(static_cast<script>(i))}, retry_mode::safe));
    if (loaded.is_error()) return server_failure(address_.display_name, loaded);
    script_digests_[i] = loaded.text;
  }
  // Only a claim writes the format. So a server without free memory can still be opened, to read and to delete.
  const auto format_key = key_root_ + "form";
  HONDANA_TRY(const auto stored_format, execute({"GET", format_key}, retry_mode::safe));
  if (stored_format.is_error()) return server_failure(address_.display_name, stored_format);
  if (!stored_format.is_null() && stored_format.text != key_format)
    return hondana::fail(errc::source_unavailable,
                         "the analyses in " + address_.display_name + " with the prefix " + options_.prefix +
                             " were written by a newer version of hondana; upgrade hondana, or set another redis_prefix");
  // Needs no memory, so a full server accepts it.
  HONDANA_TRY(const auto write_probe, execute({"DEL", key_root_ + "none"}, retry_mode::safe));
  if (write_probe.is_error())
    log(address_.display_name + " rejects writes of this user, so analyses are read-only: " + write_probe.text);
  const auto append_only = read_setting("appendonly"), fsync_mode = read_setting("appendfsync"),
             eviction_policy = read_setting("maxmemory-policy");
  if (!append_only || !fsync_mode || !eviction_policy)
    return tl::unexpected((!append_only ? append_only : !fsync_mode ? fsync_mode : eviction_policy).error());
  if (append_only->empty()) {
    log("cannot check whether " + address_.display_name +
        " persists acknowledged writes: this user may not read its configuration");
    return {};
  }
  if (*append_only != "yes") {
    log(address_.display_name +
        " has no append-only file: analyses are lost when it stops; set appendonly yes and appendfsync always");
  } else if (*fsync_mode != "always") {
    log(address_.display_name + " acknowledges writes before it syncs them (appendfsync " + *fsync_mode +
        "): a crash loses the last seconds; set appendfsync always");
  }
  if (!eviction_policy->empty() && *eviction_policy != "noeviction")
    log(address_.display_name + " evicts keys by itself (maxmemory-policy " + *eviction_policy +
        "), also parts of analyses; set noeviction");
  return {};
}

result<void> redis_store::open() {
  HONDANA_TRY(inspect_server());
  HONDANA_TRY(now());
  return {};
}

result<instant> redis_store::now() const {
  HONDANA_TRY(const auto reply, execute({"TIME"}, retry_mode::safe));
  if (reply.is_error()) return server_failure(address_.display_name, reply);
  return instant(milliseconds(reply.at(0).as_integer() * 1000 + reply.at(1).as_integer() / 1000));
}

result<std::shared_ptr<analysis_store>> open_redis(redis_options options) {
  HONDANA_TRY(validate(options));
  HONDANA_TRY(auto address, parse_redis_url(options.url));
  tls_context tls;
  if (address.uses_tls) {
    HONDANA_TRY(auto context, make_client_context(options));
    tls = std::move(context);
  }
  auto store = std::make_shared<redis_store>(std::move(options), std::move(address), std::move(tls));
  HONDANA_TRY(store->open());
  return std::shared_ptr<analysis_store>(std::move(store));
}

namespace {

constexpr milliseconds max_block{100};
constexpr std::size_t max_page_size = 1000;
constexpr std::size_t max_scanned_entries = 10'000;
/// Separates a version of a resource from the id of an analysis based on it.
constexpr char version_separator = '\x1f';

instant decode_time(const redis_reply& reply) { return instant(milliseconds(reply.as_integer())); }

template <class Enum>
Enum decode_enum(const redis_reply& reply) {
  return static_cast<Enum>(std::clamp<std::int64_t>(reply.as_integer(), 0, 2));
}

bool has_tag(std::string_view tags, std::string_view tag) {
  while (!tags.empty()) {
    const auto end = std::min(tags.find('\n'), tags.size());
    if (tags.substr(0, end) == tag) return true;
    tags.remove_prefix(std::min(end + 1, tags.size()));
  }
  return false;
}

}  // namespace

analysis_summary decode_summary(const redis_reply& id, const redis_reply& fields) {
  analysis_summary out;
  out.id = id.text;
  out.key = {fields.at(0).text, fields.at(1).text};
  out.status = decode_enum<analysis_status>(fields.at(2));
  out.task = decode_enum<task_type>(fields.at(3));
  out.title = fields.at(4).text;
  out.session = fields.at(5).text;
  out.created_at = decode_time(fields.at(6));
  out.changed_at = decode_time(fields.at(7));
  out.expires_at = decode_time(fields.at(8));
  out.removed_at = decode_time(fields.at(9));
  out.confidence = fields.at(10).as_double();
  out.agreement = fields.at(11).as_double();
  out.cost = fields.at(12).as_double();
  out.duration = milliseconds(fields.at(13).as_integer());
  out.rounds = static_cast<std::uint32_t>(fields.at(14).as_integer());
  out.providers = static_cast<std::uint32_t>(fields.at(15).as_integer());
  out.bytes = static_cast<std::uint64_t>(fields.at(16).as_integer());
  out.version = static_cast<std::uint64_t>(fields.at(17).as_integer());
  return out;
}

std::optional<cache_entry> decode_entry(const redis_reply& reply, std::int64_t now) {
  if (reply.is_null()) return std::nullopt;
  cache_entry out;
  out.summary = decode_summary(reply.at(0), reply.at(1));
  out.body = reply.at(2).text;
  out.is_stale = out.summary.status == analysis_status::complete && out.summary.expires_at <= instant(milliseconds(now));
  return out;
}

cached_answer decode_answer(const redis_reply& reply) {
  cached_answer out;
  out.entry = decode_entry(reply.at(1), reply.at(0).as_integer());
  const bool is_fresh = out.entry && !out.entry->is_stale;
  if (const auto& claim = reply.at(2); !is_fresh && !claim.is_null())
    out.claim = cached_answer::claim_holder{claim.at(0).text, claim.at(1).text, decode_time(claim.at(2))};
  const auto& failure_reply = reply.at(3);
  out.status = is_fresh                   ? cached_answer::cache_status::fresh
               : out.entry                ? cached_answer::cache_status::stale
               : out.claim                ? cached_answer::cache_status::computing
               : !failure_reply.is_null() ? cached_answer::cache_status::failed
                                          : cached_answer::cache_status::missing;
  if (!failure_reply.is_null()) {
    out.failure_reason = failure_reply.at(0).text;
    out.failure_expires_at = decode_time(failure_reply.at(1));
  }
  return out;
}

result<cached_answer> redis_store::look_up(const question_key& key) const {
  HONDANA_TRY(const auto reply, run_script(script::look_up, {key.digest}, retry_mode::safe));
  return decode_answer(reply);
}

result<std::optional<cache_entry>> redis_store::get(std::string_view id) const {
  if (!is_id(id)) return std::nullopt;
  HONDANA_TRY(const auto reply, run_script(script::get, {id, "1"}, retry_mode::safe));
  return decode_entry(reply.at(1), reply.at(0).as_integer());
}

result<std::optional<analysis_summary>> redis_store::get_summary(std::string_view id) const {
  if (!is_id(id)) return std::nullopt;
  HONDANA_TRY(const auto reply, run_script(script::get, {id, "0"}, retry_mode::safe));
  if (reply.is_null()) return std::nullopt;
  return decode_summary(reply.at(1).at(0), reply.at(1).at(1));
}

result<summary_page> redis_store::list(const list_filter& filter, std::string_view after_id, std::size_t max_count) const {
  summary_page out;
  max_count = std::min(max_count, max_page_size);
  if (!after_id.empty() && !is_id(after_id))
    return hondana::fail(errc::invalid_argument, "a page of analyses starts after an id of 32 hexadecimal digits");
  std::string_view set_prefix, set_name;
  if (!filter.key.empty()) {
    set_prefix = "k:";
    set_name = filter.key;
  } else if (!filter.prompt_digest.empty()) {
    set_prefix = "p:";
    set_name = filter.prompt_digest;
  } else if (!filter.tag.empty()) {
    set_prefix = "t:";
    set_name = filter.tag;
  } else if (!filter.session.empty()) {
    set_prefix = "s:";
    set_name = filter.session;
  }
  out.next = after_id;
  const auto fetch_count = std::to_string(max_count + 1);
  for (std::size_t scanned = 0; scanned < max_scanned_entries;) {
    const auto start_after = out.next;
    HONDANA_TRY(const auto reply, run_script(script::list, {set_prefix, set_name, start_after, fetch_count}, retry_mode::safe));
    const auto now = decode_time(reply.at(0));
    const auto& rows = reply.at(1).elements;
    for (const auto& row : rows) {
      if (out.summaries.size() == max_count) {
        out.is_last = false;
        return out;
      }
      out.next = row.at(0).text;
      if (row.at(1).is_null()) continue;
      auto summary = decode_summary(row.at(0), row.at(1));
      const bool matches_filter = summary.removed_at > now && (!filter.task || *filter.task == summary.task) &&
                                  (filter.session.empty() || filter.session == summary.session) &&
                                  (filter.prompt_digest.empty() || filter.prompt_digest == summary.key.prompt_digest) &&
                                  (filter.key.empty() || filter.key == summary.key.digest) &&
                                  (filter.tag.empty() || has_tag(row.at(2).text, filter.tag));
      if (matches_filter) out.summaries.push_back(std::move(summary));
    }
    if (rows.size() <= max_count) return out;
    scanned += rows.size();
  }
  out.is_last = false;
  return out;
}

result<std::vector<std::string>> redis_store::list_names(name_kind kind, std::string_view prefix, std::size_t max_count) const {
  const auto count = std::to_string(std::min(max_count, max_page_size));
  std::vector<std::string> out;
  if (kind == name_kind::id) {
    const auto reply = run_script(script::ids, {prefix, count}, retry_mode::safe);
    if (!reply) return tl::unexpected(reply.error());
    for (const auto& id : reply->elements) out.push_back(id.text);
    return out;
  }
  const auto set = key_root_ + (kind == name_kind::session ? "sessions" : kind == name_kind::tag ? "tags" : "providers");
  const auto lower_bound = '[' + std::string(prefix);
  const auto reply = execute({"ZRANGEBYLEX", set, lower_bound, "+", "LIMIT", "0", count}, retry_mode::safe);
  if (!reply) return tl::unexpected(reply.error());
  if (reply->is_error()) return server_failure(address_.display_name, *reply);
  for (const auto& name : reply->elements) {
    if (!name.text.starts_with(prefix)) break;
    out.push_back(name.text);
  }
  return out;
}

result<std::vector<resource_version>> redis_store::list_resource_versions(std::string_view after_uri,
                                                                          std::size_t max_count) const {
  const auto count = std::to_string(std::min(max_count, max_page_size));
  const auto reply = run_script(script::resource_versions, {after_uri, count}, retry_mode::safe);
  if (!reply) return tl::unexpected(reply.error());
  std::vector<resource_version> out;
  for (const auto& resource : reply->elements) {
    if (out.size() >= max_count) break;
    for (const auto& version : resource.at(1).elements) out.push_back({resource.at(0).text, version.text});
  }
  return out;
}

result<analysis_store::resource_page> redis_store::list_by_resource(std::string_view uri,
                                                                    const resource_position& after_position,
                                                                    std::size_t max_count) const {
  max_count = std::min(max_count, max_page_size);
  const auto fetch_count = std::to_string(max_count + 1);
  const auto start_after =
      after_position.id.empty() ? std::string() : after_position.version + version_separator + after_position.id;
  HONDANA_TRY(const auto reply, run_script(script::by_resource, {uri, start_after, fetch_count}, retry_mode::safe));
  resource_page out;
  const auto& rows = reply.at(1).elements;
  out.is_last = rows.size() <= max_count;
  for (std::size_t i = 0; i < std::min(rows.size(), max_count); ++i) {
    const auto& row = rows[i];
    const auto& member = row.at(0).text;
    out.next = {member.substr(0, std::min(member.find(version_separator), member.size())), row.at(1).text};
    if (!row.at(2).is_null()) out.summaries.push_back(decode_summary(row.at(1), row.at(2)));
  }
  return out;
}

result<store_info> redis_store::read_info() const {
  HONDANA_TRY(const auto reply, run_script(script::info, {}, retry_mode::safe));
  store_info out;
  out.location = address_.display_name + ", " + options_.prefix;
  out.entries = static_cast<std::uint64_t>(reply.at(0).as_integer());
  out.bytes = static_cast<std::uint64_t>(reply.at(1).as_integer());
  out.claims = static_cast<std::uint64_t>(reply.at(2).as_integer());
  if (!reply.at(3).is_null()) out.oldest = decode_time(reply.at(3));
  if (!reply.at(4).is_null()) out.newest = decode_time(reply.at(4));
  return out;
}

result<change_batch> redis_store::changes_since(std::uint64_t after_number, milliseconds timeout,
                                                const std::stop_token& stop) const {
  const auto deadline = monotonic_clock::now() + timeout;
  const auto start_after = std::to_string(after_number);
  const auto stream_key = key_root_ + "news";
  const auto last_event_id = start_after + "-0";
  for (;;) {
    const auto reply = run_script(script::changes, {start_after}, retry_mode::safe);
    if (!reply) return tl::unexpected(reply.error());
    change_batch out;
    out.last_number = static_cast<std::uint64_t>(reply->at(0).as_integer());
    std::uint64_t oldest = 0;
    const auto& first_id = reply->at(1).text;
    std::from_chars(first_id.data(), first_id.data() + first_id.size(), oldest);
    // A store that was created again counts changes from 1.
    out.is_complete = after_number == 0 ||
                      (after_number <= out.last_number && (after_number == out.last_number || after_number + 1 >= oldest));
    if (after_number == 0 || !out.is_complete) return out;
    for (const auto& item : reply->at(2).elements) {
      const auto& number = item.at(0).text;
      const auto& fields = item.at(1);
      store_change change;
      std::from_chars(number.data(), number.data() + number.size(), change.number);
      change.event = static_cast<store_change::event_kind>(std::clamp<std::int64_t>(fields.at(1).as_integer(), 0, 4));
      change.id = fields.at(3).text;
      change.key = fields.at(5).text;
      out.changes.push_back(std::move(change));
    }
    if (!out.changes.empty()) {
      out.last_number = out.changes.back().number;
      return out;
    }
    const auto remaining = std::chrono::duration_cast<milliseconds>(deadline - monotonic_clock::now());
    if (remaining <= milliseconds(0) || stop.stop_requested()) return out;
    const auto block = std::to_string(std::max<std::int64_t>(1, std::min(remaining, max_block).count()));
    HONDANA_TRY(const auto block_reply, execute({"XREAD", "BLOCK", block, "COUNT", "1", "STREAMS", stream_key, last_event_id},
                                                retry_mode::safe, max_block));
    if (block_reply.is_error()) return server_failure(address_.display_name, block_reply);
  }
}

}  // namespace hondana::analyses
