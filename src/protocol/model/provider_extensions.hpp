/// Optional interfaces of providers, found by dynamic_cast: mounts, private folders, and notice of listening.
#pragma once

#include <string>
#include <vector>

namespace hondana::model {

/// Such a source is one of these, too: right behind each of its claims stands a URI as the other server writes it.
class mount {
 public:
  mount() = default;
  mount(const mount&) = delete;
  mount& operator=(const mount&) = delete;
  virtual ~mount() = default;
};

/// What a source is besides that reads single files of its own, such as a key, out of folders that its `needs` name: nothing
/// else in these is served or used.
class has_private_folders {
 public:
  has_private_folders() = default;
  has_private_folders(const has_private_folders&) = delete;
  has_private_folders& operator=(const has_private_folders&) = delete;
  virtual ~has_private_folders() = default;

  /// As they stand in `needs`. Constant. Threads: any.
  [[nodiscard]] virtual std::vector<std::string> private_folders() const = 0;
};

/// What a source is besides that has another service call this server: it does so only once somebody listens for it.
class told_of_listening {
 public:
  told_of_listening() = default;
  told_of_listening(const told_of_listening&) = delete;
  told_of_listening& operator=(const told_of_listening&) = delete;
  virtual ~told_of_listening() = default;

  /// From now on the server listens over HTTP. May be said more than once. Threads: any. Must not block.
  virtual void server_listens() = 0;
};

}  // namespace hondana::model
