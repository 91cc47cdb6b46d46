/// Setting up folders and asking providers.
#include "scratch_folder.hpp"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include <hondana/uri.hpp>

namespace hondana::files {
namespace {

void must(bool succeeded, std::string_view what) {
  if (succeeded) return;
  std::fprintf(stderr, "cannot set up a test: %.*s: %s\n", static_cast<int>(what.size()), what.data(), std::strerror(errno));
  std::abort();
}

}  // namespace

scratch_folder::scratch_folder() {
  std::string pattern = (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "hondana-files-XXXXXX").string();
  must(::mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  path_ = pattern;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string scratch_folder::uri(std::string_view below) const {
  return "file://" + path_ + (below.empty() ? "" : "/") + std::string(below);
}

void scratch_folder::make_folders_to(std::string_view below) const {
  std::filesystem::create_directories(std::filesystem::path(path(below)).parent_path());
}

void scratch_folder::write(std::string_view below, std::string_view bytes) const {
  make_folders_to(below);
  const disk::handle file(::open(path(below).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  must(file.is_open(), below);
  must(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), below);
}

void scratch_folder::make_folder(std::string_view below) const { std::filesystem::create_directories(path(below)); }

void scratch_folder::link(std::string_view below, std::string_view target) const {
  make_folders_to(below);
  must(::symlink(std::string(target).c_str(), path(below).c_str()) == 0, below);
}

void scratch_folder::make_fifo(std::string_view below) const {
  make_folders_to(below);
  must(::mkfifo(path(below).c_str(), 0644) == 0, below);
}

void scratch_folder::make_socket(std::string_view below) const {
  make_folders_to(below);
  const disk::handle socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto where = path(below);
  must(where.size() < sizeof address.sun_path, below);
  std::memcpy(address.sun_path, where.c_str(), where.size() + 1);
  must(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, below);
}

void scratch_folder::make_sparse(std::string_view below, std::uint64_t size) const {
  write(below, "");
  must(::truncate(path(below).c_str(), static_cast<off_t>(size)) == 0, below);
}

void as_ordinary_user(const std::function<void()>& body) {
  if (::geteuid() != 0) return body();
  constexpr uid_t nobody = 65534;
  const auto run = [&body] {
    must(::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0, "becoming nobody");
    must(::prctl(PR_SET_DUMPABLE, 1) == 0, "prctl");  // a process may see its own /proc only while it is dumpable
    body();
    const auto& outcome = *testing::UnitTest::GetInstance()->current_test_info()->result();
    for (int i = 0; i < outcome.total_part_count(); ++i) {  // what this process says itself nobody sees
      const auto& part = outcome.GetTestPartResult(i);
      if (part.failed()) std::fprintf(stderr, "line %d: %s\n", part.line_number(), part.message());
    }
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  };
  const std::string style = GTEST_FLAG_GET(death_test_style);
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // threads of earlier tests are not forked
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
  GTEST_FLAG_SET(death_test_style, style);
}

options serving(const std::string& path) {
  options made;
  made.roots.emplace_back().path = path;
  made.refresh_interval = std::chrono::milliseconds(0);
  return made;
}

std::shared_ptr<files_provider> open_provider(options from) {
  auto opened = files_provider::open(std::move(from));
  if (!opened) must(false, opened.error().public_text);
  return *opened;
}

std::shared_ptr<files_provider> open_provider(const scratch_folder& root) { return open_provider(serving(root.path())); }

result<read_result> read(files_provider& from, const std::string& uri, std::uint64_t max_bytes) {
  auto canonical = canonical_uri(uri);
  if (!canonical) return tl::unexpected(std::move(canonical.error()));
  read_request request;
  request.uri = std::move(*canonical);
  request.requested_uri = uri;
  request.max_bytes = max_bytes;
  return from.read(request);
}

std::string bytes_of(const resource_content& item) {
  if (const auto* whole = std::get_if<shared_bytes>(&item.data)) return **whole;
  std::string all;
  std::array<char, 65536> piece;
  auto& reader = *std::get<std::shared_ptr<byte_reader>>(item.data);
  for (auto count = reader.read(std::span(piece)); count && *count > 0; count = reader.read(std::span(piece))) {
    all.append(piece.data(), *count);
  }
  return all;
}

std::string read_text(files_provider& from, const std::string& uri) {
  const auto answer = read(from, uri);
  if (!answer) return "error: " + std::string(hondana::name_of(answer.error().code));
  return bytes_of(answer->contents.front());
}

errc read_error(files_provider& from, const std::string& uri) {
  const auto answer = read(from, uri);
  return answer ? errc::internal : answer.error().code;
}

std::vector<resource> list_all(files_provider& from, std::size_t page_size) {
  std::vector<resource> entries;
  list_request request;
  request.limit = page_size;
  for (;;) {
    auto page = from.list(request);
    EXPECT_TRUE(page.has_value());
    if (!page) return entries;
    entries.insert(entries.end(), page->entries.begin(), page->entries.end());
    if (!page->next_key) return entries;
    request.after_key = *page->next_key;
  }
}

std::vector<std::string> names_of(const std::vector<resource>& entries) {
  std::vector<std::string> names;
  for (const auto& one : entries) names.push_back(one.name);
  return names;
}

resource entry_named(const std::vector<resource>& entries, std::string_view name) {
  for (const auto& one : entries) {
    if (one.name == name) return one;
  }
  return {};
}

bool is_in_order(const std::vector<resource>& entries) {
  return std::is_sorted(entries.begin(), entries.end(), [](const resource& a, const resource& b) {
    return compare_by_segment(a.uri, b.uri) == std::strong_ordering::less;
  });
}

std::map<std::string, std::string> survey_of(files_provider& files) {
  std::map<std::string, std::string> said;
  const auto outcome =
      files.inventory({}, [&](const inventory_item& item) { said[item.name] = item.is_served ? "served" : item.reason; });
  EXPECT_TRUE(outcome.has_value());
  return said;
}

std::string numbered(std::string prefix, int number) { return prefix.append(std::to_string(number)); }

}  // namespace hondana::files
