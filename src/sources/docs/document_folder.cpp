/// Lists and opens the files of a folder, without following links out of it.
#include "sources/docs/document_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "base/ignore/gitignore.hpp"
#include "os/disk/confined_dir.hpp"
#include "os/disk/descriptor_limit.hpp"
#include "os/disk/dir_walk.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/private_file.hpp"
#include "os/disk/whole_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/docs/document_rules.hpp"
#include "sources/docs/document_type.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_files = 100'000;
constexpr std::size_t max_ignore_file_bytes = (1u << 20) + 1;
constexpr int ignore_file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string error_message(int error) { return std::error_code(error, std::generic_category()).message(); }

/// Loads an ignore file. Like git, does not follow links. An existing file that cannot be read excludes everything it could
/// apply to. Throws std::system_error if descriptors or memory are exhausted.
ignore::list_pointer load(int folder, const char* name, std::string source) {
  const auto unusable = [&source](const std::string& reason) {
    return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), reason));
  };
  struct stat attributes{};
  if (::fstatat(folder, name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) {
    disk::throw_if_exhausted(errno);
    return errno == ENOENT || errno == ENOTDIR ? nullptr : unusable("it cannot be accessed: " + error_message(errno));
  }
  if (S_ISLNK(attributes.st_mode)) return nullptr;
  const disk::handle file(::openat(folder, name, ignore_file_flags));
  if (!file.is_open()) disk::throw_if_exhausted(errno);
  if (!file.is_open() || ::fstat(file.get(), &attributes) != 0) return unusable("it cannot be read: " + error_message(errno));
  if (!S_ISREG(attributes.st_mode)) return unusable("it is not a regular file");
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(attributes.st_size), max_ignore_file_bytes), '\0');
  const auto count = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!count) return unusable("it cannot be read: " + error_message(count.error()));
  text.resize(*count);
  return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::parse(text, std::move(source)));
}

ignore::folder_rules load_rules(int folder, const std::string& prefix) {
  return {load(folder, ".gitignore", prefix + ".gitignore"), load(folder, ".hondanaignore", prefix + ".hondanaignore")};
}

tl::unexpected<failure> to_failure(const disk::lookup_error& error, std::string_view path) {
  const auto detail = std::string(path) + ": " + error_message(error.error);
  if (disk::is_absence(error.kind)) return fail(errc::resource_not_found, "Document not found.", detail);
  if (error.kind == disk::lookup_error_kind::forbidden)
    return fail(errc::access_denied, "The server has no permission to read the document.", detail);
  return fail(errc::source_unavailable, "The disk or network of the documents has failed. Retry later.", detail);
}

/// Decides about each entry of a folder.
class document_collector final : public disk::dir_visitor {
 public:
  struct collector_options {
    const patterns& include;
    const patterns& exclude;
    const disk::own_files& own_files;
    bool uses_ignore_files = true;  ///< Whether ignore files apply.
  };
  document_collector(const request_context& request, const std::function<void(const std::string&, int)>& on_enter_folder,
                     collector_options options)
      : request_(request), on_enter_folder_(on_enter_folder), options_(options) {}

  /// Throws std::system_error if descriptors or memory are exhausted.
  void enter_folder(const std::string& path, int descriptor) override {
    if (on_enter_folder_) on_enter_folder_(path, descriptor);
    if (!options_.uses_ignore_files) {
      ignored_.emplace_back();
    } else if (ignored_.empty()) {
      ignored_.push_back(load_root_stack(descriptor));
    } else {
      ignored_.push_back(ignored_.back().child(path.substr(path.rfind('/') + 1), load_rules(descriptor, path + '/')));
    }
  }
  void leave_folder(int /*descriptor*/) override { ignored_.pop_back(); }
  disk::walk_action select(const dirent& entry) override {
    interruption_ = check_cancellation(request_);
    if (!interruption_) return disk::walk_action::stop;
    return entry.d_name[0] == '.' ? disk::walk_action::skip : disk::walk_action::descend;
  }
  disk::walk_action visit(const disk::walk_entry& entry) override {
    const auto mode = entry.attributes.st_mode;
    if (S_ISLNK(mode)) return omit(entry.path, "symbolic links are not followed");
    const bool is_folder = S_ISDIR(mode);
    if (!is_folder && result_.documents.size() + result_.other_files.size() + result_.omitted.size() >= max_files) {
      omit(entry.path, "this and all later entries are beyond the first " + std::to_string(max_files) + " files");
      return disk::walk_action::stop;
    }
    if (!is_folder && !S_ISREG(mode)) return omit(entry.path, "it is neither a file nor a folder");
    if (auto reason = exclusion_reason(entry.path, is_folder); !reason.empty()) return omit(entry.path, std::move(reason));
    if (is_folder) {
      if (entry.depth < max_depth) return disk::walk_action::descend;
      return omit(entry.path, "it is deeper than " + std::to_string(max_depth) + " folders");
    }
    if (options_.own_files.has_name(entry.path) || options_.own_files.is_hard_link(entry.attributes))
      return omit(entry.path, std::string(disk::own_files::reason));
    scanned_file file{entry.path, disk::stamp_of(entry.attributes)};
    const bool is_document = options_.include.is_empty() ? type_of(file.path).has_value() : options_.include.match(file.path);
    (is_document ? result_.documents : result_.other_files).push_back(std::move(file));
    return disk::walk_action::skip;
  }
  void on_denied(const std::string& path, std::string reason) override { omit(path, std::move(reason)); }

