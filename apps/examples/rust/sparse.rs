//! The C functions from Rust: what ../c/sparse.c does, without a crate.
//!   rustc --edition 2021 -O -L LIBRARY-FOLDER sparse.rs && ./sparse FOLDER
use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr::{null, null_mut};

const F32: i32 = 9;
const F64: i32 = 10;
const OUT_OF_RANGE: i32 = 5;

#[repr(C)]
struct Error {
    code: i32,
    error_number: i32,
    byte: u64,
    option: [c_char; 32],
    file: [c_char; 480],
    message: [c_char; 1024],
}

#[repr(C)]
struct Info {
    rows: u64,
    cols: u64,
    blocks: u64,
    tile_rows: u64,
    tile_cols: u64,
    bytes: u64,
    contents: u64,
    format: *const c_char,
    kind: i32,
    value_type: i32,
    sparse: i32,
    row_names: i32,
    col_names: i32,
    reserved: [i32; 3],
}

#[repr(C)]
struct Region {
    row_begin: u64,
    row_end: u64,
    col_begin: u64,
    col_end: u64,
}

#[repr(C)]
struct Arrays {
    rows: u64,
    entries: u64,
    ptr: *const u64,
    idx: *const u64,
    values: *const c_void,
    value_type: i32,
    reserved: [i32; 3],
}

#[repr(C)]
struct Stats {
    count: u64,
    nonzero: u64,
    nans: u64,
    min: f64,
    max: f64,
    sum: f64,
    mean: f64,
    variance: f64,
}

#[repr(C)]
struct Object([u8; 0]);
#[repr(C)]
struct Sparse([u8; 0]);
#[repr(C)]
struct Writer([u8; 0]);

#[link(name = "dapple")]
extern "C" {
    fn dapple_create(path: *const c_char, rows: u64, cols: u64, value_type: i32, options: *const *const c_char,
                     writer: *mut *mut Writer, error: *mut Error) -> i32;
    fn dapple_put_sparse(writer: *mut Writer, row: u64, col: u64, rows: u64, cols: u64, value_type: i32,
                         ptr: *const u64, idx: *const u64, values: *const c_void, error: *mut Error) -> i32;
    fn dapple_finish(writer: *mut Writer, error: *mut Error) -> i32;
    fn dapple_abandon(writer: *mut *mut Writer);
    fn dapple_open(path: *const c_char, options: *const *const c_char, object: *mut *mut Object,
                   error: *mut Error) -> i32;
    fn dapple_close(object: *mut *mut Object);
    fn dapple_get_info(object: *const Object, info: *mut Info, error: *mut Error) -> i32;
    fn dapple_read(object: *const Object, region: *const Region, value_type: i32, out: *mut c_void, size: usize,
                   row_stride: usize, col_stride: usize, options: *const c_void, error: *mut Error) -> i32;
    fn dapple_gather_rows(object: *const Object, rows: *const u64, n: usize, col_begin: u64, col_end: u64,
                          value_type: i32, options: *const c_void, sparse: *mut *mut Sparse,
                          error: *mut Error) -> i32;
    fn dapple_get_arrays(sparse: *const Sparse, arrays: *mut Arrays, error: *mut Error) -> i32;
    fn dapple_sparse_free(sparse: *mut *mut Sparse);
    fn dapple_get_stats(object: *const Object, axis: i32, stats: *mut Stats, n: usize, options: *const c_void,
                        error: *mut Error) -> i32;
}

/// The code and the message of a call that failed.
type Failure = (i32, String);

/// Makes a call, which fills the error that it is given.
fn call(f: impl FnOnce(*mut Error) -> i32) -> Result<(), Failure> {
    // An error is plain numbers and characters.
    let mut error: Error = unsafe { std::mem::zeroed() };
    match f(&mut error) {
        0 => Ok(()),
        code => Err((code, unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_string_lossy().into_owned())),
    }
}

/// A matrix that is open.
struct Matrix(*mut Object);

