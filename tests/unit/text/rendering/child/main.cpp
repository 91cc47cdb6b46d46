/// The child that renders documents, alone: what the program does with that verb.
#include <string_view>

#include "text/rendering/render_child.hpp"

int main(int count, char** arguments) {
  if (count > 1 && std::string_view(arguments[1]) == hondana::rendering::render_verb)
    return hondana::rendering::render_as_child(count - 1, arguments + 1);
  return 2;
}
