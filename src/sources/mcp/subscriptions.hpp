/// Subscriptions at the mounted server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/error.hpp>

namespace hondana::mcp {

/// What shall be watched. Guarded by whoever has it.
struct wishes {
  std::set<std::string> uris;    ///< Ours.
  bool lists = false;            ///< Changed lists, too.
  bool asks_again = false;       ///< What was refused before is worth another attempt.
  std::uint64_t generation = 0;  ///< Grows with each change of these.
};

/// Keeps few watches on a client for many URIs: those attached together share one, and too many small ones become one.
/// Threads: one, and it blocks while the other server is asked.
class subscriptions {
 public:
  struct surroundings {
    std::function<std::string(const std::string& ours)> spelling;  ///< Theirs for one of ours.
    change_handler tell;                                           ///< Hears their changes.
    std::function<void(const std::string& ours)> begun;            ///< From now on one is watched.
    std::function<void(std::string_view)> log;
  };

  explicit subscriptions(surroundings around) : around_(std::move(around)) {}

  /// Makes the watches fit the wishes. Errors: what keeps it from going on now; trying again is worth it.
  result<void> fit(client& on, const wishes& wanted, const call_options& how);
  /// Ends all of them; nothing is told after that.
  void drop() { groups_.clear(); }
  /// Whether changed lists are told.
  [[nodiscard]] bool has_lists() const;

 private:
  struct group {
    std::set<std::string> uris;  // ours
    bool lists = false;
    client::watching watching;
    std::map<std::string, std::string> spelled;  // theirs, by ours
  };
  [[nodiscard]] result<group> watch(client& on, std::set<std::string> uris, bool lists, const call_options& how) const;
  [[nodiscard]] std::set<std::string> missing(const wishes& wanted) const;
  result<void> add(client& on, const std::set<std::string>& uris, bool lists, const call_options& how);
  result<void> add_one_by_one(client& on, const std::set<std::string>& uris, const call_options& how);
  void take(group made, const std::set<std::string>& asked);
  static void look_again(group& one);
  void refuse(const std::string& uri, const std::string& why);

  const surroundings around_;
  std::vector<group> groups_;
  std::set<std::string> refused_;
  bool lists_refused_ = false;
  bool said_there_are_none_ = false;
};

}  // namespace hondana::mcp