impl Matrix {
    fn open(path: &CStr) -> Result<Self, Failure> {
        let mut object = null_mut();
        call(|e| unsafe { dapple_open(path.as_ptr(), null(), &mut object, e) })?;
        Ok(Matrix(object))
    }

    fn info(&self) -> Result<Info, Failure> {
        let mut info: Info = unsafe { std::mem::zeroed() };
        call(|e| unsafe { dapple_get_info(self.0, &mut info, e) })?;
        Ok(info)
    }

    fn read(&self, region: Region, out: &mut [f32]) -> Result<(), Failure> {
        let size = std::mem::size_of_val(out);
        call(|e| unsafe { dapple_read(self.0, &region, F32, out.as_mut_ptr().cast(), size, 0, 0, null(), e) })
    }

    /// Columns and values of some rows.
    fn rows(&self, list: &[u64], cols: u64) -> Result<Vec<(u64, f64)>, Failure> {
        let mut sparse = null_mut();
        let mut arrays: Arrays = unsafe { std::mem::zeroed() };
        call(|e| unsafe {
            dapple_gather_rows(self.0, list.as_ptr(), list.len(), 0, cols, F64, null(), &mut sparse, e)
        })?;
        call(|e| unsafe { dapple_get_arrays(sparse, &mut arrays, e) })?;
        let n = arrays.entries as usize;
        let entries = unsafe {
            let (idx, values) = (arrays.idx, arrays.values.cast::<f64>());
            (0..n).map(|k| (*idx.add(k), *values.add(k))).collect()
        };
        unsafe { dapple_sparse_free(&mut sparse) };
        Ok(entries)
    }

    fn stats(&self) -> Result<Stats, Failure> {
        let mut stats: Stats = unsafe { std::mem::zeroed() };
        call(|e| unsafe { dapple_get_stats(self.0, 0, &mut stats, 1, null(), e) })?;
        Ok(stats)
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        unsafe { dapple_close(&mut self.0) }
    }
}

fn write_matrix(path: &CStr) -> Result<(), Failure> {
    let options = [c"storage=csr".as_ptr(), c"overwrite=true".as_ptr(), null()];
    let (ptr, idx, values) = ([0u64, 1, 1, 3, 3], [1u64, 0, 2], [5f64, 7., 9.]);
    let mut writer = null_mut();
    call(|e| unsafe { dapple_create(path.as_ptr(), 4, 3, F64, options.as_ptr(), &mut writer, e) })?;
    let put = call(|e| unsafe {
        dapple_put_sparse(writer, 0, 0, 4, 3, F64, ptr.as_ptr(), idx.as_ptr(), values.as_ptr().cast(), e)
    });
    let done = put.and_then(|()| call(|e| unsafe { dapple_finish(writer, e) }));
    unsafe { dapple_abandon(&mut writer) };
    done
}

fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).expect("usage: sparse FOLDER");
    let path = CString::new(folder + "/sparse.dbdf").expect("a path without zeros");
    write_matrix(&path)?;
    let matrix = Matrix::open(&path)?;
    let info = matrix.info()?;
    println!("{} x {}", info.rows, info.cols);
    let mut cells = [0f32; 6];
    matrix.read(Region { row_begin: 1, row_end: 3, col_begin: 0, col_end: 3 }, &mut cells)?;
    println!("{}", cells.map(|cell| cell.to_string()).join(" "));
    let entries = matrix.rows(&[2, 0], info.cols)?;
    let shown: Vec<String> = entries.iter().map(|(col, value)| format!("{col}:{value}")).collect();
    println!("{} in 2 rows", shown.join(" "));
    let stats = matrix.stats()?;
    println!("sum {}, maximum {}", stats.sum, stats.max);
    let outside = Region { row_begin: 0, row_end: 5, col_begin: 0, col_end: 3 };
    if let Err((OUT_OF_RANGE, _)) = matrix.read(outside, &mut [0f32; 15]) {
        println!("out of range");
    }
    Ok(())
}
