/// The tokenizer for Japanese by MeCab: its library, dictionary and words.
#pragma once

#include <mecab.h>

#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "os/libraries/shared_library.hpp"

namespace hondana::tokenizer {

/// The functions of MeCab 0.996's C interface that are used.
struct mecab_library {
  libraries::function<decltype(&::mecab_strerror)> strerror{"mecab_strerror"};
  libraries::function<decltype(&::mecab_destroy)> destroy{"mecab_destroy"};
  libraries::function<decltype(&::mecab_model_new)> model_new{"mecab_model_new"};
  libraries::function<decltype(&::mecab_model_destroy)> model_destroy{"mecab_model_destroy"};
  libraries::function<decltype(&::mecab_model_new_tagger)> model_new_tagger{"mecab_model_new_tagger"};
  libraries::function<decltype(&::mecab_model_new_lattice)> model_new_lattice{"mecab_model_new_lattice"};
  libraries::function<decltype(&::mecab_model_dictionary_info)> model_dictionary_info{"mecab_model_dictionary_info"};
  libraries::function<decltype(&::mecab_lattice_destroy)> lattice_destroy{"mecab_lattice_destroy"};
  libraries::function<decltype(&::mecab_lattice_set_sentence2)> lattice_set_sentence{"mecab_lattice_set_sentence2"};
  libraries::function<decltype(&::mecab_lattice_get_bos_node)> lattice_get_bos_node{"mecab_lattice_get_bos_node"};
  libraries::function<decltype(&::mecab_parse_lattice)> parse_lattice{"mecab_parse_lattice"};
};

/// Returns MeCab, which the first successful call loads. Errors: source_unavailable, see `libraries::load_once`. Threads: any.
[[nodiscard]] result<const mecab_library*> loaded_mecab_library();

/// A loaded MeCab dictionary. Threads: any; each thread needs its own `analyzer`.
class dictionary {
 public:
  /// Opens the dictionary in `folder`; empty: the one in MeCab's own configuration. Errors: source_unavailable, also if the
  /// dictionary is not UTF-8 or does not have the columns of ipadic.
  [[nodiscard]] static result<std::shared_ptr<const dictionary>> open(const mecab_library& library, const std::string& folder);
  dictionary(const dictionary&) = delete;
  dictionary& operator=(const dictionary&) = delete;
  ~dictionary();

  /// For each of its files charset, number of words and version, joined by `+`: `UTF-8-392127-102`.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  /// The analysis state of one thread. The dictionary must outlive it.
  class analyzer {
   public:
    explicit analyzer(const dictionary& owner);
    analyzer(const analyzer&) = delete;
    analyzer& operator=(const analyzer&) = delete;
    ~analyzer();
    /// Returns the first word of a sentence; the others are linked by `next`. Valid until the next call, while `sentence`
    /// exists. Null: the analysis failed.
    [[nodiscard]] const mecab_node_t* parse(std::string_view sentence);

   private:
    const dictionary& dictionary_;
    mecab_lattice_t* lattice_;
  };

 private:
  explicit dictionary(const mecab_library& library) noexcept : library_(library) {}
  [[nodiscard]] result<void> load(const std::string& folder);
  [[nodiscard]] result<void> check(const std::string& folder);

  mecab_library library_;
  mecab_model_t* model_ = nullptr;
  mecab_t* tagger_ = nullptr;
  std::string id_{};
  std::string folder_{};
};

/// Returns a column, from 0, of a word's features, which are separated by commas. Empty: there is none.
[[nodiscard]] std::string_view feature_column(std::string_view feature, std::size_t index) noexcept;

}  // namespace hondana::tokenizer
