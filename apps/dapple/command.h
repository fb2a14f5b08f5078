// dapple VERB [flags] FILE: the table of verbs, and the one place where failures are reported.
#pragma once

namespace dapple::cli {

/// All of the command; arguments and result as `main` has them. It writes to the standard output,
/// and ignores SIGPIPE and SIGXFSZ from now on. Once in a process.
int run_command(int argc, char** argv);

}  // namespace dapple::cli
