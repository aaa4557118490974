package scan

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
)

// Nanoseconds reads a decimal number of microseconds as integer nanoseconds. No float is involved: three decimals are
// exact, more are rounded half to even. It reports false for text that is no finite number or does not fit an int64.
func Nanoseconds(num []byte) (int64, bool) {
	if v, n := fastNanoseconds(num, 0); n == len(num) && n > 0 {
		return v, true
	}
	return slowNanoseconds(num)
}

// fastNanoseconds reads digits with at most three decimals at b[i] and returns the value and the index behind it. The
// index is i if the number is not of this form; the caller must look at the byte behind it.
func fastNanoseconds(b []byte, i int) (int64, int) {
	start, neg := i, false
	if i < len(b) && b[i] == '-' {
		neg = true
		i++
	}
	first := i
	var v int64
	if d, ok := eightDigits(b, i); ok {
		v = int64(d)
		i += 8
	}
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + int64(b[i]-'0')
		i++
	}
	if n := i - first; n == 0 || n > 15 && (n > 16 || v > math.MaxInt64/1000-1) {
		return 0, start
	}
	v *= 1000
	if i < len(b) && b[i] == '.' {
		i++
		first = i
		for unit := int64(100); i < len(b) && b[i]-'0' <= 9; unit /= 10 {
			v += unit * int64(b[i]-'0')
			i++
		}
		if n := i - first; n == 0 || n > 3 {
			return 0, start
		}
	}
	if neg {
		v = -v
	}
	return v, i
}

// eightDigits reads eight digits at b[i] together: pairs, then fours, then all.
func eightDigits(b []byte, i int) (v uint64, ok bool) {
	if i+8 > len(b) {
		return 0, false
	}
	w := binary.LittleEndian.Uint64(b[i:])
	if (w & (w + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) != 0x3030303030303030 {
		return 0, false
	}
	w -= 0x3030303030303030
	w = w*10 + w>>8
	w = w&0x00ff00ff00ff00ff*100 + w>>16&0x00ff00ff00ff00ff
	return w&0xffff*10000 + w>>32&0xffff, true
}

// slowNanoseconds reads every other form of number: exponents, many digits, a leading plus.
func slowNanoseconds(num []byte) (int64, bool) {
	if len(num) == 0 || len(num) > 400 || !numeric(num) {
		return 0, false
	}
	if e := exponent(num); e > 400 || e < -400 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(string(num))
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(1000, 1))
	return roundHalfEven(r)
}

// numeric tells whether text is a plain decimal number; big.Rat would also take fractions, prefixes and underscores.
func numeric(text []byte) bool {
	digit := false
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9':
			digit = true
		case c == '-' || c == '+':
			if i > 0 && text[i-1]|0x20 != 'e' {
				return false
			}
		case c|0x20 == 'e':
			if !digit {
				return false
			}
		case c != '.':
			return false
		}
	}
	return digit
}

// exponent returns the decimal exponent of a number, so that 1e999999999 is refused before it is expanded.
func exponent(num []byte) int {
	for i, c := range num {
		if c|0x20 == 'e' {
			e, err := strconv.Atoi(string(num[i+1:]))
			if err != nil {
				return math.MaxInt
			}
			return e
		}
	}
	return 0
}

func roundHalfEven(r *big.Rat) (int64, bool) {
	q, m := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	twice := new(big.Int).Abs(m)
	twice.Lsh(twice, 1)
	if c := twice.Cmp(r.Denom()); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(r.Sign())))
	}
	return q.Int64(), q.IsInt64()
}

// Int reads an integer of up to 64 bits exactly: decimal, with or without sign, hexadecimal with 0x (as ROCm writes
// handles), or a number with a zero fraction ("5.0", "5e3"). Values above the int64 range but within 64 bits wrap to
// negative ones, so that distinct handles stay distinct and 18446744073709551615 is -1.
func Int(num []byte) (int64, bool) {
	if v, n := fastInt(num, 0); n == len(num) && n > 0 {
		return v, true
	}
	if len(num) == 0 {
		return 0, false
	}
	if len(num) > 2 && num[0] == '0' && num[1]|0x20 == 'x' {
		u, err := strconv.ParseUint(string(num[2:]), 16, 64)
		return int64(u), err == nil
	}
	if len(num) > 40 || !numeric(num) {
		return 0, false
	}
	if u, err := strconv.ParseUint(string(num), 10, 64); err == nil {
		return int64(u), true
	}
	if v, err := strconv.ParseInt(string(num), 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(string(num), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// fastInt reads up to 18 digits with an optional minus at b[i] and returns the value and the index behind it, i if there
// is no such number.
func fastInt(b []byte, i int) (int64, int) {
	start, neg := i, false
	if i < len(b) && b[i] == '-' {
		neg = true
		i++
	}
	first := i
	var v int64
	for i < len(b) && b[i]-'0' <= 9 {
		v = v*10 + int64(b[i]-'0')
		i++
	}
	if n := i - first; n == 0 || n > 18 {
		return 0, start
	}
	if neg {
		v = -v
	}
	return v, i
}

// ends tells whether c may follow a number or a word.
func ends(c byte) bool { return c == ',' || c == '}' || c == ']' || c <= ' ' }
