/// A real folder of its own for each test, and short ways to ask a provider that serves it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "deadline.hpp"
#include "sources/files/files_provider.hpp"

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

/// Runs the body of a test as a user whom permissions bind: here, or, where that is root, as nobody in a process of its own
/// that runs the test anew up to this call. Once a test.
void as_ordinary_user(const std::function<void()>& body);

/// Options for one root.
[[nodiscard]] options serving(const std::string& path);

/// A provider that must open.
[[nodiscard]] std::shared_ptr<files_provider> open_provider(options from);
[[nodiscard]] std::shared_ptr<files_provider> open_provider(const scratch_folder& root);

/// Reads as the catalog would: the URI made canonical first.
[[nodiscard]] result<read_result> read(files_provider& from, const std::string& uri, std::uint64_t max_bytes = 64ull << 20);

/// All bytes of a content.
[[nodiscard]] std::string bytes_of(const resource_content& item);
/// The bytes of the first content, or "error: " and its code.
[[nodiscard]] std::string read_text(files_provider& from, const std::string& uri);
/// The code of the error a read ends with; `internal` when it succeeds.
[[nodiscard]] errc read_error(files_provider& from, const std::string& uri);

/// Every entry, page by page, of a list that is fresh.
[[nodiscard]] std::vector<resource> list_all(files_provider& from, std::size_t page_size = 500);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<resource>& entries);
/// The entry of that name; a default one when there is none.
[[nodiscard]] resource entry_named(const std::vector<resource>& entries, std::string_view name);
/// Whether the entries are in segment order.
[[nodiscard]] bool is_in_order(const std::vector<resource>& entries);
/// What a survey says: the reason by name, "served" for what is.
[[nodiscard]] std::map<std::string, std::string> survey_of(files_provider& files);
/// "f" and 7: "f7".
[[nodiscard]] std::string numbered(std::string prefix, int number);

/// Asks for lists until one satisfies `done`; a deadline keeps a defect from hanging the tests.
template <class Done>
std::vector<resource> list_until(files_provider& files, Done done) {
  std::vector<resource> entries;
  (void)hondana_test::eventually([&] { return done(entries = list_all(files)); });
  return entries;
}

}  // namespace hondana::files
