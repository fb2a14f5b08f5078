// Runs the test cases, and ends with the line that tests/count.py adds up:
// "N passed, N failed, N skipped".
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/check.h"
#include "tests/support.h"

namespace {

// Why the running test case gave up; doctest 2.4.9 has no skipping at run time.
std::optional<std::string> skip_reason;

class Counter : public doctest::IReporter {
 public:
  explicit Counter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test_case) override {
    name_ = test_case.m_name;
    skip_reason.reset();
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (stats.failure_flags != 0) {
      ++failed_;
    } else if (skip_reason) {
      ++skipped_;
      std::cout << "skipped: " << name_ << ": " << *skip_reason << '\n';
    } else {
      ++passed_;
    }
  }
  void test_run_end(const doctest::TestRunStats&) override {
    std::cout << passed_ << " passed, " << failed_ << " failed, " << skipped_ << " skipped\n";
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  std::string name_;
  int passed_ = 0, failed_ = 0, skipped_ = 0;
};

REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

#if defined(__SANITIZE_THREAD__)
// oneTBB joins its tasks by a memory fence, of which the thread sanitizer knows nothing. Only races
// that happen right there are passed over, none in what the tasks do. The second name is the first
// where a name is too long to be taken apart.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:tbb::detail::d1\nrace_top:_ZN3tbb6detail2d1\n";
}
#endif

namespace dapple::test {

#ifndef DAPPLE_BOTH_SIDES
void check(bool holds, const char* text, const char* file, int line) {
  if (!holds) ADD_FAIL_CHECK_AT(file, line, std::string(text));
}

void require(bool holds, const char* text, const char* file, int line) {
  if (!holds) ADD_FAIL_AT(file, line, std::string(text));
}
#endif

void skip(std::string reason) { skip_reason = std::move(reason); }

std::filesystem::path golden(std::string_view name) {
  return std::filesystem::path(DAPPLE_GOLDEN) / name;
}

std::vector<std::filesystem::path> golden_files(std::string_view name, std::string_view suffix) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(golden(name))) {
    if (entry.path().string().ends_with(suffix)) found.push_back(entry.path());
  }
  REQUIRE(!found.empty());
  std::sort(found.begin(), found.end());
  return found;
}

Error required_error(const std::optional<Error>& error) {
  REQUIRE(error);
  return *error;
}

}  // namespace dapple::test
