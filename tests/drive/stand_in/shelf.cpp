/// What each change does to files and logs.
#include "drive/stand_in/shelf.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "drive/stand_in/web.hpp"

namespace drive_test {
namespace {

bool is_of(const permission& one, const std::string& user) {
  if (one.type == "user" || one.type == "group") return one.whom == user;
  if (one.type == "domain") return user.ends_with("@" + one.whom);
  return false;
}

int rank_of(std::string_view role) {
  constexpr std::string_view all[] = {"reader", "commenter", "writer", "fileOrganizer", "organizer", "owner"};
  const auto* const at = std::find(std::begin(all), std::end(all), role);
  return static_cast<int>(at - std::begin(all)) + 1;
}

}  // namespace

shelf::shelf(const setup& how) : how_(how) {
  for (const auto& one : {how_.owner, how_.service_account, how_.user}) ensure_root(one);
  for (const auto& one : how_.readers) ensure_root(one);
}

std::string shelf::root_of(std::string_view user) { return "0A" + digest("sha256", user).substr(0, 14) + "PVA"; }

void shelf::ensure_root(const std::string& user) {
  if (!people_.insert(user).second) return;
  const auto id = root_of(user);
  held_file root;
  root.is_root = true;
  root.is.id = id;
  root.is.name = "My Drive";
  root.is.type = mime::folder;
  root.is.owner = user;
  root.is.created = root.is.modified = "2020-01-01T00:00:00.000Z";
  root.is.permissions = {{"user", "owner", user}};
  files_[id] = std::move(root);
}

std::string shelf::add(file one) {
  if (one.id.empty()) one.id = "1" + made_up(32);
  if (one.drive.empty() && !one.parent.empty()) {
    if (const auto* const above = find(one.parent)) one.drive = above->is.drive;
  }
  if (one.drive.empty()) {
    if (one.owner.empty()) one.owner = how_.owner;
    ensure_root(one.owner);
    if (one.parent.empty() || one.parent == "root") one.parent = root_of(one.owner);
  } else {
    if (!drives_.contains(one.drive)) throw std::runtime_error("there is no shared drive " + one.drive);
    if (one.parent.empty()) one.parent = one.drive;
  }
  const auto* const above = find(one.parent);
  if (above == nullptr) throw std::runtime_error("there is no folder " + one.parent);
  if (one.permissions.empty() && one.drive.empty()) {
    if (above->is_root) {
      one.permissions.push_back({"user", "owner", one.owner});
      for (const auto& reader : how_.readers) {
        if (reader != one.owner) one.permissions.push_back({"user", "reader", reader});
      }
    } else {
      one.permissions = above->is.permissions;
    }
  } else if (one.drive.empty() && std::none_of(one.permissions.begin(), one.permissions.end(),
                                               [](const permission& all) { return all.role == "owner"; })) {
    one.permissions.insert(one.permissions.begin(), {"user", "owner", one.owner});
  }
  if (one.created.empty()) one.created = one.modified.empty() ? rfc3339(now_ms()) : one.modified;
  if (one.modified.empty()) one.modified = one.created;
  const auto id = one.id;
  std::set<std::string> seen_by;
  if (const auto before = files_.find(id); before != files_.end()) {
    seen_by = viewers_of(before->second);
    children_[before->second.is.parent].erase(id);
  }
  children_[one.parent].insert(id);
  auto& into = files_[id];
  into.changed_by = one.owner.empty() ? how_.owner : one.owner;
  into.is = std::move(one);
  note(into, std::move(seen_by));
  return id;
}

std::string shelf::add(shared_drive one) {
  if (one.id.empty()) one.id = "0A" + made_up(14) + "PVA";
  if (one.created.empty()) one.created = rfc3339(now_ms());
  if (one.members.empty()) {
    for (const auto& reader : how_.readers) one.members.push_back({"user", "reader", reader});
  }
  const auto id = one.id;
  held_file root;
  root.is_root = true;
  root.is.id = root.is.drive = id;
  root.is.name = "Drive";
  root.is.type = mime::folder;
  root.is.created = root.is.modified = one.created;
  files_[id] = std::move(root);
  drives_[id].is = std::move(one);
  note_drive(id, {});
  return id;
}

std::string shelf::folder(std::string_view path, const std::string& drive) {
  std::string at = drive.empty() ? root_of(how_.owner) : drive;
  while (!path.empty()) {
    const auto name = std::string(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(name.size() + 1, path.size()));
    if (name.empty()) continue;
    std::string found;
    for (const auto& id : children_[at]) {
      const auto& one = files_.at(id).is;
      if (one.name == name && one.type == mime::folder) found = id;
    }
    if (found.empty()) {
      file made;
      made.name = name;
      made.type = mime::folder;
      made.parent = at;
      made.drive = drive;
      found = add(std::move(made));
    }
    at = found;
  }
  return at;
}

held_file& shelf::get(const std::string& id) {
  const auto found = files_.find(id);
  if (found == files_.end()) throw std::runtime_error("there is no file " + id);
  return found->second;
}

void shelf::edit(const std::string& id, const std::function<void(file&)>& change) {
  auto& one = get(id);
  auto seen_by = viewers_of(one);
  const auto modified = one.is.modified;
  const auto parent = one.is.parent;
  change(one.is);
  one.is.id = id;
  if (one.is.modified == modified) one.is.modified = rfc3339(now_ms());
  if (one.is.parent != parent) {
    children_[parent].erase(id);
    children_[one.is.parent].insert(id);
  }
  note(one, std::move(seen_by));
}

void shelf::trash(const std::string& id, bool is_trashed) {
  auto& one = get(id);
  one.is.is_trashed = is_trashed;
  note(one, {});
}

void shelf::remove(const std::string& id) {
  for (const auto& gone : subtree_of(id)) {
    auto& one = get(gone);
    auto seen_by = viewers_of(one);
    const auto kept = one;
    children_[one.is.parent].erase(gone);
    children_.erase(gone);
    files_.erase(gone);
    note(kept, std::move(seen_by));
  }
}

void shelf::remove_drive(const std::string& id) {
  const auto found = drives_.find(id);
  if (found == drives_.end()) throw std::runtime_error("there is no shared drive " + id);
  const auto all = subtree_of(id);
  std::set<std::string> seen_by;
  for (const auto& who : people_) {
    if (is_member(who, found->second)) seen_by.insert(who);
  }
  for (const auto& one : all) {
    children_[files_.at(one).is.parent].erase(one);
    children_.erase(one);
    files_.erase(one);
  }
  drives_.erase(id);
  note_drive(id, std::move(seen_by));
}

void shelf::share(const std::string& id, const permission& with) {
  ensure_root(with.type == "user" ? with.whom : how_.owner);
  for (const auto& below : subtree_of(id)) {
    auto& one = get(below);
    one.is.permissions.push_back(with);
    note(one, {});
  }
}

void shelf::unshare(const std::string& id, const std::string& whom) {
  for (const auto& below : subtree_of(id)) {
    auto& one = get(below);
    auto seen_by = viewers_of(one);
    const auto count = std::erase_if(one.is.permissions, [&](const permission& all) {
      return all.role != "owner" && (all.whom == whom || (all.type == "anyone" && whom == "anyone"));
    });
    if (count != 0) note(one, std::move(seen_by));
  }
}

void shelf::join(const std::string& drive, const permission& who) {
  auto& one = drives_.at(drive);
  one.is.members.push_back(who);
  ensure_root(who.whom);
  note_drive(drive, {});
}

void shelf::leave(const std::string& drive, const std::string& whom) {
  auto& one = drives_.at(drive);
  std::erase_if(one.is.members, [&](const permission& all) { return all.whom == whom; });
  note_drive(drive, {whom});
}

const held_file* shelf::find(const std::string& id, const std::string& user) const {
  const auto found = files_.find(id == "root" ? root_of(user) : id);
  return found == files_.end() ? nullptr : &found->second;
}

const held_drive* shelf::find_drive(const std::string& id) const {
  const auto found = drives_.find(id);
  return found == drives_.end() ? nullptr : &found->second;
}

std::set<std::string> shelf::children_of(const std::string& id) const {
  const auto found = children_.find(id);
  return found == children_.end() ? std::set<std::string>() : found->second;
}

std::vector<std::string> shelf::subtree_of(const std::string& id) const {
  std::vector<std::string> out{id};
  std::set<std::string> met{id};
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (const auto& below : children_of(out[i])) {
      if (met.insert(below).second) out.push_back(below);
    }
  }
  return out;
}

