/// One connection with the statements that were run on it.
#pragma once

#include <map>
#include <utility>

#include <hondana/error.hpp>

#include "os/sqlite/sqlite.hpp"

namespace hondana::analyses {

/// A statement while it runs: it is ready again when this dies.
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

/// Threads: one at a time.
struct opened_file {
  sqlite::connection on{};
  std::map<const char*, sqlite::statement> known{};  ///< By the address of their text, which is a literal.

  [[nodiscard]] result<asked> ask(const char* sql) {
    if (const auto found = known.find(sql); found != known.end()) return asked(found->second);
    HONDANA_TRY(auto made, on.prepare(sql));
    return asked(known.emplace(sql, std::move(made)).first->second);
  }
};

}  // namespace hondana::analyses
