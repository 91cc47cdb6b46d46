/// Finding MeCab.
#include "text/tokenizer/mecab_library.hpp"

#include <dlfcn.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace hondana::tokenizer {

result<mecab_library> load_mecab_library(const char* name) {
  const auto why_not = [name](std::string_view what) {
    const char* const said = ::dlerror();
    return fail(errc::source_unavailable,
                "MeCab cannot split Japanese text into words: its library " + std::string(name) + " " + std::string(what) +
                    "; install libmecab2 and mecab-ipadic-utf8 (Debian), or search by trigrams, which require neither",
                said != nullptr ? said : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("cannot be loaded");
  mecab_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.strerror, "mecab_strerror");
  find(out.destroy, "mecab_destroy");
  find(out.model_new, "mecab_model_new");
  find(out.model_destroy, "mecab_model_destroy");
  find(out.model_new_tagger, "mecab_model_new_tagger");
  find(out.model_new_lattice, "mecab_model_new_lattice");
  find(out.model_dictionary_info, "mecab_model_dictionary_info");
  find(out.lattice_destroy, "mecab_lattice_destroy");
  find(out.lattice_set_sentence, "mecab_lattice_set_sentence2");
  find(out.lattice_get_bos_node, "mecab_lattice_get_bos_node");
  find(out.parse_lattice, "mecab_parse_lattice");
  if (!is_whole) return why_not("lacks functions");
  return out;
}

}  // namespace hondana::tokenizer
