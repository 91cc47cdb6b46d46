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
inline constexpr const char* what_a_store_is = "store of analyses";

[[nodiscard]] const sqlite::file_kind& kind_of_file() noexcept;

/// A running statement. The destructor resets it for reuse.
class asked {
 public:
  explicit asked(sqlite::statement& which) noexcept : which_(&which) {}
  asked(asked&& other) noexcept : which_(std::exchange(other.which_, nullptr)) {}
  asked& operator=(asked&&) = delete;
  ~asked() {
    if (which_ != nullptr) which_->reset();
  }
  sqlite::statement* operator->() const noexcept { return which_; }

 private:
  sqlite::statement* which_;
};

/// A connection with its prepared statements. Threads: one at a time.
struct opened_file {
  sqlite::connection on{};
  std::map<const char*, sqlite::statement> known{};  ///< By the address of their text, which is a literal.

  [[nodiscard]] result<asked> ask(const char* sql) {
    if (const auto found = known.find(sql); found != known.end()) return asked(found->second);
    HONDANA_TRY(auto made, on.prepare(sql));
    return asked(known.emplace(sql, std::move(made)).first->second);
  }
};

/// The store. One connection writes, and each concurrent reader has its own. In memory there is only the writer's.
class embedded_store final : public store {
 public:
  explicit embedded_store(embedded_options from);
  [[nodiscard]] result<void> open();

  [[nodiscard]] result<instant> now() const override;
  [[nodiscard]] result<answer> look(const key& of) const override;
  [[nodiscard]] result<std::optional<entry>> get(std::string_view id) const override;
  [[nodiscard]] result<std::optional<summary>> about(std::string_view id) const override;
  [[nodiscard]] result<page> list(const selection& which, std::string_view after, std::size_t most) const override;
  [[nodiscard]] result<std::vector<std::string>> names(naming which, std::string_view prefix, std::size_t most) const override;
  [[nodiscard]] result<std::vector<basis>> bases(std::string_view after, std::size_t most) const override;
  [[nodiscard]] result<based_page> based_on(std::string_view uri, const place_in_based& after, std::size_t most) const override;
  [[nodiscard]] result<claimed> claim(const wish& what) override;
  [[nodiscard]] result<instant> renew(const ticket& by, milliseconds lease) override;
  [[nodiscard]] result<summary> put(const ticket& by, const putting& what) override;
  [[nodiscard]] result<void> fail(const ticket& by, std::string_view why, milliseconds remembered) override;
  [[nodiscard]] result<forgotten> forget(const forgetting& which) override;
  [[nodiscard]] result<forgotten> sweep(const limits& within) override;
  [[nodiscard]] result<void> count(const statistics& more) override;
  [[nodiscard]] result<statistics> counted() const override;
  [[nodiscard]] result<store_facts> facts() const override;
  [[nodiscard]] result<changes> changes_since(std::uint64_t after, milliseconds wait,
                                              const std::stop_token& stop) const override;

 private:
  /// A connection with a transaction, for one reader at a time. The destructor returns it. In memory it is the writer's, which
  /// the reader locks.
  class reader;
  /// The row `state` that a write reads at its beginning and updates at its end.
  struct ledger {
    std::int64_t now = 0;
    std::int64_t system = 0;
    std::int64_t token = 0;
    std::int64_t change = 0;
    std::int64_t entries = 0;
    std::int64_t bytes = 0;
    bool is_ahead = false;    ///< The store's time is ahead of the system clock, which was set back.
    bool is_changed = false;  ///< If false, nothing is written.
  };
  /// The store's time and the system's, at one moment.
  struct times {
    std::int64_t now = 0;
    std::int64_t system = 0;
    bool is_ahead = false;  ///< As in `ledger`.
  };
  struct row {
    std::int64_t seq = 0;
    summary about{};
  };

  /// Runs `work(ledger)` in one transaction.
  template <class T>
  [[nodiscard]] result<T> write(const std::function<result<T>(ledger&)>& work);
  [[nodiscard]] result<void> begin(ledger& into);
  [[nodiscard]] result<void> end(const ledger& from);

  [[nodiscard]] result<times> times_in(opened_file& by) const;
  [[nodiscard]] result<std::int64_t> now_in(opened_file& by) const;
  [[nodiscard]] static result<std::optional<row>> row_at(opened_file& by, std::int64_t seq);
  [[nodiscard]] static result<std::optional<row>> row_of(opened_file& by, std::string_view id);
  [[nodiscard]] static result<std::optional<entry>> entry_at(opened_file& by, std::int64_t seq, std::int64_t now);
  [[nodiscard]] static result<answer> answer_in(opened_file& by, std::string_view of, std::int64_t now);
  [[nodiscard]] static result<std::vector<std::string>> seek(opened_file& by, const char* from, const char* behind,
                                                             std::string_view prefix, std::size_t most);

