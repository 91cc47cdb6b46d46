/// The parameter `q` of lists.
#pragma once

#include <boost/json/object.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace drive_test {

/// What a query asks of a file.
struct queried {
  const boost::json::object& shown;  ///< The whole resource.
  const std::string& text;           ///< For fullText.
  bool is_shared_with_me = false;
};

/// Whether a file fits.
using query = std::function<bool(const queried&)>;

/// How ids stand for others: "root" is one's own.
using alias = std::function<std::string(const std::string&)>;

/// What a query is and what it asks for.
struct parsed_query {
  query fits{};                  ///< Empty: the text is no query.
  std::string missing_parent{};  ///< Of `'ID' in parents`: one that `is_there` does not know.
  bool has_full_text = false;
  bool names_parent = false;
};

/// Fields that a list knows: of files, or of shared drives.
enum class queried_list { files, drives };

parsed_query parse_query(std::string_view text, queried_list of, const alias& by,
                         const std::function<bool(const std::string&)>& is_there);

}  // namespace drive_test
