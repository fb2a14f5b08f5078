#include "command.h"

int main(int argc, char** argv) { return dapple::cli::run_command(argc, argv); }
