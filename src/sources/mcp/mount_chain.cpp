/// Chains of mounted servers, and the detection of cycles in them.
#include "sources/mcp/mount_chain.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/bytes/digest.hpp"
#include "base/bytes/random_token.hpp"

namespace hondana::mcp {
namespace {

constexpr std::size_t longest_id = 64;

std::string random_id() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) throw std::runtime_error("cannot create the id of a mount: " + raw.error().public_text);
  return 'm' + bytes::to_hex(*raw);
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= longest_id &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

std::vector<std::string> ids_in(std::string_view text) {
  std::vector<std::string> ids;
  while (!text.empty() && ids.size() <= most_in_a_row) {
    const auto comma = text.find(',');
    if (const auto one = text.substr(0, comma); is_id(one)) ids.emplace_back(one);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return ids;
}

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return !one.empty() && std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

chain::chain(std::string_view command, std::string_view inherited)
    : id_(random_id()),
      command_(command.empty() ? std::string() : 'c' + bytes::to_hex(bytes::digest_of(command))),
      before_(ids_in(inherited)) {}

std::string chain::circle(const std::vector<std::string>& mounts) {
  if (auto why = standing_circle(); !why.empty()) return why;
  const bool comes_round = holds(mounts, id_) || holds(mounts, command_);
  if (!comes_round && mounts.size() > most_in_a_row)
    return "the request passed through more than " + std::to_string(most_in_a_row) + " mounts";
  const std::lock_guard lock(mutex_);
  for (const auto& one : mounts) {
    if (!is_id(one) || one == id_ || one == command_ || holds(before_, one)) continue;
    // A client may send any ids. The latest are retained, since true ones are sent again and again.
    if (before_.size() >= most_in_a_row) before_.erase(before_.begin());
    before_.push_back(one);
    ++generation_;
  }
  // Ids in the cycle are recorded, too. So the mounts after this one also recognize what came through here.
  return comes_round ? "the request already passed through this mount" : "";
}

std::string chain::standing_circle() const {
  const std::lock_guard lock(mutex_);
  if (holds(before_, command_)) return "this server was itself started by the command of this mount";
  if (generation_ == 0 && before_.size() > most_in_a_row)
    return "this server was started through more than " + std::to_string(most_in_a_row) + " mounts";
  return {};
}

std::vector<std::string> chain::sent() const {
  std::vector<std::string> all{id_};
  const std::lock_guard lock(mutex_);
  all.insert(all.end(), before_.begin(), before_.end());
  return all;
}

std::string chain::variable() const {
  std::string text;
  if (!command_.empty()) text = command_ + ',';
  for (const auto& one : sent()) text += (text.empty() || text.back() == ',' ? "" : ",") + one;
  return text;
}

std::uint64_t chain::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

}  // namespace hondana::mcp
