/// Results and arguments in short.
#include <hondana/prompt.hpp>
#include <hondana/tool.hpp>

#include <algorithm>

namespace hondana::inline v0 {

tool_result text_result(std::string text) {
  tool_result out;
  out.content.emplace_back(text_block{std::move(text), {}});
  return out;
}

tool_result error_result(std::string text) {
  auto out = text_result(std::move(text));
  out.isError = true;
  return out;
}

std::string prompt_call::argument(std::string_view wanted, std::string_view otherwise) const {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [wanted](const auto& one) { return one.first == wanted; });
  return std::string(found != arguments.end() ? std::string_view(found->second) : otherwise);
}

}  // namespace hondana::inline v0
