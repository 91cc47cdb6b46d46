/// All that the stand-in knows, and the calls that it answers with it.
#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drive/stand_in/channels.hpp"
#include "drive/stand_in/shelf.hpp"
#include "drive/stand_in/web.hpp"

namespace drive_test {

struct given_token {
  std::string whom{};
  std::set<std::string> scopes{};
  std::int64_t until = 0;  ///< Milliseconds since 1970; 0: for ever.
};

struct given_code {
  given_token is{};
  std::string redirect{};
  std::string challenge{};
  std::string challenge_method{};
};

/// Where a list goes on.
struct list_page {
  std::string asked_for{};  ///< All parameters that must be the same again.
  std::shared_ptr<const std::vector<std::string>> ids{};
  std::size_t at = 0;
  int expired_with = 0;  ///< Not 0: no longer good, and this is the answer.
};

/// Threads: its owner's lock.
struct world {
  explicit world(const setup& from) : how(from), files(how) {}

  setup how;
  shelf files;
  std::string origin{};
  std::map<std::string, given_token> access{};
  std::map<std::string, given_token> refresh{};
  std::map<std::string, given_code> codes{};
  std::map<std::string, list_page> pages{};
  std::map<std::string, std::string> signed_exports{};  ///< By tokens in URLs: ids and types, separated by a blank.
  std::int64_t first_change = 0;                        ///< Page tokens below it have expired.
  int expired_with = 400;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> spent{};  ///< By user: when a window began, requests in it.
  std::map<std::string, channel> channels{};
  std::function<void(channel&, const std::string& state)> on_channel{};  ///< Sends a notice.
};

/// One call of the API.
struct call {
  const asked& from;
  world& in;
  given_token by;
  resource_keys keys;

  [[nodiscard]] const std::string& user() const noexcept { return by.whom; }
};

/// Of names that blanks separate.
std::set<std::string> scopes_of(std::string_view text);
/// Whom a request comes from; refuses who has no good token.
given_token caller_of(const asked& from, world& in);
/// Refuses who has none of these scopes, named without their prefix.
void want_scope(const call& of, std::initializer_list<std::string_view> any);
resource_keys keys_of(const asked& from);

// Each answers one method; what is wrong is `refused`.
answer about(const call& of);
answer list_files(const call& of);
answer list_drives(const call& of);
answer get_drive(const call& of, const std::string& id);
answer get_file(const call& of, const std::string& id);
answer export_file(const call& of, const std::string& id);
answer follow_export_link(const call& of);
answer signed_export(const asked& from, world& in);
answer list_permissions(const call& of, const std::string& id);
answer start_page_token(const call& of);
answer list_changes(const call& of);
answer watch_changes(const call& of);
answer stop_channel(const call& of);

answer give_token(const asked& from, world& in);
answer authorize(const asked& from, world& in);
answer revoke_token(const asked& from, world& in);
answer tell_token(const asked& from, world& in);

/// Any request but those of control; `whom` gets the caller.
answer answer_to(const asked& from, world& in, std::string& whom);

/// The resource as `fields` of the request wants it; `usual` where it does not say. `top`: names that there are.
answer shown(const call& of, const boost::json::object& whole, std::string_view usual, std::string_view top);
/// Of `pageSize`. Refuses what is out of range.
std::size_t page_size(const call& of, std::size_t usual, std::size_t most);
/// The file, when the caller may know of it and said that it knows of shared drives.
const held_file& known_file(const call& of, const std::string& id);

}  // namespace drive_test
