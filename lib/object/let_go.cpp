#include "dapple/memory.h"
#include "lib/io/local/local_file.h"
#include "lib/object/store.h"

namespace dapple {

void let_go(const BlockedObject& object) noexcept {
  if (const detail::LocalFile* const file = object.store().file().local()) file->let_go();
}

}  // namespace dapple
