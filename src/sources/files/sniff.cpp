/// Interpreters, and libmagic for formats that are in no table of ours.
#include "sources/files/sniff.hpp"

#include <magic.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/bytes/active.hpp"
#include "base/bytes/media_type.hpp"
#include "base/json/utf8.hpp"
#include "sources/files/mime.hpp"

namespace hondana::files {
namespace {

struct interpreter {
  std::string_view program;
  std::string_view type;
};

constexpr std::array interpreters{
    interpreter{"python", "text/x-python"},    interpreter{"bash", "text/x-shellscript"},
    interpreter{"sh", "text/x-shellscript"},   interpreter{"zsh", "text/x-shellscript"},
    interpreter{"dash", "text/x-shellscript"}, interpreter{"ksh", "text/x-shellscript"},
    interpreter{"perl", "text/x-perl"},        interpreter{"ruby", "text/x-ruby"},
    interpreter{"node", "text/javascript"},    interpreter{"lua", "text/x-lua"},
    interpreter{"php", "text/x-php"},          interpreter{"awk", "text/x-awk"},
    interpreter{"tclsh", "text/x-tcl"},        interpreter{"make", "text/x-makefile"},
};

/// The type of a script by the program its first line names, with a version after it allowed.
std::string_view type_of_script(std::string_view front) {
  if (!front.starts_with("#!")) return "text/plain";
  auto line = front.substr(2, front.find('\n') - 2);
  std::string_view program;
  while (!line.empty()) {
    const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    auto word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    if (const auto slash = word.rfind('/'); slash != std::string_view::npos) word.remove_prefix(slash + 1);
    if (word.starts_with('-') || word.find('=') != std::string_view::npos) continue;
    program = word;
    if (program != "env") break;
  }
  for (const auto& one : interpreters) {
    if (program.starts_with(one.program) &&
        program.find_first_not_of("0123456789.", one.program.size()) == std::string_view::npos) {
      return one.type;
    }
  }
  return "text/plain";
}

/// libmagic behind a lock, since one of its handles serves one thread at a time; opened when first asked. Never destroyed:
/// threads that are given up on may outlive `main`.
class magic_database {
 public:
  std::string_view type_of(std::string_view front) {
    const std::lock_guard lock(mutex_);
    if (!tried_) {
      tried_ = true;
      open();
    }
    const char* answer = database_ ? ::magic_buffer(database_.get(), front.data(), front.size()) : nullptr;
    if (answer == nullptr) return "application/octet-stream";
    const std::string_view type(answer);
    // Few types exist; a file whose content invents them (it could name one in its own text) is not believed without end.
    if (type.empty() || type.size() > 100 || type.starts_with("text/") || types_.size() >= 1000)
      return "application/octet-stream";
    return *types_.emplace(type).first;
  }

 private:
  struct closer {
    void operator()(magic_set* database) const noexcept { ::magic_close(database); }
  };

  void open() {
    // Neither unpacking nor scanning whole tar members: the front is all there is, and less code meets foreign bytes.
    database_.reset(::magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_ELF |
                                 MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_TOKENS | MAGIC_NO_CHECK_CDF |
                                 MAGIC_NO_CHECK_CSV | MAGIC_NO_CHECK_JSON));
    if (database_ && ::magic_load(database_.get(), nullptr) != 0) database_.reset();
  }

  std::mutex mutex_;
  bool tried_ = false;
  std::unique_ptr<magic_set, closer> database_;
  std::set<std::string, std::less<>> types_;
};

/// The front of a text may end inside a code point.
bool is_text_front(std::string_view front) {
  front.remove_suffix(json::incomplete_tail(front));
  return json::is_utf8(front) && !json::has_nul(front);
}

}  // namespace

std::string_view sniff(std::string_view front, content_form form) {
  front = front.substr(0, head_bytes);
  const bool is_text = form == content_form::text || (form == content_form::detect && is_text_front(front));
  if (is_text) return type_of_script(front);
  if (const auto told = bytes::type_of_signature(front); !told.empty()) return told;
  if (is_text_front(front)) return "application/octet-stream";  // it turns binary only later on: no format libmagic would know
  static auto& database = *new magic_database;
  return database.type_of(front);
}

std::string_view agreed_type(std::string_view name, std::string_view front, content_form form) {
  const auto by_name = mime_of(name);
  if (by_name.name.empty()) return sniff(front, form);
  if (form == content_form::detect) form = is_text_front(front.substr(0, head_bytes)) ? content_form::text : content_form::blob;
  const bool is_text = form == content_form::text;
  const auto agreed = bytes::agreeing_type(by_name.name, front, is_text);
  // Names that stand for binary formats without a signature, too; a name that stands for text, whatever its type is called.
  if (agreed != by_name.name || bytes::type_of_signature(front) == agreed) return agreed;
  if (!is_text && by_name.is_text) return "application/octet-stream";
  return is_text && by_name.is_binary ? "text/plain" : agreed;
}

void label(content& item, std::string_view name, std::string_view front) {
  const auto found = bytes::active_as(mime_of(name).name, front);
  if (found != bytes::active::no) item.metadata.emplace_back(bytes::active_key, std::string(bytes::type_of(found)));
}

}  // namespace hondana::files
