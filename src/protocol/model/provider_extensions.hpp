/// Optional interfaces of providers, found by dynamic_cast: mounted servers, private folders, and the start of listening. And
/// the inventory of providers without one of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

namespace hondana::model {

/// Marks a source that mounts another server. Its URIs consist of a prefix that it claims and an unchanged URI of the other
/// server.
class mount {
 public:
  mount() = default;
  mount(const mount&) = delete;
  mount& operator=(const mount&) = delete;
  virtual ~mount() = default;
};

/// Implemented by a source that needs some folders only to read its own files there, such as a key. It does not serve them.
class private_folder_owner {
 public:
  private_folder_owner() = default;
  private_folder_owner(const private_folder_owner&) = delete;
  private_folder_owner& operator=(const private_folder_owner&) = delete;
  virtual ~private_folder_owner() = default;

  /// These folders, as written in `provider::requirements`. Constant. Threads: any.
  [[nodiscard]] virtual std::vector<std::string> private_folders() const = 0;
};

/// Implemented by a source that asks another service to call this server, which is useful only while the server listens.
class listening_observer {
 public:
  listening_observer() = default;
  listening_observer(const listening_observer&) = delete;
  listening_observer& operator=(const listening_observer&) = delete;
  virtual ~listening_observer() = default;

  /// The server listens over HTTP from now on. May be called several times. Must not block. Threads: any.
  virtual void on_server_listening() = 0;
};

/// Calls `visitor` for each listed entry, as served: the inventory of a source that has no other items. Errors: those of
/// `provider::list`. Threads: as `provider::list`.
[[nodiscard]] result<void> visit_listed(provider& source, const request_context& request,
                                        const std::function<void(const inventory_item&)>& visitor);

}  // namespace hondana::model
