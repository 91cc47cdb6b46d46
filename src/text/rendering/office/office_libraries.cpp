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

struct wanted_library {
  const char* file;
  const char* package;
};
constexpr wanted_library archive_file{"libarchive.so.13", "libarchive13"};
constexpr wanted_library xml_file{"libxml2.so.2", "libxml2"};

tl::unexpected<failure> why_not_loaded(const wanted_library& one) {
  const char* const said = ::dlerror();
  return fail(errc::unsupported,
              std::string("Office files cannot be read: ") + one.file +
                  " is missing or too old; install it (Debian: " + one.package + ')',
              said == nullptr ? std::string() : std::string(said));
}

/// Looks up functions of one library, and remembers whether all were found.
class finding {
 public:
  explicit finding(void* from) noexcept : from_(from) {}
  template <class function>
  void operator()(function& into, const char* name) {
    into = reinterpret_cast<function>(::dlsym(from_, name));
    is_whole_ = is_whole_ && into != nullptr;
  }
  [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

 private:
  void* from_;
  bool is_whole_ = true;
};

result<archive_library> load_archive_library() {
  void* const from = ::dlopen(archive_file.file, RTLD_NOW | RTLD_LOCAL);
  if (from == nullptr) return why_not_loaded(archive_file);
  archive_library out{};
  finding find(from);
  find(out.read_new, "archive_read_new");
  find(out.read_free, "archive_read_free");
  find(out.read_support_zip, "archive_read_support_format_zip_seekable");
  find(out.read_set_callback_data, "archive_read_set_callback_data");
  find(out.read_set_read_callback, "archive_read_set_read_callback");
  find(out.read_set_seek_callback, "archive_read_set_seek_callback");
  find(out.read_set_skip_callback, "archive_read_set_skip_callback");
  find(out.read_open1, "archive_read_open1");
  find(out.read_next_header, "archive_read_next_header");
  find(out.read_data, "archive_read_data");
  find(out.error_string, "archive_error_string");
  find(out.entry_pathname, "archive_entry_pathname");
  find(out.entry_is_data_encrypted, "archive_entry_is_data_encrypted");
  if (!find.is_whole()) return why_not_loaded(archive_file);
  return out;
}

result<xml_library> load_xml_library() {
  void* const from = ::dlopen(xml_file.file, RTLD_NOW | RTLD_LOCAL);
  if (from == nullptr) return why_not_loaded(xml_file);
  xml_library out{};
  finding find(from);
  decltype(&::xmlInitParser) begin = nullptr;
  find(begin, "xmlInitParser");
  find(out.create_push_parser, "xmlCreatePushParserCtxt");
  find(out.use_options, "xmlCtxtUseOptions");
  find(out.parse_chunk, "xmlParseChunk");
  find(out.stop_parser, "xmlStopParser");
  find(out.free_parser, "xmlFreeParserCtxt");
  find(out.free_doc, "xmlFreeDoc");
  if (!find.is_whole()) return why_not_loaded(xml_file);
  begin();
  return out;
}

}  // namespace

result<const office_libraries*> loaded_office_libraries() {
  static std::mutex one_at_a_time;
  static std::optional<office_libraries> kept;
  const std::lock_guard lock(one_at_a_time);
  if (kept) return &*kept;
  HONDANA_TRY(auto archive, load_archive_library());
  HONDANA_TRY(auto xml, load_xml_library());
  kept = office_libraries{archive, xml};
  return &*kept;
}

std::string missing_office_libraries() {
  Dl_info here{};
  // The libraries are most likely in the same folder as the C library.
  const bool is_known =
      ::dladdr(reinterpret_cast<const void*>(&::gnu_get_libc_version), &here) != 0 && here.dli_fname != nullptr;
  const auto beside = is_known ? std::filesystem::path(here.dli_fname).parent_path().string() : std::string("/lib");
  for (const auto& one : {archive_file, xml_file}) {
    bool is_there = false;
    for (const auto& folder : {beside, "/usr" + beside, std::string("/usr/local/lib"), std::string("/usr/lib64")}) {
      std::error_code problem;
      is_there = is_there || std::filesystem::exists(std::filesystem::path(folder) / one.file, problem);
    }
    // Only the loader knows all of its folders. Asking it loads the library.
    if (!is_there && ::dlopen(one.file, RTLD_LAZY | RTLD_LOCAL) == nullptr) return why_not_loaded(one).value().public_text;
  }
  return {};
}

}  // namespace hondana::rendering
