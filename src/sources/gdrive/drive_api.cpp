/// Connects the interface of Drive API calls to the real client.
#include "sources/gdrive/drive_api.hpp"

#include <optional>
#include <utility>

namespace hondana::gdrive {
namespace {

class client_drive_api final : public drive_api {
 public:
  explicit client_drive_api(std::shared_ptr<drive::client> client) : client_(std::move(client)) {}

  drive::api_result<drive::drive_page> list_drives(const std::string& page_token, const drive::call_options& options) override {
    return client_->list_drives(page_token, options);
  }
  drive::api_result<drive::file_page> list_files(const drive::list_request& request,
                                                 const drive::call_options& options) override {
    return client_->list_files(request, options);
  }
  drive::api_result<drive::file> get_file(const std::string& id, const drive::call_options& options) override {
    return client_->get_file(id, options);
  }
  drive::api_result<void> get_content(const std::string& id, const drive::content_sink& sink,
                                      const drive::call_options& options) override {
    return client_->get_content(id, std::nullopt, sink, options);
  }
  drive::api_result<void> export_content(const std::string& id, const std::string& mime_type, const drive::content_sink& sink,
                                         const drive::call_options& options) override {
    return client_->export_content(id, mime_type, sink, options);
  }
  drive::api_result<void> export_by_link(const drive::file& file, const std::string& mime_type, const drive::content_sink& sink,
                                         const drive::call_options& options) override {
    return client_->export_by_link(file, mime_type, sink, options);
  }
  drive::api_result<std::string> get_start_page_token(const std::string& drive_id,
                                                      const drive::call_options& options) override {
    return client_->get_start_page_token(drive_id, options);
  }
  drive::api_result<drive::change_page> list_changes(const drive::changes_request& request,
                                                     const drive::call_options& options) override {
    return client_->list_changes(request, options);
  }
  drive::api_result<drive::channel> watch_changes(const drive::watch_request& request,
                                                  const drive::call_options& options) override {
    return client_->watch_changes(request, options);
  }
  drive::api_result<void> stop_channel(const drive::channel& channel, const drive::call_options& options) override {
    return client_->stop_channel(channel.id, channel.resource_id, options);
  }
  [[nodiscard]] std::uint64_t request_count() const override { return client_->current_statistics().requests; }
  [[nodiscard]] std::vector<std::string> addresses() const override { return client_->addresses(); }

 private:
  const std::shared_ptr<drive::client> client_;
};

}  // namespace

std::shared_ptr<drive_api> make_drive_api(std::shared_ptr<drive::client> client) {
  return std::make_shared<client_drive_api>(std::move(client));
}

}  // namespace hondana::gdrive
