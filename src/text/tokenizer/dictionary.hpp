/// A dictionary of MeCab, ready for any number of threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "text/tokenizer/mecab_library.hpp"

namespace hondana::tokenizer {

class dictionary {
 public:
  /// A folder, or empty: what MeCab's own configuration says. Errors: source_unavailable, also for one that is not in UTF-8 or
  /// whose words are not described as ipadic does.
  [[nodiscard]] static result<std::shared_ptr<const dictionary>> open(const mecab_library& library, const std::string& folder);
  dictionary(const dictionary&) = delete;
  dictionary& operator=(const dictionary&) = delete;
  ~dictionary();

  /// `UTF-8-392127-102` for each of its files: charset, words and version.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

  /// What a thread needs of its own to cut.
  class bench {
   public:
    explicit bench(const dictionary& by);
    bench(const bench&) = delete;
    bench& operator=(const bench&) = delete;
    ~bench();
    /// The words of a sentence, which must outlive them, linked by `next`; good until the next call. Null: it cannot be cut.
    [[nodiscard]] const mecab_node_t* words_of(std::string_view sentence);

   private:
    const dictionary& by_;
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

/// A member of what a dictionary says of a word: its columns are separated by commas. Empty: there is none.
[[nodiscard]] std::string_view column_of(std::string_view feature, std::size_t which) noexcept;

}  // namespace hondana::tokenizer
