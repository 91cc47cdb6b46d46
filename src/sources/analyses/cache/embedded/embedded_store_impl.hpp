/// The class behind the SQLite store of analyses, with its tables and prepared statements.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "os/sqlite/database_file.hpp"
#include "os/sqlite/sqlite.hpp"
#include "sources/analyses/cache/embedded/embedded_store.hpp"

namespace hondana::analyses {

/// The name of the file's kind in errors.
inline constexpr const char* store_name = "store of analyses";

[[nodiscard]] const sqlite::file_kind& store_file_kind() noexcept;

/// A running statement. The destructor resets it for reuse.
class running_statement {
 public:
  explicit running_statement(sqlite::statement& statement) noexcept : statement_(&statement) {}
  running_statement(running_statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  running_statement& operator=(running_statement&&) = delete;
  ~running_statement() {
    if (statement_ != nullptr) statement_->reset();
  }
  sqlite::statement* operator->() const noexcept { return statement_; }

 private:
  sqlite::statement* statement_;
};

/// A connection with its prepared statements. Threads: one at a time.
struct store_connection {
  sqlite::connection database{};
  std::map<const char*, sqlite::statement> statements{};  ///< By the address of their text, which is a literal.

  [[nodiscard]] result<running_statement> prepare(const char* sql) {
    if (const auto cached = statements.find(sql); cached != statements.end()) return running_statement(cached->second);
    HONDANA_TRY(auto statement, database.prepare(sql));
    return running_statement(statements.emplace(sql, std::move(statement)).first->second);
  }
};

/// The store. One connection writes, and each concurrent reader has its own. In memory there is only the writer's.
class embedded_store final : public analysis_store {
 public:
  explicit embedded_store(embedded_options options);
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
  /// A connection with a transaction, for one reader at a time. The destructor returns it. In memory it is the writer's, which
  /// the reader locks.
  class reader;
  /// The row of the table `state`, which a write reads at its beginning and updates at its end.
  struct state_row {
    std::int64_t now = 0;
    std::int64_t system_time = 0;
    std::int64_t token = 0;
    std::int64_t last_change = 0;
    std::int64_t entries = 0;
    std::int64_t bytes = 0;
    bool is_ahead = false;    ///< The store's time is ahead of the system clock, which was set back.
    bool is_changed = false;  ///< If false, nothing is written.
  };
  /// The store's time and the system's, at one moment.
  struct clock_times {
    std::int64_t now = 0;
    std::int64_t system_time = 0;
    bool is_ahead = false;  ///< As in `state_row`.
  };
  struct entry_row {
    std::int64_t seq = 0;
    analysis_summary summary{};
  };

  /// Runs `work` in one transaction, with the row of the table `state`.
  template <class T>
  [[nodiscard]] result<T> write(const std::function<result<T>(state_row&)>& work);
  [[nodiscard]] result<void> begin_write(state_row& state);
  [[nodiscard]] result<void> commit_write(const state_row& state);

  [[nodiscard]] result<clock_times> read_times(store_connection& connection) const;
  [[nodiscard]] result<std::int64_t> read_now(store_connection& connection) const;
  [[nodiscard]] static result<std::optional<entry_row>> read_row(store_connection& connection, std::int64_t seq);
  [[nodiscard]] static result<std::optional<entry_row>> find_row(store_connection& connection, std::string_view id);
  [[nodiscard]] static result<std::optional<cache_entry>> read_entry(store_connection& connection, std::int64_t seq,
                                                                     std::int64_t now);
  [[nodiscard]] static result<cached_answer> read_answer(store_connection& connection, std::string_view key, std::int64_t now);
  [[nodiscard]] static result<std::vector<std::string>> list_distinct(store_connection& connection, const char* first_sql,
                                                                      const char* next_sql, std::string_view prefix,
                                                                      std::size_t max_count);

