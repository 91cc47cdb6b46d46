/// Chains of mounted servers, and the detection of cycles in them.
#include "sources/mcp/mount_chain.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/bytes/digest.hpp"
#include "base/bytes/random_token.hpp"

namespace hondana::mcp {
namespace {

constexpr std::size_t max_id_bytes = 64;

std::string random_id() {
  const auto random = bytes::random_bytes(16);
  if (!random) throw std::runtime_error("cannot create the id of a mount: " + random.error().public_text);
  return 'm' + bytes::to_hex(*random);
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= max_id_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

std::vector<std::string> parse_ids(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty() && ids.size() <= max_mounts) {
    const auto comma = text.find(',');
    if (const auto id = text.substr(0, comma); is_id(id)) ids.emplace_back(id);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return ids;
}

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return !id.empty() && std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

mount_chain::mount_chain(std::string_view command, std::string_view inherited)
    : id_(random_id()),
      command_(command.empty() ? std::string() : 'c' + bytes::to_hex(bytes::digest_of(command))),
      previous_(parse_ids(inherited)) {}

std::string mount_chain::find_cycle(const std::vector<std::string>& mounts) {
  if (auto reason = find_permanent_cycle(); !reason.empty()) return reason;
  const bool is_cycle = contains(mounts, id_) || contains(mounts, command_);
  if (!is_cycle && mounts.size() > max_mounts)
    return "the request passed through more than " + std::to_string(max_mounts) + " mounts";
  const std::lock_guard lock(mutex_);
  for (const auto& id : mounts) {
    if (!is_id(id) || id == id_ || id == command_ || contains(previous_, id)) continue;
    // A client may send any ids. The latest are retained, since true ones are sent again and again.
    if (previous_.size() >= max_mounts) previous_.erase(previous_.begin());
    previous_.push_back(id);
    ++generation_;
  }
  // Ids in the cycle are recorded, too. So the mounts after this one also recognize what came through here.
  return is_cycle ? "the request already passed through this mount" : "";
}

std::string mount_chain::find_permanent_cycle() const {
  const std::lock_guard lock(mutex_);
  if (contains(previous_, command_)) return "this server was itself started by the command of this mount";
  if (generation_ == 0 && previous_.size() > max_mounts)
    return "this server was started through more than " + std::to_string(max_mounts) + " mounts";
  return {};
}

std::vector<std::string> mount_chain::outgoing_ids() const {
  std::vector<std::string> ids{id_};
  const std::lock_guard lock(mutex_);
  ids.insert(ids.end(), previous_.begin(), previous_.end());
  return ids;
}

std::string mount_chain::environment_value() const {
  std::string text;
  if (!command_.empty()) text = command_ + ',';
  for (const auto& id : outgoing_ids()) text += (text.empty() || text.back() == ',' ? "" : ",") + id;
  return text;
}

std::uint64_t mount_chain::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

}  // namespace hondana::mcp