bool shelf::is_member(const std::string& user, const held_drive& of) const {
  return std::any_of(of.is.members.begin(), of.is.members.end(), [&](const permission& one) { return is_of(one, user); });
}

std::string shelf::role_of(const std::string& user, const held_file& of) const {
  std::string out;
  const auto take = [&](const permission& one) {
    if (is_of(one, user) && (out.empty() || rank_of(one.role) > rank_of(out))) out = one.role;
  };
  for (const auto& one : of.is.permissions) take(one);
  if (const auto* const drive = find_drive(of.is.drive)) {
    for (const auto& one : drive->is.members) take(one);
  }
  return out;
}

bool shelf::is_listed(const std::string& user, const held_file& one) const {
  if (!role_of(user, one).empty()) return true;
  return std::any_of(one.is.permissions.begin(), one.is.permissions.end(),
                     [](const permission& all) { return all.type == "anyone" && all.is_found; });
}

bool shelf::is_reached(const std::string& user, const held_file& one, const resource_keys& with) const {
  if (is_listed(user, one)) return true;
  const bool has_link = std::any_of(one.is.permissions.begin(), one.is.permissions.end(),
                                    [](const permission& all) { return all.type == "anyone"; });
  if (!has_link) return false;
  if (!one.is.needs_key) return true;
  const auto key = with.find(one.is.id);
  return key != with.end() && key->second == one.is.resource_key;
}

bool shelf::is_trashed(const held_file& one) const {
  const auto* at = &one;
  for (int depth = 0; at != nullptr && depth < 100; ++depth) {
    if (at->is.is_trashed) return true;
    if (at->is_root) return false;
    at = find(at->is.parent);
  }
  return false;
}

std::set<std::string> shelf::viewers_of(const held_file& one) const {
  std::set<std::string> out;
  for (const auto& user : people_) {
    if (is_listed(user, one)) out.insert(user);
  }
  return out;
}

void shelf::note(const held_file& one, std::set<std::string> seen_by) {
  change line;
  line.number = next_change_++;
  line.id = one.is.id;
  line.log = one.is.drive;
  line.seen_by = std::move(seen_by);
  line.time = rfc3339(now_ms());
  if (const auto found = files_.find(one.is.id); found != files_.end()) {
    found->second.version = ++next_version_;
    line.seen_by.merge(viewers_of(found->second));
  }
  changes_.push_back(line);
  if (on_change) on_change(line);
}

void shelf::note_drive(const std::string& id, std::set<std::string> seen_by) {
  change line;
  line.number = next_change_++;
  line.id = id;
  line.is_drive = true;
  line.seen_by = std::move(seen_by);
  line.time = rfc3339(now_ms());
  if (const auto* const found = find_drive(id)) {
    for (const auto& user : people_) {
      if (is_member(user, *found)) line.seen_by.insert(user);
    }
  }
  changes_.push_back(line);
  if (on_change) on_change(line);
}

}  // namespace drive_test
