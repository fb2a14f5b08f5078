// dapple help: what there is to know of a format, beside the help of each verb.
#include <fmt/format.h>

#include "dapple/convert.h"
#include "format_flags.h"
#include "help.h"

namespace dapple::cli {

namespace {

const Verb kTopic{"help", "", "", "", "", nullptr};

std::string uses_text(const FormatInfo& format) {
  const std::string_view uses = format.reads && format.writes ? "read and written"
                                : format.reads                ? "read"
                                                              : "written";
  return std::string(uses) + (format.streams ? ", also as a stream" : "");
}

std::string format_text(const FormatInfo& format) {
  OpenOptions options;
  Command command(kTopic);
  add_format_flags(command, options);
  const std::string flags = command.topic_help(format.name);
  std::string text = fmt::format("{}: {}\n\n", format.name, format.title);
  if (!format.extensions.empty()) {
    text += fmt::format("files are named {}; --{} others\n", format.extensions,
                        format.reads ? fmt::format("from {} reads", format.name)
                                     : fmt::format("to {} writes", format.name));
  }
  text += fmt::format("{}\n", uses_text(format));
  if (!flags.empty()) text += "\nflags of all verbs that read such a file:\n" + flags;
  return text;
}

}  // namespace

std::string formats_text() {
  std::string text;
  for (const FormatInfo& format : formats()) {
    text += fmt::format("  {:<14}{:<28}{:<20}{}\n", format.name, format.title, format.extensions,
                        uses_text(format));
  }
  return text + "\ncompressed with gzip or zstd as a whole, each can be read as well\n";
}

std::optional<std::string> topic_text(std::string_view topic) {
  if (topic == "formats") return formats_text();
  for (const FormatInfo& format : formats()) {
    if (format.name == topic) return format_text(format);
  }
  return std::nullopt;
}

std::vector<std::string_view> topic_names() {
  std::vector<std::string_view> names{"formats"};
  for (const FormatInfo& format : formats()) names.push_back(format.name);
  return names;
}

}  // namespace dapple::cli
