/// Resources: a text, a picture, one that is watched, and a template.
#include <memory>

#include <hondana/memory_provider.hpp>

#include "everything.hpp"

namespace everything {

result<void> add_resources(server& target) {
  auto provider = std::make_shared<hondana::memory_provider>("test", "test://");
  const auto add = [&provider](const char* uri, const char* title, const char* mime_type, std::string bytes) {
    return provider->add({.uri = uri, .name = title, .title = title, .description = title, .mime_type = mime_type},
                         std::move(bytes));
  };
  if (auto added = add("test://static-text", "A text", "text/plain", "This is the content of the static text resource.");
      !added) {
    return added;
  }
  if (auto added = add("test://static-binary", "A picture", "image/png", picture()); !added) return added;
  if (auto added = add("test://watched-resource", "Something to watch", "text/plain", "Nothing has happened yet."); !added) {
    return added;
  }
  auto added = provider->add_template(
      {.uri_template = "test://template/{id}/data",
       .name = "Data by id",
       .description = "Tells its id",
       .mime_type = "application/json"},
      [](const hondana::read_request& request) -> result<hondana::read_result> {
        std::string id;
        if (request.match) {
          for (const auto& [name, chosen] : request.match->variables) {
            if (const auto* text = std::get_if<std::string>(&chosen); text != nullptr && name == "id") id = *text;
          }
        }
        const hondana::value data = hondana::value::object{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
        return hondana::text_read_result(data.to_text(), "application/json");
      });
  if (!added) return added;
  return target.add(std::move(provider));
}

}  // namespace everything
