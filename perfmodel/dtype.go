package perfmodel

import (
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// A storage is how one element type lies in memory. An FP4 element as stored holds two values.
type storage struct {
	typ   hw.DType
	bytes int64
}

// storageOf returns the element type and size behind the profiler's own word for it: a C++ type such as
// "c10::BFloat16", or "long int". Letter case is ignored. Words that are no element type ("Scalar", "", an unknown
// class) are not ok; no size is assumed for them.
func storageOf(word string) (storage, bool) {
	switch word { // most of all tensors
	case "c10::BFloat16":
		return bf16, true
	case "float":
		return fp32, true
	}
	if s, ok := storages[word]; ok {
		return s, true
	}
	s, ok := storages[strings.ToLower(word)]
	return s, ok
}

// storages is keyed by the names that c10 and the C++ compiler give, as written and in lower case.
var storages = func() map[string]storage {
	m := map[string]storage{
		"bool": {hw.Bool, 1}, "unsigned char": {hw.UInt8, 1}, "uint8": {hw.UInt8, 1},
		"signed char": {hw.Int8, 1}, "char": {hw.Int8, 1}, "int8": {hw.Int8, 1},
		"short": {hw.Int16, 2}, "short int": {hw.Int16, 2}, "unsigned short": {hw.Int16, 2},
		"short unsigned int": {hw.Int16, 2},
		"int":                {hw.Int32, 4}, "unsigned int": {hw.Int32, 4}, "unsigned": {hw.Int32, 4},
		"long": {hw.Int64, 8}, "long int": {hw.Int64, 8}, "unsigned long": {hw.Int64, 8},
		"long unsigned int": {hw.Int64, 8},
		"long long":         {hw.Int64, 8}, "unsigned long long": {hw.Int64, 8},
		"float": {hw.FP32, 4}, "double": {hw.FP64, 8},
		"c10::Half": {hw.FP16, 2}, "c10::BFloat16": {hw.BF16, 2},
		"c10::complex<float>": {hw.Complex64, 8}, "c10::complex<double>": {hw.Complex128, 16},
		"c10::Float8_e4m3fn": {hw.FP8, 1}, "c10::Float8_e4m3fnuz": {hw.FP8, 1}, "c10::Float8_e5m2": {hw.FP8, 1},
		"c10::Float8_e5m2fnuz": {hw.FP8, 1}, "c10::Float8_e8m0fnu": {hw.FP8, 1}, "c10::Float4_e2m1fn_x2": {hw.FP4, 1},
	}
	for word, s := range m {
		m[strings.ToLower(word)] = s
	}
	return m
}()

// storageOfCode returns what a c10::ScalarType number stands for (c10/core/ScalarType.h). Such numbers are recorded as
// the concrete value of dtype arguments.
func storageOfCode(code int64) (storage, bool) {
	switch code {
	case 0:
		return storage{hw.UInt8, 1}, true
	case 1:
		return storage{hw.Int8, 1}, true
	case 2, 27:
		return storage{hw.Int16, 2}, true
	case 3, 28:
		return storage{hw.Int32, 4}, true
	case 4, 29:
		return storage{hw.Int64, 8}, true
	case 5:
		return storage{hw.FP16, 2}, true
	case 6:
		return storage{hw.FP32, 4}, true
	case 7:
		return storage{hw.FP64, 8}, true
	case 9:
		return storage{hw.Complex64, 8}, true
	case 10:
		return storage{hw.Complex128, 16}, true
	case 11:
		return storage{hw.Bool, 1}, true
	case 15:
		return storage{hw.BF16, 2}, true
	case 23, 24, 25, 26, 44:
		return storage{hw.FP8, 1}, true
	case 45:
		return storage{hw.FP4, 1}, true
	}
	return storage{}, false
}

// A rank orders the categories of type promotion.
type rank uint8

const (
	noRank rank = iota
	boolRank
	intRank
	floatRank
	complexRank
)

func rankOf(t hw.DType) rank {
	switch t {
	case hw.Bool:
		return boolRank
	case hw.UInt8, hw.Int8, hw.Int16, hw.Int32, hw.Int64:
		return intRank
	case hw.FP4, hw.FP6, hw.FP8, hw.FP16, hw.BF16, hw.TF32, hw.FP32, hw.FP64:
		return floatRank
	case hw.Complex64, hw.Complex128:
		return complexRank
	}
	return noRank
}

var (
	boolean = storage{hw.Bool, 1}
	int32s  = storage{hw.Int32, 4}
	int64s  = storage{hw.Int64, 8}
	bf16    = storage{hw.BF16, 2}
	fp32    = storage{hw.FP32, 4}
)

// promote returns the type of an operation between two tensors of equal standing, by the rules of torch.promote_types.
func promote(a, b storage) storage {
	switch ra, rb := rankOf(a.typ), rankOf(b.typ); {
	case ra > rb:
		return a
	case ra < rb:
		return b
	}
	switch {
	case a == b:
		return a
	case a.bytes > b.bytes:
		return a
	case a.bytes < b.bytes:
		return b
	case a.typ == hw.UInt8 || b.typ == hw.UInt8:
		return storage{hw.Int16, 2}
	case a.bytes == 2:
		return fp32 // half with bfloat16
	}
	return a
}