  /// Errors: cancelled and timed_out, if that ended the walk.
  [[nodiscard]] result<walk_result> extract() && {
    HONDANA_TRY(std::move(interruption_));
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::sort(result_.documents.begin(), result_.documents.end(), by_path);
    std::sort(result_.other_files.begin(), result_.other_files.end(), by_path);
    std::sort(result_.omitted.begin(), result_.omitted.end(), by_path);
    return std::move(result_);
  }

 private:
  static ignore::stack load_root_stack(int root) {
    ignore::list_pointer info;
    const disk::handle info_dir(::openat(root, ".git/info", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!info_dir.is_open()) disk::throw_if_exhausted(errno);
    if (info_dir.is_open()) info = load(info_dir.get(), "exclude", ".git/info/exclude");
    return ignore::stack(load_rules(root, {}), std::move(info));
  }
  /// Why a name excludes an entry; empty: it does not.
  [[nodiscard]] std::string exclusion_reason(const std::string& path, bool is_folder) const {
    if (const auto* secret = secrets::find_secret(path, is_folder)) {
      return "secret: `" + std::string(secret->pattern) + "` (" + std::string(secret->reason) + ')';
    }
    if (is_folder ? options_.exclude.match_folder(path) : options_.exclude.match(path)) return "excluded by the configuration";
    const auto decision = ignored_.back().decide(path, is_folder);
    if (!decision.is_ignored()) return {};
    if (!decision.error.empty()) return std::string(decision.source) + " cannot be applied: " + std::string(decision.error);
    return "ignored by " + std::string(decision.source) + ':' + std::to_string(decision.line) + " `" +
           std::string(decision.pattern) + '`';
  }
  disk::walk_action omit(const std::string& path, std::string reason) {
    result_.omitted.push_back({path, std::move(reason)});
    return disk::walk_action::skip;
  }

  const request_context& request_;
  const std::function<void(const std::string&, int)>& on_enter_folder_;
  const collector_options options_;
  std::vector<ignore::stack> ignored_;  // of the folders that are being read, from the top
  walk_result result_;
  result<void> interruption_;
};

}  // namespace

document_folder::document_folder(const set_options& options, disk::served_dir dir)
    : dir_(std::move(dir)), uses_ignore_files_(options.ignore_files) {}

result<std::unique_ptr<document_folder>> document_folder::open(const set_options& options) {
  HONDANA_TRY(auto include, patterns::compile(options.include, "include"));
  HONDANA_TRY(auto exclude, patterns::compile(options.exclude, "exclude"));
  auto dir = disk::served_dir::open(options.path, options.own_files);
  if (!dir) {
    return fail(errc::source_unavailable, "The folder of documents \"" + options.path + "\" cannot be opened: " +
                                              error_message(dir.error()) + ". Check its path and permissions.");
  }
  std::unique_ptr<document_folder> folder(new document_folder(options, std::move(*dir)));
  folder->include_ = std::move(include);
  folder->exclude_ = std::move(exclude);
  return folder;
}

result<std::shared_ptr<const disk::served_dir::opened>> document_folder::current() const {
  return dir_.current().map_error([this](int error) {
    return failure{errc::source_unavailable, "The folder of documents does not exist any more. Retry when it is back.",
                   path() + ": " + error_message(error)};
  });
}

result<walk_result> document_folder::walk(const request_context& request,
                                          const std::function<void(const std::string&, int)>& on_enter_folder) const {
  HONDANA_TRY(const auto opened, current());
  document_collector collector(request, on_enter_folder, {include_, exclude_, opened->own, uses_ignore_files_});
  disk::walk_error problem;
  try {
    auto walked = disk::walk(opened->dir.open_folder(), collector);
    if (walked) return std::move(collector).extract();
    problem = std::move(walked.error());
  } catch (const std::system_error& error) {
    problem.error = error.code().value();
  }
  // An error for one folder is an error of the whole source.
  auto error = to_failure(disk::to_lookup_error(problem.error), problem.path.empty() ? "." : problem.path).value();
  if (error.code == errc::access_denied) error.public_text = "The server has no permission to read a folder of the documents.";
  error.code = errc::source_unavailable;
  return tl::unexpected(std::move(error));
}

result<opened_file> document_folder::open_file(std::string_view path) const {
  HONDANA_TRY(const auto opened, current());
  auto file = opened->open_file(path);
  if (!file) return to_failure(file.error(), path);
  return opened_file{std::move(file->file), disk::stamp_of(file->attributes)};
}

bool document_folder::exists(std::string_view path) const {
  const auto opened = current();
  return !opened || (*opened)->dir.may_exist(path);
}

result<std::string> read_all(const opened_file& file) {
  auto whole = disk::read_whole(file.file.get(), file.stamp.size);
  if (!whole) return to_failure(disk::to_lookup_error(whole.error()), "reading");
  if (!whole->is_complete() || whole->state != file.stamp)
    return fail(errc::content_changed, "The document changed while it was being read. Read it again.");
  return std::move(whole->bytes);
}

result<std::string> read_front(const opened_file& file, std::size_t max_bytes) {
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file.stamp.size, max_bytes)), '\0');
  const auto count = disk::read_at(file.file.get(), bytes.data(), bytes.size(), 0);
  if (!count) return to_failure(disk::to_lookup_error(count.error()), "reading");
  bytes.resize(*count);
  return bytes;
}

}  // namespace hondana::docs
