// What stands in for lmdb_store.cpp where there is no LMDB: workloads ask kHasLmdb first.
#include <stdexcept>

#include "peers/lmdb_store.h"

namespace dapple::bench {

namespace {

[[noreturn]] void absent() { throw std::logic_error("dapple-bench was built without LMDB"); }

}  // namespace

struct LmdbMaker::Impl {};
struct LmdbStore::Impl {};

std::string lmdb_version() { absent(); }
LmdbMaker::LmdbMaker(const std::filesystem::path&, std::uint64_t, Sync) { absent(); }
LmdbMaker::~LmdbMaker() = default;
void LmdbMaker::append(std::uint64_t, std::span<const std::byte>) { absent(); }
void LmdbMaker::finish() { absent(); }
LmdbStore::LmdbStore(const std::filesystem::path&) { absent(); }
LmdbStore::~LmdbStore() = default;
LmdbStore::Reader::Reader(const LmdbStore&) { absent(); }
LmdbStore::Reader::~Reader() = default;
const std::byte* LmdbStore::Reader::find(std::uint64_t) const { absent(); }

}  // namespace dapple::bench
