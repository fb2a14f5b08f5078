export type ValueType = "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "f32" | "f64";
export type Values = Uint8Array | Uint16Array | Uint32Array | BigUint64Array | Int8Array | Int16Array | Int32Array |
  BigInt64Array | Float32Array | Float64Array;
export type Cell = number | bigint | boolean | string | null;
/** Rows and columns from the first number up to, and without, the second; all of them by default. */
export interface Region { rows?: [number, number]; cols?: [number, number] }
export interface Source { name?: string; size: number; read(offset: number, length: number): Promise<Uint8Array> }

export interface Options {
  name?: string;                        // in messages
  headers?: Record<string, string>;     // of requests
  fetch?: typeof fetch;
  kept?: number;                        // bytes of an address that are kept in memory; 256 MiB
  hashes?: boolean;                     // false: those of blocks are not compared
  zstd?: (frame: Uint8Array, most: number) => Uint8Array;  // for packed files, of which some parts are compressed
  walk?: number;                        // blocks of a file without an index, at most; 2000 of an address
}
export interface ReadOptions { numbers?: boolean; absent?: 0 | number | null }

export interface Column {
  label: string; type: ValueType;
  meaning: "number" | "boolean" | "timestamp" | "duration" | "category" | "text";
  missing: bigint | null;               // the bits of the value that marks missing cells
  unit?: "D" | "s" | "ms" | "us" | "ns"; zone?: string; ordered?: boolean;
  words?: { length: number; at(i: number): string } | null;
}
export interface Group { first: number; count: number; name: string; names: { length: number; at(i: number): string } | null }
export interface Entry {
  number: number; rx: number; cx: number; rows: number; cols: number; kind: 0 | 1 | 2 | 3; type: number; codec: number;
  offset: number; bytes: number; stored: number; hash: bigint;
}
export type Stored = { values: Values } | { rows: Uint32Array; cols: Uint32Array; values: Values };
export interface BlockStatistics {
  type: ValueType; nonzero: number; nan: number; least: number | bigint; greatest: number | bigint; sum: number | bigint;
  squares?: bigint; distances?: number; numbers?: number;
}

export interface DbdfFile {
  readonly name: string; readonly size: number; readonly rows: number; readonly cols: number; readonly isFrame: boolean;
  readonly type: ValueType | null; readonly types: ValueType[]; readonly labels: string[] | null;
  readonly columns: Column[] | null; readonly groups: Group[];
  readonly tiling: { rows: number; cols: number; down: number; across: number } | null;
  read(region?: Region, options?: ReadOptions): Promise<Values | Values[]>;
  column(which: number | string, options?: { rows?: [number, number]; text?: boolean; absent?: 0 | number | null }): Promise<Cell[]>;
  counts(): Promise<{ total: number; empty: number; dense: number; csr: number; coo: number; stored: number }>;
  entriesIn(region: Region): Promise<Entry[]>;
  entry(i: number): Promise<Entry>;
  block(entry: Entry): Promise<Stored>;
  statistics(): Promise<{ length: number; of(i: number): BlockStatistics | null } | null>;
  names(axis?: "rows" | "columns"): Promise<{ length: number; at(i: number): string } | null>;
  attributes(): Promise<Record<string, unknown>>;
}

export class DbdfError extends Error { file: string; byte: number | null }
export function open(from: string | URL | Blob | ArrayBuffer | ArrayBufferView | Source, options?: Options): Promise<DbdfFile>;
