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

/// `sqlite::file_kind::name` of the file, for errors.
inline constexpr const char* store_name = "store of analyses";

[[nodiscard]] const sqlite::file_kind& store_file_kind() noexcept;

/// A prepared statement in use. The destructor resets the statement for reuse.
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
  std::map<const char*, sqlite::statement> statements{};  ///< By the address of their SQL.

  /// Returns the statement with this SQL. `sql`: a string literal. The statement must not be in use.
  [[nodiscard]] result<running_statement> prepare(const char* sql) {
    if (const auto cached = statements.find(sql); cached != statements.end()) return running_statement(cached->second);
    HONDANA_TRY(auto statement, database.prepare(sql));
    return running_statement(statements.emplace(sql, std::move(statement)).first->second);
  }
};

/// The store. One connection writes, and each concurrent reader has a connection of its own. In memory, all use the same one.
class embedded_store final : public analysis_store {
 public:
  explicit embedded_store(embedded_options options);
  /// Opens the file. Call it once, before all other functions. Errors: as `open_embedded`.
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
  // All times are in milliseconds since 1970.

  /// A connection for one reader, in a read transaction. The destructor ends the transaction and makes the connection idle. In
  /// memory, the reader locks the writer's connection instead.
  class reader;
  /// The row of the table `state`, which a write reads at its beginning and updates at its end.
  struct state_row {
    std::int64_t now = 0;          ///< The store's time.
    std::int64_t system_time = 0;  ///< The system clock at the same moment.
    std::int64_t token = 0;        ///< Of the last claim: `claim_ticket::token`.
    std::int64_t last_change = 0;  ///< `store_change::number` of the last change.
    std::int64_t entries = 0;      ///< Number of analyses.
    std::int64_t bytes = 0;        ///< Of all bodies.
    bool is_ahead = false;         ///< The store's time is ahead of the system clock, which was set back.
    bool is_changed = false;       ///< Set by a write that must be committed.
  };
  /// The store's time and the system clock at the same moment.
  struct clock_times {
    std::int64_t now = 0;
    std::int64_t system_time = 0;
    bool is_ahead = false;  ///< As in `state_row`.
  };
  struct entry_row {
    std::int64_t seq = 0;  ///< Key of the row in the table `entries`.
    analysis_summary summary{};
  };

  /// Runs `work` in one write transaction. Commits if `work` succeeds and sets `is_changed`; otherwise undoes its writes.
  template <class T>
  [[nodiscard]] result<T> write(const std::function<result<T>(state_row&)>& work);
  [[nodiscard]] result<void> begin_write(state_row& state);
  [[nodiscard]] result<void> commit_write(const state_row& state);

  [[nodiscard]] result<clock_times> read_times(store_connection& connection) const;
  /// Returns the store's time.
  [[nodiscard]] result<std::int64_t> read_now(store_connection& connection) const;
  // nullopt: the analysis does not exist.
  [[nodiscard]] static result<std::optional<entry_row>> read_row(store_connection& connection, std::int64_t seq);
  [[nodiscard]] static result<std::optional<entry_row>> find_row(store_connection& connection, std::string_view id);
  [[nodiscard]] static result<std::optional<cache_entry>> read_entry(store_connection& connection, std::int64_t seq,
                                                                     std::int64_t now);
  /// `key`: `question_key::digest`.
  [[nodiscard]] static result<cached_answer> read_answer(store_connection& connection, std::string_view key, std::int64_t now);
  /// Lists different names with this prefix. `first_sql` selects the first name from ?1 on, `next_sql` the first name after ?1.
  [[nodiscard]] static result<std::vector<std::string>> list_distinct(store_connection& connection, const char* first_sql,
                                                                      const char* next_sql, std::string_view prefix,
                                                                      std::size_t max_count);

