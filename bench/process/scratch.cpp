/// Making, filling and removing a folder.
#include "scratch.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "child.hpp"

namespace bench {

namespace fs = std::filesystem;

scratch::scratch() {
  auto pattern = (fs::temp_directory_path() / "hondana-bench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail("mkdtemp");
  root_ = pattern;
}

scratch::~scratch() {
  std::error_code left_behind;
  fs::remove_all(root_, left_behind);
}

std::string scratch::path(std::string_view below) const { return (root_ / below).string(); }

void scratch::put(std::string_view below, std::string_view content) const {
  const auto where = root_ / below;
  fs::create_directories(where.parent_path());
  std::ofstream out(where, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + where.string());
}

void scratch::replace(std::string_view below, std::string_view content) const {
  put("beside", content);
  fs::rename(root_ / "beside", root_ / below);
}

void scratch::add_files(std::string_view below, std::size_t from, std::size_t to) const {
  for (std::size_t i = from; i < to; ++i) {
    const auto folder = root_ / below / std::to_string(i / 1000);
    if (i % 1000 == 0 || i == from) fs::create_directories(folder);
    const int made = ::open((folder / ("note-" + std::to_string(i) + ".txt")).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (made < 0) fail("a file cannot be made");
    ::close(made);
  }
}

std::string text_in(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

}  // namespace bench
