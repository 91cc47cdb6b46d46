/// The members of a log while one request reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/logs/records/cursor.hpp"
#include "sources/logs/records/member.hpp"
#include "sources/logs/records/window.hpp"

namespace hondana::records {

/// Opens them as they are asked for and has few open at once. Threads: one at a time.
class opened_set {
 public:
  opened_set(listed_set all, members& with, const call& by, bool redact)
      : all_(std::move(all)), with_(with), by_(by), redact_(redact) {}

  [[nodiscard]] std::size_t size() const noexcept { return all_.files.size(); }
  [[nodiscard]] const listed_file& listed(std::size_t which) const { return all_.files[which]; }
  [[nodiscard]] const listed_set& all() const noexcept { return all_; }

  /// Errors: access_denied, source_unavailable, and content_changed where it is not there any more under its name.
  [[nodiscard]] result<opened_file> open(std::size_t which);
  /// Errors: as `open` and `members::unpack`.
  [[nodiscard]] result<std::shared_ptr<const member>> get(std::size_t which);
  /// A window onto a member of this set, which it must not outlive.
  [[nodiscard]] window window_onto(std::size_t which, const member& of);

  struct place {
    std::size_t which = 0;
    std::shared_ptr<const member> in{};
  };
  /// Where a cursor leads to; nothing where that has gone, and then `why` says how. Errors: as `get`.
  [[nodiscard]] result<std::optional<place>> find(const position& at, std::string& why);

  /// Whether a member is what is being copied of the one that is written, before that is truncated (`copytruncate`): made later
  /// than it, and how it begins.
  [[nodiscard]] result<bool> is_copy(std::size_t which, const member& newer);

 private:
  /// What stands before `of`, which is that member's content.
  [[nodiscard]] result<std::string> before(std::size_t which, const content& of, std::size_t most);
  /// Whether a key that began somewhere before would go on in `of`, with so much between.
  [[nodiscard]] static result<bool> may_go_on(const content& of, const std::string& between);
  [[nodiscard]] bool is_empty(std::size_t which) const { return all_.files[which].facts.size == 0; }
  [[nodiscard]] result<std::string> behind(std::size_t which, std::size_t most);

  const listed_set all_;
  members& with_;
  const call& by_;
  const bool redact_;
  std::map<std::size_t, std::shared_ptr<const member>> open_;
};

}  // namespace hondana::records
