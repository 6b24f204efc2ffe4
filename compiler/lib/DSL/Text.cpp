//===- Text.cpp - spellings of buffers in messages -------------------------------------------===//

#include "Text.h"

namespace kiln::trace {

std::string_view nameOf(nl::Buffer buffer) {
  switch (buffer) {
  case nl::Buffer::sbuf:
    return "sbuf";
  case nl::Buffer::psum:
    return "psum";
  case nl::Buffer::private_hbm:
    return "private_hbm";
  case nl::Buffer::shared_hbm:
    return "shared_hbm";
  case nl::Buffer::value:
    return "no memory";
  }
  return "?";
}

} // namespace kiln::trace
