#include "lib/index/entry_pages.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace dapple::detail {

static_assert(std::atomic<void*>::is_always_lock_free && sizeof(std::atomic<void*>) == 8,
              "zero bytes must be null pointers");

EntryPages::EntryPages(std::unique_ptr<const EntryMaker> maker, std::uint64_t count)
    : maker_(std::move(maker)),
      count_(count),
      pages_(static_cast<std::atomic<Page*>*>(
          std::calloc(count / kPerPage + 1, sizeof(std::atomic<Page*>)))) {
  if (pages_ == nullptr) throw std::bad_alloc();
}

EntryPages::~EntryPages() {
  for (std::uint64_t i = 0; i <= count_ / kPerPage; ++i) delete pages_.get()[i].load();
}

void EntryPages::Free::operator()(std::atomic<Page*>* pages) const noexcept { std::free(pages); }

const std::byte* EntryPages::at(std::uint64_t number) {
  std::atomic<Page*>& slot = pages_.get()[number / kPerPage];
  const std::uint64_t i = number % kPerPage, bit = std::uint64_t{1} << i;
  Page* page = slot.load(std::memory_order_acquire);
  if (page == nullptr || (page->made.load(std::memory_order_acquire) & bit) == 0) {
    const std::lock_guard lock(mutex_);
    page = slot.load(std::memory_order_relaxed);
    if (page == nullptr) {
      page = new Page;
      slot.store(page, std::memory_order_release);
    }
    if ((page->made.load(std::memory_order_relaxed) & bit) == 0) {
      store_entry(page->entries + i * Entry::kBytes, maker_->make(number));
      page->made.fetch_or(bit, std::memory_order_release);
    }
  }
  return page->entries + i * Entry::kBytes;
}

std::uint64_t EntryPages::in_file_order(std::uint64_t i) {
  std::call_once(ordered_, [this] {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places(count_);
    for (std::uint64_t n = 0; n < count_; ++n) places[n] = {maker_->make(n).offset, n};
    std::sort(places.begin(), places.end());
    order_.reserve(count_);
    for (const auto& [offset, number] : places) order_.push_back(number);
  });
  return order_[i];
}

}  // namespace dapple::detail