  [[nodiscard]] result<entry_row> find_claimed(const claim_ticket& ticket, std::int64_t& lease_expires_at);
  [[nodiscard]] result<void> record_change(state_row& state, store_change::event_kind event, std::string_view id,
                                           std::string_view key);
  [[nodiscard]] result<void> insert(state_row& state, const claim_parameters& parameters, const claim_ticket& ticket);
  [[nodiscard]] result<void> insert_index_rows(std::string_view id, const std::vector<std::string>& tags,
                                               const std::vector<resource_version>& context);
  [[nodiscard]] result<void> replace_body(std::int64_t seq, const std::string& body);
  [[nodiscard]] result<void> delete_claim(std::string_view key);
  /// Deletes the remembered failure of a key.
  [[nodiscard]] result<void> delete_failure(std::string_view key);
  /// Deletes the whole analyses of the same key that the new one replaces. Only a final one replaces a final one.
  [[nodiscard]] result<void> replace_others(state_row& state, std::int64_t seq, const analysis_summary& replacement);
  [[nodiscard]] result<void> remove(state_row& state, const entry_row& row, store_change::event_kind event);
  [[nodiscard]] result<std::uint64_t> remove(state_row& state, const std::vector<std::int64_t>& rows);
  /// The numbers that a statement with one parameter returns.
  [[nodiscard]] result<std::vector<std::int64_t>> query_numbers(const char* sql, std::int64_t parameter);
  struct usage {
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
  };
  /// The analyses that are being computed.
  [[nodiscard]] result<usage> computing_usage();
  /// Errors: overloaded if `bytes` in place of `replaced_bytes` would exceed the limit of analyses being computed.
  [[nodiscard]] result<void> check_capacity(std::size_t bytes, std::uint64_t replaced_bytes);
  /// The whole analyses: their number and bytes.
  [[nodiscard]] result<usage> finished_usage(const state_row& state);
  [[nodiscard]] result<std::vector<std::int64_t>> select_rows(const erase_filter& filter);
  [[nodiscard]] result<std::vector<std::int64_t>> select_outdated(const std::string& uri,
                                                                  const std::vector<std::string>& versions);

  void check_damage(const failure& error) const;
  [[nodiscard]] std::int64_t read_system_time() const;

  const embedded_options options_;
  const bool is_in_memory_;
  mutable std::mutex write_mutex_;
  sqlite::owned_file file_{};
  mutable store_connection writer_{};
  mutable std::atomic<std::int64_t> latest_time_ = 0;  ///< The latest time that this process has reported.
  mutable std::mutex readers_mutex_;
  mutable std::vector<std::unique_ptr<store_connection>> idle_readers_{};
  mutable std::mutex changes_mutex_;
  mutable std::condition_variable_any changes_written_{};
  std::uint64_t write_count_ = 0;  ///< Number of writes by this store.
};

/// Most analyses that one call deletes.
inline constexpr std::size_t max_erased = 10'000;

template <class T>
result<T> embedded_store::write(const std::function<result<T>(state_row&)>& work) {
  const std::lock_guard lock(write_mutex_);
  state_row state;
  const auto started = begin_write(state);
  auto output = started ? work(state) : result<T>(tl::unexpected(started.error()));
  if (output && state.is_changed) {
    if (auto committed = commit_write(state); !committed) {
      check_damage(committed.error());
      return tl::unexpected(std::move(committed.error()));
    }
    return output;
  }
  if (!output) check_damage(output.error());
  if (writer_.database.is_in_transaction()) {
    const auto rolled_back = writer_.database.execute("ROLLBACK");
    static_cast<void>(rolled_back);  // what cannot be rolled back now is rolled back when the file is opened
  }
  return output;
}

class embedded_store::reader {
 public:
  [[nodiscard]] static result<reader> acquire(const embedded_store& store);
  reader(reader&&) noexcept = default;
  reader& operator=(reader&&) = delete;
  ~reader();
  [[nodiscard]] store_connection& connection() const noexcept { return own_connection_ ? *own_connection_ : store_->writer_; }
  /// Returns the error, after checking whether it means that the file is damaged.
  [[nodiscard]] tl::unexpected<failure> report(failure error) const {
    store_->check_damage(error);
    return tl::unexpected(std::move(error));
  }

 private:
  explicit reader(const embedded_store& store) noexcept : store_(&store) {}
  [[nodiscard]] static result<std::unique_ptr<store_connection>> open_read_connection(const embedded_store& store);
  const embedded_store* store_;
  std::unique_ptr<store_connection> own_connection_{};
  std::unique_lock<std::mutex> lock_{};
};

}  // namespace hondana::analyses
