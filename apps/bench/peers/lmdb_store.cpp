#include "peers/lmdb_store.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <stdexcept>

namespace dapple::bench {

namespace {

constexpr unsigned kFileFlags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS;

void require(int status, const char* call) {
  if (status == MDB_SUCCESS) return;
  throw std::runtime_error(fmt::format("LMDB: {}: {}", call, mdb_strerror(status)));
}

}  // namespace

std::string lmdb_version() {
  return fmt::format("{}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
}

struct LmdbMaker::Impl {
  MDB_env* env = nullptr;
  MDB_txn* transaction = nullptr;
  MDB_dbi table = 0;
};

LmdbMaker::LmdbMaker(const std::filesystem::path& path, std::uint64_t room, Sync sync)
    : impl_(std::make_unique<Impl>()) {
  require(mdb_env_create(&impl_->env), "mdb_env_create");
  require(mdb_env_set_mapsize(impl_->env, room), "mdb_env_set_mapsize");
  const unsigned flags = kFileFlags | MDB_WRITEMAP | (sync == Sync::no ? MDB_NOSYNC : 0U);
  require(mdb_env_open(impl_->env, path.c_str(), flags, 0644), "mdb_env_open");
  require(mdb_txn_begin(impl_->env, nullptr, 0, &impl_->transaction), "mdb_txn_begin");
  require(mdb_dbi_open(impl_->transaction, nullptr, MDB_INTEGERKEY | MDB_CREATE, &impl_->table),
          "mdb_dbi_open");
}

LmdbMaker::~LmdbMaker() {
  if (impl_->transaction != nullptr) mdb_txn_abort(impl_->transaction);
  mdb_env_close(impl_->env);
}

void LmdbMaker::append(std::uint64_t key, std::span<const std::byte> value) {
  MDB_val k{sizeof key, &key};
  MDB_val v{value.size(), const_cast<std::byte*>(value.data())};
  require(mdb_put(impl_->transaction, impl_->table, &k, &v, MDB_APPEND), "mdb_put");
}

void LmdbMaker::finish() {
  require(mdb_txn_commit(impl_->transaction), "mdb_txn_commit");
  impl_->transaction = nullptr;
  MDB_envinfo info{};
  MDB_stat stat{};
  require(mdb_env_info(impl_->env, &info), "mdb_env_info");
  require(mdb_env_stat(impl_->env, &stat), "mdb_env_stat");
  const char* path = nullptr;
  require(mdb_env_get_path(impl_->env, &path), "mdb_env_get_path");
  std::filesystem::resize_file(path, (info.me_last_pgno + 1) * stat.ms_psize);
}

struct LmdbStore::Impl {
  MDB_env* env = nullptr;
  ~Impl() { mdb_env_close(env); }
};

LmdbStore::LmdbStore(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
  require(mdb_env_create(&impl_->env), "mdb_env_create");
  require(mdb_env_open(impl_->env, path.c_str(), kFileFlags | MDB_RDONLY, 0), "mdb_env_open");
}

LmdbStore::~LmdbStore() = default;

LmdbStore::Reader::Reader(const LmdbStore& store) {
  MDB_txn* transaction = nullptr;
  require(mdb_txn_begin(store.impl_->env, nullptr, MDB_RDONLY, &transaction), "mdb_txn_begin");
  transaction_ = transaction;
  require(mdb_dbi_open(transaction, nullptr, MDB_INTEGERKEY, &table_), "mdb_dbi_open");
}

LmdbStore::Reader::~Reader() { mdb_txn_abort(static_cast<MDB_txn*>(transaction_)); }

const std::byte* LmdbStore::Reader::find(std::uint64_t key) const {
  MDB_val k{sizeof key, &key};
  MDB_val v{};
  require(mdb_get(static_cast<MDB_txn*>(transaction_), table_, &k, &v), "mdb_get");
  return static_cast<const std::byte*>(v.mv_data);
}

}  // namespace dapple::bench
