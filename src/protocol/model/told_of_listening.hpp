/// What tells a source that others can reach its server.
#pragma once

namespace hondana::model {

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
