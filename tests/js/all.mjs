// usage: all.mjs DAPPLE FOLDER CELLS (see run.sh)
import { finish } from "./common.mjs";
await import("./golden.mjs");
await import("./made.mjs");
await import("./damaged.mjs");
await import("./http.mjs");
finish();
