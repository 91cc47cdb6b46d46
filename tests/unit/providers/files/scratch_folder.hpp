/// A real folder of its own for each test, and short ways to ask a provider that serves it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "providers/files/files.hpp"

namespace hondana::files {

/// A folder below the system's temporary one, removed with all that is in it. Failing to set something up ends the test
/// program.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  /// Without links and without a trailing slash.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path(std::string_view below) const { return path_ + "/" + std::string(below); }
  /// The URI of something below; `below` is already encoded.
  [[nodiscard]] std::string uri(std::string_view below = {}) const;

  /// These make the folders on the way.
  void write(std::string_view below, std::string_view bytes) const;
  void make_folder(std::string_view below) const;
  void link(std::string_view below, std::string_view target) const;
  void make_fifo(std::string_view below) const;
  void make_socket(std::string_view below) const;
  void make_sparse(std::string_view below, std::uint64_t size) const;

 private:
  void make_folders_to(std::string_view below) const;
  std::string path_;
};

/// Options for one root.
[[nodiscard]] options serving(const std::string& path);

/// A provider that must open.
[[nodiscard]] std::shared_ptr<files_provider> open_provider(options from);
[[nodiscard]] std::shared_ptr<files_provider> open_provider(const scratch_folder& root);

/// Reads as the catalog would: the URI made canonical first.
[[nodiscard]] result<reading> read(files_provider& from, const std::string& uri, std::uint64_t max_bytes = 64ull << 20);

/// All bytes of a content.
[[nodiscard]] std::string bytes_of(const content& item);
/// The bytes of the first content, or "error: " and its code.
[[nodiscard]] std::string read_text(files_provider& from, const std::string& uri);
/// The code of the error a read ends with; `internal` when it succeeds.
[[nodiscard]] errc read_error(files_provider& from, const std::string& uri);

/// Every entry, page by page, of a list that is fresh.
[[nodiscard]] std::vector<resource> list_all(files_provider& from, std::size_t page_size = 500);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<resource>& entries);
/// The entry of that name; a default one when there is none.
[[nodiscard]] resource entry_named(const std::vector<resource>& entries, std::string_view name);

}  // namespace hondana::files
