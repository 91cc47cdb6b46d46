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

/// The subscriptions that this server needs. The owner guards it.
struct wishes {
  std::set<std::string> uris;    ///< Our URIs.
  bool lists = false;            ///< Also changes of lists.
  bool asks_again = false;       ///< Retry subscriptions that were rejected before.
  std::uint64_t generation = 0;  ///< Increases with each change of these members.
};

/// Uses few watches on a client for many URIs. URIs attached together share one, and many small watches are combined. Threads:
/// one; it blocks during requests to the other server.
class subscriptions {
 public:
  struct surroundings {
    std::function<std::string(const std::string& ours)> spelling;  ///< Maps one of our URIs to the server's spelling.
    change_handler tell;                                           ///< Receives the server's changes.
    std::function<void(const std::string& ours)> begun;            ///< Called when a URI begins to be watched.
    std::function<void(std::string_view)> log;
  };

  explicit subscriptions(surroundings around) : around_(std::move(around)) {}

  /// Adapts the watches to the wishes. Errors: a temporary problem; retry later.
  result<void> fit(client& on, const wishes& wanted, const call_options& how);
  /// Ends all watches; no notifications arrive after that.
  void drop() { groups_.clear(); }
  /// Whether changes of lists are notified.
  [[nodiscard]] bool has_lists() const;

 private:
  struct group {
    std::set<std::string> uris;  // ours
    bool lists = false;
    client::watching watching;
    std::map<std::string, std::string> spelled;  // the server's spellings, by our URIs
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
