/// The interface of the Drive API calls that the source makes. Tests replace it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sources/gdrive/drive/client.hpp"

namespace hondana::gdrive {

/// The calls of `drive::client` that this source makes, with the same contracts. Threads: any.
class remote {
 public:
  remote() = default;
  remote(const remote&) = delete;
  remote& operator=(const remote&) = delete;
  virtual ~remote() = default;

  [[nodiscard]] virtual drive::answer<drive::drive_page> drives(const std::string& page_token, const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<drive::file_page> files(const drive::list_request& what, const drive::errand& how) = 0;
  /// `id`: "root" means the user's own drive.
  [[nodiscard]] virtual drive::answer<drive::file> file(const std::string& id, const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<void> content(const std::string& id, const drive::content_sink& into,
                                                    const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<void> exported(const std::string& id, const std::string& mime_type,
                                                     const drive::content_sink& into, const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<void> exported_by_link(const drive::file& of, const std::string& mime_type,
                                                             const drive::content_sink& into, const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<std::string> start_token(const std::string& drive_id, const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<drive::change_page> changes(const drive::changes_request& what,
                                                                  const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<drive::channel> watch(const drive::watch_request& what, const drive::errand& how) = 0;
  [[nodiscard]] virtual drive::answer<void> stop(const drive::channel& what, const drive::errand& how) = 0;
  /// Requests sent so far, including retries.
  [[nodiscard]] virtual std::uint64_t requests() const = 0;
  /// `host:port`, for `needs::sockets`.
  [[nodiscard]] virtual std::vector<std::string> places() const = 0;
};

[[nodiscard]] std::shared_ptr<remote> remote_of(std::shared_ptr<drive::client> with);

}  // namespace hondana::gdrive
