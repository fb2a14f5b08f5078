// The C functions from Go: what ../c/sparse.c does.
//
//	CGO_CFLAGS=-I.../include CGO_LDFLAGS="-L... -ldapple" go run sparse.go FOLDER
package main

/*
#include <dapple/dapple_c.h>
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
)

// Failure is a call's code and message.
type Failure struct {
	Code    C.int32_t
	Message string
}

func (f *Failure) Error() string { return f.Message }

func check(code C.int32_t, e *C.dapple_error) error {
	if code == C.DAPPLE_OK {
		return nil
	}
	return &Failure{code, C.GoString(&e.message[0])}
}

func writeMatrix(path *C.char) error {
	list := []string{"storage=csr", "overwrite=true"}
	// What C points to must not be Go's memory: the list of options is C's.
	options := (*[3]*C.char)(C.calloc(3, C.size_t(unsafe.Sizeof(path))))
	defer C.free(unsafe.Pointer(options))
	for k, option := range list {
		options[k] = C.CString(option)
		defer C.free(unsafe.Pointer(options[k]))
	}
	var e C.dapple_error
	var writer *C.dapple_writer
	if err := check(C.dapple_create(path, 4, 3, C.DAPPLE_F64, &options[0], &writer, &e), &e); err != nil {
		return err
	}
	defer C.dapple_abandon(&writer)
	ptr := []C.uint64_t{0, 1, 1, 3, 3}
	idx := []C.uint64_t{1, 0, 2}
	values := []float64{5, 7, 9}
	code := C.dapple_put_sparse(writer, 0, 0, 4, 3, C.DAPPLE_F64, &ptr[0], &idx[0], unsafe.Pointer(&values[0]), &e)
	if err := check(code, &e); err != nil {
		return err
	}
	return check(C.dapple_finish(writer, &e), &e)
}

// Matrix is a matrix that is open.
type Matrix struct{ object *C.dapple_object }

func openMatrix(path *C.char) (*Matrix, error) {
	var e C.dapple_error
	m := &Matrix{}
	return m, check(C.dapple_open(path, nil, &m.object, &e), &e)
}

func (m *Matrix) close() { C.dapple_close(&m.object) }

func (m *Matrix) read(region C.dapple_region, out []float32) error {
	var e C.dapple_error
	size := C.size_t(len(out)) * 4
	return check(C.dapple_read(m.object, &region, C.DAPPLE_F32, unsafe.Pointer(&out[0]), size, 0, 0, nil, &e), &e)
}

func (m *Matrix) rows(list []C.uint64_t, cols C.uint64_t) ([]string, error) {
	var e C.dapple_error
	var sparse *C.dapple_sparse
	defer C.dapple_sparse_free(&sparse)
	code := C.dapple_gather_rows(m.object, &list[0], C.size_t(len(list)), 0, cols, C.DAPPLE_F64, nil, &sparse, &e)
	if err := check(code, &e); err != nil {
		return nil, err
	}
	var arrays C.dapple_arrays
	if err := check(C.dapple_get_arrays(sparse, &arrays, &e), &e); err != nil {
		return nil, err
	}
	idx := unsafe.Slice(arrays.idx, int(arrays.entries))
	values := unsafe.Slice((*float64)(arrays.values), int(arrays.entries))
	var shown []string
	for k := range idx {
		shown = append(shown, fmt.Sprintf("%d:%g", idx[k], values[k]))
	}
	return shown, nil
}

func readMatrix(path *C.char) error {
	m, err := openMatrix(path)
	if err != nil {
		return err
	}
	defer m.close()
	var e C.dapple_error
	var info C.dapple_info
	if err := check(C.dapple_get_info(m.object, &info, &e), &e); err != nil {
		return err
	}
	fmt.Println(info.rows, "x", info.cols)
	cells := make([]float32, 6)
	if err := m.read(C.dapple_region{row_begin: 1, row_end: 3, col_end: 3}, cells); err != nil {
		return err
	}
	fmt.Println(strings.Trim(fmt.Sprint(cells), "[]"))
	entries, err := m.rows([]C.uint64_t{2, 0}, info.cols)
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(entries, " "), "in 2 rows")
	var stats C.dapple_stats
	if err := check(C.dapple_get_stats(m.object, C.DAPPLE_ALL, &stats, 1, nil, &e), &e); err != nil {
		return err
	}
	fmt.Printf("sum %g, maximum %g\n", float64(stats.sum), float64(stats.max))
	var failure *Failure
	err = m.read(C.dapple_region{row_end: 5, col_end: 3}, make([]float32, 15))
	if errors.As(err, &failure) && failure.Code == C.DAPPLE_OUT_OF_RANGE {
		fmt.Println("out of range")
	}
	return nil
}

func main() {
	path := C.CString(filepath.Join(os.Args[1], "sparse.dbdf"))
	defer C.free(unsafe.Pointer(path))
	for _, step := range []func(*C.char) error{writeMatrix, readMatrix} {
		if err := step(path); err != nil {
			log.Fatal(err)
		}
	}
}
