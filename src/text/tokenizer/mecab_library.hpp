/// MeCab's functions, found when Japanese is first cut.
#pragma once

#include <mecab.h>

#include <hondana/error.hpp>

namespace hondana::tokenizer {

/// Of the C interface of MeCab 0.996. The library stays loaded.
struct mecab_library {
  decltype(&mecab_strerror) strerror = nullptr;
  decltype(&mecab_destroy) destroy = nullptr;
  decltype(&mecab_model_new) model_new = nullptr;
  decltype(&mecab_model_destroy) model_destroy = nullptr;
  decltype(&mecab_model_new_tagger) model_new_tagger = nullptr;
  decltype(&mecab_model_new_lattice) model_new_lattice = nullptr;
  decltype(&mecab_model_dictionary_info) model_dictionary_info = nullptr;
  decltype(&mecab_lattice_destroy) lattice_destroy = nullptr;
  decltype(&mecab_lattice_set_sentence2) lattice_set_sentence = nullptr;
  decltype(&mecab_lattice_get_bos_node) lattice_get_bos_node = nullptr;
  decltype(&mecab_parse_lattice) parse_lattice = nullptr;
};

/// Loads a library by its name. Errors: source_unavailable, saying what to install.
[[nodiscard]] result<mecab_library> load_mecab_library(const char* name = "libmecab.so.2");

}  // namespace hondana::tokenizer
