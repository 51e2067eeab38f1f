// Whole files.
#pragma once

#include <string>

namespace schedlab::batsim {

std::string read_file(const std::string &path);  // Unsupported if it cannot be read, is compressed or no UTF-8

}  // namespace schedlab::batsim
