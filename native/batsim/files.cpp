#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.hpp"
#include "unsupported.hpp"

namespace schedlab::batsim {

std::string read_file(const std::string &path) {
  // Without blocking: a pipe is refused, and not waited for.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts;
  std::string content;
  bool whole = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
  if (whole) {
    content.resize(static_cast<std::size_t>(facts.st_size));
    for (std::size_t there = 0; whole && there < content.size();) {
      const ssize_t read_now = read(file, content.data() + there, content.size() - there);
      whole = read_now > 0;
      there += static_cast<std::size_t>(std::max<ssize_t>(read_now, 0));
    }
  }
  if (file >= 0) close(file);
  if (!whole || !valid_utf8(content)) throw Unsupported(path + " is no plain text");  // compressed ones are no UTF-8
  return content;
}

}  // namespace schedlab::batsim
