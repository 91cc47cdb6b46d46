/// Optional interfaces of providers, found by dynamic_cast: mounted servers, private folders, and the start of listening.
#pragma once

#include <string>
#include <vector>

namespace hondana::model {

/// Marks a source that mounts another server. After each URI prefix that it claims, a URI of the other server follows
/// unchanged.
class mount {
 public:
  mount() = default;
  mount(const mount&) = delete;
  mount& operator=(const mount&) = delete;
  virtual ~mount() = default;
};

/// Implemented by a source that reads single files of its own, such as a key, from folders in its `needs`.
/// No other file in these folders is served or used.
class has_private_folders {
 public:
  has_private_folders() = default;
  has_private_folders(const has_private_folders&) = delete;
  has_private_folders& operator=(const has_private_folders&) = delete;
  virtual ~has_private_folders() = default;

  /// The folders, as written in `needs`. Constant. Threads: any.
  [[nodiscard]] virtual std::vector<std::string> private_folders() const = 0;
};

/// Implemented by a source that lets another service call this server.
/// It requests such calls only when the server is listening.
class told_of_listening {
 public:
  told_of_listening() = default;
  told_of_listening(const told_of_listening&) = delete;
  told_of_listening& operator=(const told_of_listening&) = delete;
  virtual ~told_of_listening() = default;

  /// The server listens over HTTP from now on. May be called several times. Must not block. Threads: any.
  virtual void server_listens() = 0;
};

}  // namespace hondana::model
