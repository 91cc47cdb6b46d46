/// A folder for a run of a benchmark.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

/// Removed with all that is in it at the end.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return root_; }
  [[nodiscard]] std::string path(std::string_view below) const;
  /// Writes a file in place, as an editor does that truncates; makes the folders above it.
  void put(std::string_view below, std::string_view content) const;
  /// Writes a file beside and renames it over the old one.
  void replace(std::string_view below, std::string_view content) const;
  /// Files without content in folders of a thousand, N/note-M.txt, from number `from` up to `to`: a disk has no blocks to
  /// write, nor to give back when they go.
  void add_files(std::string_view below, std::size_t from, std::size_t to) const;

 private:
  std::filesystem::path root_;
};

[[nodiscard]] std::string text_in(const std::filesystem::path& path);

}  // namespace bench
