/// drive_stand_in [SEED.json...]: Google Drive API v3 as far as tests need it, on a free port of 127.0.0.1.
///
/// Says `listening on http://127.0.0.1:PORT` when it does, and ends when it is told to by a signal or when its standard input
/// ends.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "drive/stand_in/server.hpp"

int main(int count, char** words) try {
  drive_test::stand_in server;
  for (int i = 1; i < count; ++i) {
    std::ifstream from(words[i], std::ios::binary);
    if (!from) throw std::runtime_error(std::string("cannot read ") + words[i]);
    server.seed(std::string(std::istreambuf_iterator<char>(from), {}));
  }
  std::cout << "listening on " << server.url() << std::endl;
  while (std::getchar() != EOF) continue;
  return 0;
} catch (const std::exception& e) {
  std::cerr << "drive_stand_in: " << e.what() << '\n';
  return 1;
}