  /// Finds the analysis of a valid ticket. `lease_expires_at`: receives the end of the lease. Errors: access_denied.
  [[nodiscard]] result<entry_row> find_claimed(const claim_ticket& ticket, std::int64_t& lease_expires_at);
  /// Adds a `store_change`, and sets `is_changed`. `key`: `question_key::digest`.
  [[nodiscard]] result<void> record_change(state_row& state, store_change::event_kind event, std::string_view id,
                                           std::string_view key);
  /// Inserts a claim and its initial analysis. Errors: also overloaded.
  [[nodiscard]] result<void> insert(state_row& state, const claim_parameters& parameters, const claim_ticket& ticket);
  /// Inserts the rows by which the analysis is found: by tag, and by resource.
  [[nodiscard]] result<void> insert_index_rows(std::string_view id, const std::vector<std::string>& tags,
                                               const std::vector<resource_version>& context);
  [[nodiscard]] result<void> replace_body(std::int64_t seq, const std::string& body);
  [[nodiscard]] result<void> delete_claim(std::string_view key);
  /// Deletes the remembered failure of a question.
  [[nodiscard]] result<void> delete_failure(std::string_view key);
  /// Deletes the other whole analyses of the question. `seq`: of `replacement`, which only replaces a final one if it is final.
  [[nodiscard]] result<void> replace_others(state_row& state, std::int64_t seq, const analysis_summary& replacement);
  /// Deletes an analysis, and its claim if it is being computed. Records `event`.
  [[nodiscard]] result<void> remove(state_row& state, const entry_row& row, store_change::event_kind event);
  /// Deletes analyses, and returns how many existed. `rows`: `entry_row::seq`.
  [[nodiscard]] result<std::uint64_t> remove(state_row& state, const std::vector<std::int64_t>& rows);
  /// Returns the first column of at most `max_erased` + 1 rows. `sql`: ?1 is `parameter`, ?2 the limit.
  [[nodiscard]] result<std::vector<std::int64_t>> query_numbers(const char* sql, std::int64_t parameter);
  struct usage {
    std::uint64_t bytes = 0;    ///< Of bodies.
    std::uint64_t entries = 0;  ///< Number of analyses.
  };
  /// The usage of analyses that are being computed.
  [[nodiscard]] result<usage> computing_usage();
  /// Checks whether a body of `bytes` may replace one of `replaced_bytes`. Errors: overloaded: `max_computing_bytes` is
  /// reached.
  [[nodiscard]] result<void> check_capacity(std::size_t bytes, std::uint64_t replaced_bytes);
  /// The usage of whole analyses.
  [[nodiscard]] result<usage> finished_usage(const state_row& state);
  // Return `entry_row::seq` of the analyses to delete, and more than `max_erased` if there are more.
  [[nodiscard]] result<std::vector<std::int64_t>> select_rows(const erase_filter& filter);
  [[nodiscard]] result<std::vector<std::int64_t>> select_outdated(const std::string& uri,
                                                                  const std::vector<std::string>& versions);

  /// If the error means that the file is damaged, marks the file, so that the next opening checks all of it.
  void check_damage(const failure& error) const;
  [[nodiscard]] std::int64_t read_system_time() const;

  const embedded_options options_;
  const bool is_in_memory_;
  mutable std::mutex write_mutex_;  ///< Protects `writer_`.
  sqlite::owned_file file_{};       ///< Its `writer` was moved into `writer_`.
  mutable store_connection writer_{};
  mutable std::atomic<std::int64_t> latest_time_ = 0;  ///< The latest store time that this object has returned.
  mutable std::mutex readers_mutex_;
  mutable std::vector<std::unique_ptr<store_connection>> idle_readers_{};
  mutable std::mutex changes_mutex_;
  mutable std::condition_variable_any changes_written_{};
  std::uint64_t write_count_ = 0;  ///< Number of writes by this store.
};

/// Maximum number of analyses that one call of `erase` deletes. `sweep` may delete slightly more.
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
  /// Takes an idle connection, or opens one. In memory, waits for the writer.
  [[nodiscard]] static result<reader> acquire(const embedded_store& store);
  reader(reader&&) noexcept = default;
  reader& operator=(reader&&) = delete;
  ~reader();
  [[nodiscard]] store_connection& connection() const noexcept { return own_connection_ ? *own_connection_ : store_->writer_; }
  /// Calls `check_damage`, and returns the error.
  [[nodiscard]] tl::unexpected<failure> report(failure error) const {
    store_->check_damage(error);
    return tl::unexpected(std::move(error));
  }

 private:
  explicit reader(const embedded_store& store) noexcept : store_(&store) {}
  [[nodiscard]] static result<std::unique_ptr<store_connection>> open_read_connection(const embedded_store& store);
  const embedded_store* store_;
  std::unique_ptr<store_connection> own_connection_{};  ///< Null: in memory.
  std::unique_lock<std::mutex> lock_{};                 ///< Locks `write_mutex_` in memory.
};

}  // namespace hondana::analyses
