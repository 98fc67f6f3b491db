#pragma once

#include <string>

namespace redoubt::app {

std::string version();       // of Redoubt
std::string version_text();  // of Redoubt and of the libraries it was built with

}  // namespace redoubt::app
