/// The interface of the Drive API calls that the source makes. Tests replace it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sources/gdrive/drive/client.hpp"

namespace hondana::gdrive {

/// The calls of `drive::client` that this source makes. `drive::client` documents them. Threads: any.
class drive_api {
 public:
  drive_api() = default;
  drive_api(const drive_api&) = delete;
  drive_api& operator=(const drive_api&) = delete;
  virtual ~drive_api() = default;

  [[nodiscard]] virtual drive::api_result<drive::drive_page> list_drives(const std::string& page_token,
                                                                         const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<drive::file_page> list_files(const drive::list_request& request,
                                                                       const drive::call_options& options) = 0;
  /// `id`: "root" stands for the root folder of the user's own drive.
  [[nodiscard]] virtual drive::api_result<drive::file> get_file(const std::string& id, const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<void> get_content(const std::string& id, const drive::content_sink& sink,
                                                            const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<void> export_content(const std::string& id, const std::string& mime_type,
                                                               const drive::content_sink& sink,
                                                               const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<void> export_by_link(const drive::file& file, const std::string& mime_type,
                                                               const drive::content_sink& sink,
                                                               const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<std::string> get_start_page_token(const std::string& drive_id,
                                                                            const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<drive::change_page> list_changes(const drive::changes_request& request,
                                                                           const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<drive::channel> watch_changes(const drive::watch_request& request,
                                                                        const drive::call_options& options) = 0;
  [[nodiscard]] virtual drive::api_result<void> stop_channel(const drive::channel& channel,
                                                             const drive::call_options& options) = 0;
  /// Number of requests sent so far, including retries.
  [[nodiscard]] virtual std::uint64_t request_count() const = 0;
  /// The servers that requests connect to, for `system_requirements::sockets`.
  [[nodiscard]] virtual std::vector<std::string> addresses() const = 0;
};

/// Makes an object that passes all calls to `client`.
[[nodiscard]] std::shared_ptr<drive_api> make_drive_api(std::shared_ptr<drive::client> client);

}  // namespace hondana::gdrive
