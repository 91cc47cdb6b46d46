/// The libraries libarchive and libxml2, loaded on first use.
#include "text/rendering/office/office_libraries.hpp"

#include <dlfcn.h>
#include <gnu/libc-version.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace hondana::rendering {
namespace {

struct library_file {
  const char* file;
  const char* package;
};
constexpr library_file archive_file{"libarchive.so.13", "libarchive13"};
constexpr library_file xml_file{"libxml2.so.2", "libxml2"};

tl::unexpected<failure> load_failure(const library_file& library) {
  const char* const message = ::dlerror();
  return fail(errc::unsupported,
              std::string("Office files cannot be read: ") + library.file +
                  " is missing or too old; install it (Debian: " + library.package + ')',
              message == nullptr ? std::string() : std::string(message));
}

/// Looks up functions of one library, and remembers whether all were found.
class symbol_loader {
 public:
  explicit symbol_loader(void* handle) noexcept : handle_(handle) {}
  template <class Function>
  void operator()(Function& target, const char* name) {
    target = reinterpret_cast<Function>(::dlsym(handle_, name));
    is_complete_ = is_complete_ && target != nullptr;
  }
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  void* handle_;
  bool is_complete_ = true;
};

result<archive_library> load_archive_library() {
  void* const handle = ::dlopen(archive_file.file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return load_failure(archive_file);
  archive_library out{};
  symbol_loader load(handle);
  load(out.read_new, "archive_read_new");
  load(out.read_free, "archive_read_free");
  load(out.read_support_zip, "archive_read_support_format_zip_seekable");
  load(out.read_set_callback_data, "archive_read_set_callback_data");
  load(out.read_set_read_callback, "archive_read_set_read_callback");
  load(out.read_set_seek_callback, "archive_read_set_seek_callback");
  load(out.read_set_skip_callback, "archive_read_set_skip_callback");
  load(out.read_open1, "archive_read_open1");
  load(out.read_next_header, "archive_read_next_header");
  load(out.read_data, "archive_read_data");
  load(out.error_string, "archive_error_string");
  load(out.entry_pathname, "archive_entry_pathname");
  load(out.entry_is_data_encrypted, "archive_entry_is_data_encrypted");
  if (!load.is_complete()) return load_failure(archive_file);
  return out;
}

result<xml_library> load_xml_library() {
  void* const handle = ::dlopen(xml_file.file, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return load_failure(xml_file);
  xml_library out{};
  symbol_loader load(handle);
  decltype(&::xmlInitParser) init_parser = nullptr;
  load(init_parser, "xmlInitParser");
  load(out.create_push_parser, "xmlCreatePushParserCtxt");
  load(out.use_options, "xmlCtxtUseOptions");
  load(out.parse_chunk, "xmlParseChunk");
  load(out.stop_parser, "xmlStopParser");
  load(out.free_parser, "xmlFreeParserCtxt");
  load(out.free_doc, "xmlFreeDoc");
  if (!load.is_complete()) return load_failure(xml_file);
  init_parser();
  return out;
}

}  // namespace

result<const office_libraries*> load_office_libraries() {
  static std::mutex load_mutex;
  static std::optional<office_libraries> cached;
  const std::lock_guard lock(load_mutex);
  if (cached) return &*cached;
  HONDANA_TRY(auto archive, load_archive_library());
  HONDANA_TRY(auto xml, load_xml_library());
  cached = office_libraries{archive, xml};
  return &*cached;
}

std::string missing_office_libraries() {
  Dl_info info{};
  // The libraries are most likely in the same folder as the C library.
  const bool is_known =
      ::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &info) != 0 && info.dli_fname != nullptr;
  const auto library_dir = is_known ? std::filesystem::path(info.dli_fname).parent_path().string() : std::string("/lib");
  for (const auto& library : {archive_file, xml_file}) {
    bool exists = false;
    for (const auto& folder : {library_dir, "/usr" + library_dir, std::string("/usr/local/lib"), std::string("/usr/lib64")}) {
      std::error_code error;
      exists = exists || std::filesystem::exists(std::filesystem::path(folder) / library.file, error);
    }
    // Only the loader knows all of its folders. Asking it loads the library.
    if (!exists && ::dlopen(library.file, RTLD_LAZY | RTLD_LOCAL) == nullptr) return load_failure(library).value().public_text;
  }
  return {};
}

}  // namespace hondana::rendering
