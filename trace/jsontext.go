package trace

import (
	"strconv"
	"time"
)

// appendIntList writes an array of integers.
func appendIntList(dst []byte, list []int64) []byte {
	dst = append(dst, '[')
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	return append(dst, ']')
}

// appendMicros writes nanoseconds as microseconds with three decimals.
func appendMicros(dst []byte, d time.Duration) []byte {
	n := uint64(d)
	if d < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendUint(dst, n/1000, 10)
	rest := n % 1000
	return append(dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string: quotes, backslashes and control characters escaped, invalid UTF-8 replaced.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s { // an invalid byte comes as U+FFFD
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
