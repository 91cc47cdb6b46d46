/// Credentials in a file.
#include <utility>

#include "auth/credentials/document.hpp"
#include "auth/credentials/vault.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::credentials {
namespace {

class file_vault final : public vault {
 public:
  explicit file_vault(std::string path) : path_(std::move(path)) {}

  bool answers() override { return true; }
  result<std::string> load() override {
    auto read = disk::read_private(path_, max_document_bytes);
    if (read) return std::move(read->bytes);
    if (read.error().code == errc::resource_not_found) return std::string();
    return tl::unexpected(std::move(read.error()));
  }
  result<void> save(std::string_view text) override { return disk::replace_private(path_, text); }

 private:
  const std::string path_;
};

}  // namespace

std::unique_ptr<vault> make_file_vault(std::string path) { return std::make_unique<file_vault>(std::move(path)); }

}  // namespace hondana::credentials
