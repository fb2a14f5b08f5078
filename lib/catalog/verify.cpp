#include "dapple/verify.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dapple/sidecar.h"
#include "lib/base/json.h"
#include "lib/catalog/collection.h"
#include "lib/catalog/formats.h"
#include "lib/catalog/sources.h"
#include "lib/dataset/draft.h"
#include "lib/dbdf/care/values.h"
#include "lib/dbdf/care/verify_copy.h"
#include "lib/dbdf/care/verify_dbdf.h"
#include "lib/dbdf/read/open_dbdf.h"

namespace dapple {

namespace {

using Open = std::function<std::shared_ptr<const detail::Store>()>;

/// One object, which `open` opens unless it is text.
VerifyReport verify_one(const std::shared_ptr<detail::ByteSource>& file,
                        const detail::Format& format, Level level, const OpenOptions& options,
                        const Open& open, const TakeProgress& progress) {
  const bool payload = level == Level::payload;
  VerifyReport report;
  std::shared_ptr<const detail::Store> store;
  std::vector<Error> beside;  // findings about the sidecar
  try {
    if (format.parse != nullptr) {
      store = detail::texts::verify_text(file, format.info.name, format.parse, options, payload,
                                         beside);
      report.blocks = store->index().size();
      report.findings = std::move(beside);
      return report;  // all of it has been parsed
    }
    store = open();
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt && e.code() != Errc::unsupported) throw;
    report.findings.push_back(e);
    return report;
  }
  report.blocks = store->index().size();
  std::set<std::string> told;
  const auto collect = [&](auto&& check) {
    try {
      check();
    } catch (const Error& e) {
      // A part of a data set that is gone is a finding, too.
      if (e.code() == Errc::io && format.info.name != detail::dataset::kFormat) throw;
      // A column of words is read as a whole: every block of it fails with the same.
      if (!told.insert(e.what()).second) return;
      report.findings.push_back(e);
    }
  };
  for (std::uint64_t i = 0; i < store->index().size(); ++i) {
    collect([&] {
      const detail::Entry entry = store->confirmed_entry(i);
      if (payload) {
        detail::dbdf::read_all(*store, entry);
        if (format.check_values != nullptr) format.check_values(*store, entry);
      }
    });
    if (progress) progress(i + 1, store->index().size());
  }
  const auto texts = store->text_columns();
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (!texts[k].readable) {
      report.findings.push_back(
          Error(Errc::unsupported, file->name(), std::nullopt,
                "column \"" + texts[k].label + "\" cannot be read: " + texts[k].type));
    }
    if (!texts[k].readable || !payload) continue;
    collect([&] {
      store->read_text(k, {0, store->schema().rows}, [](std::uint64_t, std::string_view) {});
    });
  }
  if (payload) collect([&] { store->details(); });
  return report;
}

VerifyReport verify_foreign(const std::shared_ptr<detail::ByteSource>& file,
                            const detail::Format& format, Level level, OpenOptions options,
                            const TakeProgress& progress) {
  options.format_options.emplace("futhark.first", "true");  // opening checks all values
  options.format_options.emplace("idv.keep_hidden", "true");
  VerifyReport report;
  std::vector<detail::arrays::Listed> listed;
  try {
    if (format.list != nullptr && options.array.empty()) listed = format.list(file);
    if (level == Level::payload && format.check_sums != nullptr) {
      format.check_sums(*file, report.findings);
    }
  } catch (const Error& e) {
    if (e.code() != Errc::corrupt && e.code() != Errc::unsupported) throw;
    report.findings.push_back(e);
    return report;
  }
  const bool several = listed.size() > 1;
  if (!several) listed = {{"", [&] { return format.open(file, options); }}};
  for (const auto& [name, open] : listed) {
    const VerifyReport one = verify_one(file, format, level, options, open, progress);
    report.blocks += one.blocks;
    for (const Error& e : one.findings) {
      report.findings.push_back(
          several ? e.retold(e.file(), e.offset(), "'" + name + "': " + e.detail()) : e);
    }
  }
  return report;
}