  [[nodiscard]] result<row> claimed_by(const ticket& by, std::int64_t& until);
  [[nodiscard]] result<void> note(ledger& in, change::kind what, std::string_view id, std::string_view of);
  [[nodiscard]] result<void> insert(ledger& in, const wish& what, const ticket& by);
  [[nodiscard]] result<void> index(std::string_view id, const std::vector<std::string>& tags,
                                   const std::vector<basis>& context);
  [[nodiscard]] result<void> replace_body(std::int64_t seq, const std::string& body);
  [[nodiscard]] result<void> release(std::string_view of);
  /// Deletes the remembered failure of a key.
  [[nodiscard]] result<void> forgive(std::string_view of);
  /// Deletes the whole analyses of the same key that the new one replaces. Only a final one replaces a final one.
  [[nodiscard]] result<void> replace_others(ledger& in, std::int64_t seq, const summary& by);
  [[nodiscard]] result<void> remove(ledger& in, const row& which, change::kind why);
  [[nodiscard]] result<std::uint64_t> remove(ledger& in, const std::vector<std::int64_t>& which);
  /// The numbers that a statement with one parameter returns.
  [[nodiscard]] result<std::vector<std::int64_t>> numbers(const char* sql, std::int64_t with);
  struct amount {
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
  };
  /// The analyses that are being computed.
  [[nodiscard]] result<amount> computed_now();
  /// Errors: overloaded if `bytes` in place of `instead_of` would exceed the limit of analyses being computed.
  [[nodiscard]] result<void> check_room(std::size_t bytes, std::uint64_t instead_of);
  /// The whole analyses: their number and bytes.
  [[nodiscard]] result<amount> whole_of(const ledger& in);
  [[nodiscard]] result<std::vector<std::int64_t>> chosen(const forgetting& which);
  [[nodiscard]] result<std::vector<std::int64_t>> based_on_others(const std::string& uri,
                                                                  const std::vector<std::string>& versions);

  void noticed(const failure& what) const;
  [[nodiscard]] std::int64_t system_now() const;

  const embedded_options options_;
  const bool is_in_memory_;
  mutable std::mutex writing_;
  sqlite::owned_file file_{};
  mutable opened_file writer_{};
  mutable std::atomic<std::int64_t> seen_ = 0;  ///< The latest time that this process has reported.
  mutable std::mutex reading_;
  mutable std::vector<std::unique_ptr<opened_file>> idle_{};
  mutable std::mutex hearing_;
  mutable std::condition_variable_any heard_{};
  std::uint64_t written_ = 0;  ///< Number of writes by this store.
};

/// Most analyses that one call deletes.
inline constexpr std::size_t most_forgotten = 10'000;

template <class T>
result<T> embedded_store::write(const std::function<result<T>(ledger&)>& work) {
  const std::lock_guard held(writing_);
  ledger in;
  const auto begun = begin(in);
  auto done = begun ? work(in) : result<T>(tl::unexpected(begun.error()));
  if (done && in.is_changed) {
    if (auto ended = end(in); !ended) {
      noticed(ended.error());
      return tl::unexpected(std::move(ended.error()));
    }
    return done;
  }
  if (!done) noticed(done.error());
  if (writer_.on.is_in_transaction()) {
    const auto undone = writer_.on.run("ROLLBACK");
    static_cast<void>(undone);  // what cannot be rolled back now is rolled back when the file is opened
  }
  return done;
}

class embedded_store::reader {
 public:
  [[nodiscard]] static result<reader> take(const embedded_store& from);
  reader(reader&&) noexcept = default;
  reader& operator=(reader&&) = delete;
  ~reader();
  [[nodiscard]] opened_file& file() const noexcept { return own_ ? *own_ : from_->writer_; }
  /// Returns the error, after checking whether it means that the file is damaged.
  [[nodiscard]] tl::unexpected<failure> passed(failure what) const {
    from_->noticed(what);
    return tl::unexpected(std::move(what));
  }

 private:
  explicit reader(const embedded_store& from) noexcept : from_(&from) {}
  [[nodiscard]] static result<std::unique_ptr<opened_file>> opened_to_read(const embedded_store& from);
  const embedded_store* from_;
  std::unique_ptr<opened_file> own_{};
  std::unique_lock<std::mutex> holds_{};
};

}  // namespace hondana::analyses
