/// Checking files of one log, record by record.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <hondana/audit.hpp>

#include "os/disk/handle.hpp"
#include "server/audit/record.hpp"

namespace hondana::inline v0 {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

/// Reads the lines of a file, each with its cap.
class lines {
 public:
  static result<lines> open(const std::string& path) {
    disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat facts{};
    if (!file.is_open() || ::fstat(file.get(), &facts) != 0) return cannot(path, std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) return cannot(path, "it is not a file");
    return lines(path, std::move(file));
  }

  enum class found { line, torn, nothing };
  /// The next line; torn: what stands behind the last newline, or a line that is longer than any record.
  [[nodiscard]] result<found> next(std::string& line) {
    for (;;) {
      const auto end = have_.find('\n', at_);
      if (end != std::string::npos) {
        line.assign(have_, at_, end - at_);
        at_ = end + 1;
        return found::line;
      }
      have_.erase(0, std::exchange(at_, 0));
      if (have_.size() > audit::longest_record) return found::torn;
      const auto before = have_.size();
      have_.resize(before + piece_bytes);
      const auto count = ::read(file_.get(), have_.data() + before, piece_bytes);
      const int error = errno;
      have_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0 && error != EINTR) return cannot(path_, std::strerror(error));
      if (count == 0) return have_.empty() ? found::nothing : found::torn;
    }
  }

 private:
  lines(std::string path, disk::handle file) : path_(std::move(path)), file_(std::move(file)) {}
  static tl::unexpected<failure> cannot(const std::string& path, const std::string& why) {
    return fail(errc::invalid_argument, "Cannot read " + path + ": " + why + ". Give the files of an audit log.");
  }

  std::string path_;
  disk::handle file_;
  std::string have_;
  std::size_t at_ = 0;
};

/// One file with the number it begins with; 0: that cannot be read, or there is none.
struct numbered {
  std::string path;
  std::uint64_t first = 0;
};

result<std::vector<numbered>> in_order(const std::vector<std::string>& files) {
  std::vector<numbered> all;
  for (const auto& path : files) {
    HONDANA_TRY(auto from, lines::open(path));
    std::string line;
    HONDANA_TRY(from.next(line));
    const auto first = audit::read_record(line, nullptr);
    all.push_back({path, first ? first->number : 0});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace

result<audit_report> verify_audit(const std::vector<std::string>& files) {
  const auto ordered = in_order(files);
  if (!ordered) return tl::unexpected(ordered.error());
  audit_report out;
  audit::chain at;
  for (const auto& [path, begins] : *ordered) {
    HONDANA_TRY(auto from, lines::open(path));
    std::string line;
    for (std::uint64_t number = 1;; ++number) {
      const auto found = from.next(line);
      if (!found) return tl::unexpected(found.error());
      if (*found == lines::found::nothing) break;
      const auto broken = [&](std::string what) {
        out.broken = audit_report::fault{path, number, std::move(what)};
        return out;
      };
      if (*found == lines::found::torn)
        return broken("the record is incomplete: writing it was interrupted, or the file was truncated");
      auto read = audit::read_record(line, out.records == 0 ? nullptr : &at);
      if (!read) return broken(std::move(read.error()));
      at = *read;
      if (auto told = audit::failure_told_by(line); !told.empty()) out.failures.push_back({path, number, std::move(told)});
      if (out.records++ == 0) out.first = at.number;
      out.last = at.number;
      out.hash = bytes::to_hex(at.hash);
    }
  }
  return out;
}

}  // namespace hondana::inline v0
