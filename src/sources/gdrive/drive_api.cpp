/// Connects the interface of Drive API calls to the real client.
#include "sources/gdrive/drive_api.hpp"

#include <optional>
#include <utility>

namespace hondana::gdrive {
namespace {

class drive_remote final : public remote {
 public:
  explicit drive_remote(std::shared_ptr<drive::client> with) : with_(std::move(with)) {}

  drive::answer<drive::drive_page> drives(const std::string& page_token, const drive::errand& how) override {
    return with_->list_drives(page_token, how);
  }
  drive::answer<drive::file_page> files(const drive::list_request& what, const drive::errand& how) override {
    return with_->list_files(what, how);
  }
  drive::answer<drive::file> file(const std::string& id, const drive::errand& how) override { return with_->get_file(id, how); }
  drive::answer<void> content(const std::string& id, const drive::content_sink& into, const drive::errand& how) override {
    return with_->get_content(id, std::nullopt, into, how);
  }
  drive::answer<void> exported(const std::string& id, const std::string& mime_type, const drive::content_sink& into,
                               const drive::errand& how) override {
    return with_->export_content(id, mime_type, into, how);
  }
  drive::answer<void> exported_by_link(const drive::file& of, const std::string& mime_type, const drive::content_sink& into,
                                       const drive::errand& how) override {
    return with_->export_by_link(of, mime_type, into, how);
  }
  drive::answer<std::string> start_token(const std::string& drive_id, const drive::errand& how) override {
    return with_->get_start_page_token(drive_id, how);
  }
  drive::answer<drive::change_page> changes(const drive::changes_request& what, const drive::errand& how) override {
    return with_->list_changes(what, how);
  }
  drive::answer<drive::channel> watch(const drive::watch_request& what, const drive::errand& how) override {
    return with_->watch_changes(what, how);
  }
  drive::answer<void> stop(const drive::channel& what, const drive::errand& how) override {
    return with_->stop_channel(what.id, what.resource_id, how);
  }
  [[nodiscard]] std::uint64_t requests() const override { return with_->now().requests; }
  [[nodiscard]] std::vector<std::string> places() const override { return with_->places(); }

 private:
  const std::shared_ptr<drive::client> with_;
};

}  // namespace

std::shared_ptr<remote> remote_of(std::shared_ptr<drive::client> with) {
  return std::make_shared<drive_remote>(std::move(with));
}

}  // namespace hondana::gdrive
