/// Dictionaries of MeCab.
#include "text/tokenizer/dictionary.hpp"

#include <array>
#include <new>
#include <utility>

#include "base/ascii/characters.hpp"

namespace hondana::tokenizer {
namespace {

std::string named(const std::string& folder) { return folder.empty() ? "of its own configuration" : "`" + folder + "`"; }

constexpr const char* advice = "; install mecab-ipadic-utf8 (Debian) and name its folder, /var/lib/mecab/dic/ipadic-utf8";

}  // namespace

std::string_view column_of(std::string_view feature, std::size_t which) noexcept {
  for (; which > 0; --which) {
    const auto comma = feature.find(',');
    if (comma == std::string_view::npos) return {};
    feature.remove_prefix(comma + 1);
  }
  return feature.substr(0, feature.find(','));
}

result<std::shared_ptr<const dictionary>> dictionary::open(const mecab_library& library, const std::string& folder) {
  std::shared_ptr<dictionary> out(new dictionary(library));
  HONDANA_TRY(out->load(folder));
  HONDANA_TRY(out->check(folder));
  return out;
}

dictionary::~dictionary() {
  if (tagger_ != nullptr) library_.destroy(tagger_);
  if (model_ != nullptr) library_.model_destroy(model_);
}

result<void> dictionary::load(const std::string& folder) {
  // Where a folder is named, nobody's configuration adds to it.
  std::array<std::string, 5> words{"mecab", "-r", "/dev/null", "-d", folder};
  std::array<char*, 5> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  model_ = library_.model_new(folder.empty() ? 1 : static_cast<int>(arguments.size()), arguments.data());
  if (model_ != nullptr) tagger_ = library_.model_new_tagger(model_);
  if (tagger_ != nullptr) return {};
  const char* const said = library_.strerror(nullptr);
  return fail(errc::source_unavailable, "MeCab cannot load the dictionary " + named(folder) + advice,
              said != nullptr ? said : std::string());
}

result<void> dictionary::check(const std::string& folder) {
  for (const auto* one = library_.model_dictionary_info(model_); one != nullptr; one = one->next) {
    const std::string_view charset = one->charset != nullptr ? one->charset : "";
    if (!ascii::is_same(charset, "utf-8") && !ascii::is_same(charset, "utf8"))
      return fail(errc::source_unavailable,
                  "MeCab's dictionary " + named(folder) + " is in " + std::string(charset) + ", but must be in UTF-8" + advice);
    if (!id_.empty()) id_ += '+';
    id_.append("UTF-8-").append(std::to_string(one->size)).append(1, '-').append(std::to_string(one->version));
    if (folder_.empty() && one->filename != nullptr) {
      const std::string_view file = one->filename;
      folder_ = file.substr(0, file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/'));
    }
  }
  if (!folder.empty()) folder_ = folder;
  bench by(*this);
  const auto* const first = by.words_of("書いた");
  const bool is_ipadic = first != nullptr && column_of(first->feature, 0) == "動詞" && column_of(first->feature, 6) == "書く";
  if (is_ipadic) return {};
  return fail(errc::source_unavailable, "MeCab's dictionary " + named(folder) +
                                            " does not have the format of ipadic, with base forms in column 7" + advice);
}

dictionary::bench::bench(const dictionary& by) : by_(by), lattice_(by.library_.model_new_lattice(by.model_)) {
  if (lattice_ == nullptr) throw std::bad_alloc();
}

dictionary::bench::~bench() { by_.library_.lattice_destroy(lattice_); }

const mecab_node_t* dictionary::bench::words_of(std::string_view sentence) {
  by_.library_.lattice_set_sentence(lattice_, sentence.data(), sentence.size());
  if (by_.library_.parse_lattice(by_.tagger_, lattice_) == 0) return nullptr;
  const auto* const begin = by_.library_.lattice_get_bos_node(lattice_);
  return begin != nullptr ? begin->next : nullptr;
}

}  // namespace hondana::tokenizer
