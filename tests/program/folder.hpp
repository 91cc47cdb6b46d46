/// A folder to serve, gone with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace program_test {

/// Its path needs no escaping in URIs, TOML or JSON. Threads: one.
class folder {
 public:
  folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hondana-program-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    path_ = std::filesystem::canonical(pattern);
  }
  ~folder() {
    std::error_code left_behind;  // in /tmp, which the system cleans
    std::filesystem::remove_all(path_, left_behind);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  /// Writes a file, with the folders above it.
  void put(std::string_view name, std::string_view content) const {
    const auto where = path_ / name;
    std::filesystem::create_directories(where.parent_path());
    std::ofstream out(where, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + where.string());
  }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string uri(std::string_view name) const { return "file://" + path(name); }

 private:
  std::filesystem::path path_;
};

}  // namespace program_test