/// Every block of a data set as its state has it, and every part as a file of its own.
VerifyReport verify_dataset(const std::shared_ptr<detail::ByteSource>& file,
                            const detail::Format& format, Level level, OpenOptions options,
                            const TakeProgress& progress) {
  namespace dataset = detail::dataset;
  if (level == Level::payload) options.check = Check::first_touch;
  VerifyReport report = verify_foreign(file, format, level, options, progress);
  const auto collect = [&](auto&& check) {
    try {
      check();
    } catch (const Error& e) {
      const bool told =
          std::any_of(report.findings.begin(), report.findings.end(), [&](const Error& finding) {
            return e.code() == Errc::io && finding.code() == e.code() && finding.file() == e.file();
          });
      if (!told) report.findings.push_back(e);
    }
  };
  std::shared_ptr<const detail::Store> store;
  collect([&] { store = format.open(file, options); });
  if (store == nullptr) return report;
  const std::string folder = detail::folder_prefix(file->name());
  collect([&] { dataset::Draft(*store).require_apart(folder); });
  const dataset::StateTables& tables = *store->state<dataset::OpenState>().tables;
  if (level == Level::payload) {
    detail::dbdf::verify_hints(file, tables.head().body(), store->schema(), report.findings);
  }
  for (std::uint64_t i = 0; i < tables.head().parts; ++i) {
    collect([&] {
      const std::string name = dataset::part_name(tables.part(i).id);
      const auto part = file->beside(name);
      if (part == nullptr) detail::throw_io(folder + name, "open", ENOENT);
      const auto found = detail::dbdf::verify_dbdf(part, level, progress).findings;
      report.findings.insert(report.findings.end(), found.begin(), found.end());
    });
  }
  return report;
}

/// Adds what is wrong with the copy by column, if there is one.
void verify_copy_beside(const std::shared_ptr<detail::ByteSource>& file, Level level,
                        const OpenOptions& options, const TakeProgress& progress,
                        std::vector<Error>& findings) {
  std::error_code ignored;
  if (!std::filesystem::exists(column_copy_path(file->name()), ignored)) return;
  std::shared_ptr<const detail::Store> store;
  try {
    store = detail::open_store(file, options);
  } catch (const Error& e) {
    if (e.code() == Errc::io) throw;
    return;  // it is among the findings
  }
  detail::dbdf::verify_copy(store, level, progress, findings);
}

VerifyReport verify_source(const std::shared_ptr<detail::ByteSource>& opened, Level level,
                           const OpenOptions& options, const TakeProgress& progress) {
  return detail::watched(*opened, [&] {
    auto file = opened;
    const detail::Format& format = detail::format_to_read(file, options);
    if (format.info.name == detail::dataset::kFormat) {
      return verify_dataset(file, format, level, options, progress);
    }
    VerifyReport report = format.info.name == detail::dbdf::kDriver.format
                              ? detail::dbdf::verify_dbdf(file, level, progress)
                              : verify_foreign(file, format, level, options, progress);
    if (file == opened) verify_copy_beside(file, level, options, progress, report.findings);
    return report;
  });
}

/// Every member as a file of its own, every JSON text, and whether members fit each other.
VerifyReport verify_collection(const detail::CollectionFiles& files, Level level,
                               const OpenOptions& options, const TakeProgress& progress) {
  VerifyReport report;
  const auto collect = [&](auto&& check) {
    try {
      check();
    } catch (const Error& e) {
      if (e.code() == Errc::no_memory) throw;
      report.findings.push_back(e);
    }
  };
  const auto check_member = [&](const std::string& name) {
    const VerifyReport found = files.is_archive()
                                   ? verify_source(files.open(name), level, options, progress)
                                   : verify(files.path() + '/' + name, level, options, progress);
    report.blocks += found.blocks;
    report.findings.insert(report.findings.end(), found.findings.begin(), found.findings.end());
  };
  collect([&] { files.require_names(); });
  for (const std::string& name : files.names()) {
    collect([&] {
      if (name.ends_with(detail::kMemberEnding)) return check_member(name);
      detail::check_json(files.json(name), files.path() + '/' + name);
    });
  }
  if (report.findings.empty()) collect([&] { Collection::find(files.path())->require_axes(); });
  return report;
}

}  // namespace

VerifyReport verify(const std::filesystem::path& path, Level level, const OpenOptions& options,
                    const TakeProgress& progress) {
  if (options.array.empty()) {
    const auto files = detail::CollectionFiles::of(path.string(), options);
    if (files) return verify_collection(*files, level, options, progress);
  }
  return verify_source(detail::open_source(path.string(), options), level, options, progress);
}

}  // namespace dapple
