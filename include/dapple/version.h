// The version of these headers.
#pragma once

#define DAPPLE_VERSION "0.3.0"
#define DAPPLE_VERSION_MAJOR 0
#define DAPPLE_VERSION_MINOR 3
#define DAPPLE_VERSION_PATCH 0
