package scan

import "encoding/binary"

// A bit for each envelope key, the keys that events have besides args.
const (
	kPh = 1 << iota
	kCat
	kName
	kPid
	kTid
	kTs
	kDur
	kID
	kArgs
)

// colon returns the index of the value behind the colon at or after b[i].
func colon(b []byte, i int) outcome {
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return short
	}
	if b[i] != ':' {
		return broken
	}
	i++
	for i < len(b) && b[i] <= ' ' {
		i++
	}
	if i >= len(b) {
		return short
	}
	return i
}

// Keys with their quotes and colon as the eight-byte words that they begin, and masks for their lengths.
const (
	wordPh   = '"' | 'p'<<8 | 'h'<<16 | '"'<<24 | ':'<<32
	wordTs   = '"' | 't'<<8 | 's'<<16 | '"'<<24 | ':'<<32
	wordID   = '"' | 'i'<<8 | 'd'<<16 | '"'<<24 | ':'<<32
	wordCat  = '"' | 'c'<<8 | 'a'<<16 | 't'<<24 | '"'<<32 | ':'<<40
	wordPid  = '"' | 'p'<<8 | 'i'<<16 | 'd'<<24 | '"'<<32 | ':'<<40
	wordTid  = '"' | 't'<<8 | 'i'<<16 | 'd'<<24 | '"'<<32 | ':'<<40
	wordDur  = '"' | 'd'<<8 | 'u'<<16 | 'r'<<24 | '"'<<32 | ':'<<40
	wordName = '"' | 'n'<<8 | 'a'<<16 | 'm'<<24 | 'e'<<32 | '"'<<40 | ':'<<48
	wordArgs = '"' | 'a'<<8 | 'r'<<16 | 'g'<<24 | 's'<<32 | '"'<<40 | ':'<<48
	mask5    = 1<<40 - 1
	mask6    = 1<<48 - 1
	mask7    = 1<<56 - 1
)

// commonKey reads an envelope key with its colon at b[i] by one load. It returns the bit of the key and the index of its
// value, or 0 if it is any other key or is written in any other way.
func commonKey(b []byte, i int) (bit uint, val int) {
	if i+10 > len(b) {
		return 0, 0
	}
	w := binary.LittleEndian.Uint64(b[i:])
	switch w & mask6 {
	case wordCat:
		bit, val = kCat, i+6
	case wordPid:
		bit, val = kPid, i+6
	case wordTid:
		bit, val = kTid, i+6
	case wordDur:
		bit, val = kDur, i+6
	default:
		switch w & mask7 {
		case wordName:
			bit, val = kName, i+7
		case wordArgs:
			bit, val = kArgs, i+7
		default:
			switch w & mask5 {
			case wordPh:
				bit, val = kPh, i+5
			case wordTs:
				bit, val = kTs, i+5
			case wordID:
				bit, val = kID, i+5
			default:
				return 0, 0
			}
		}
	}
	if b[val] == ' ' {
		val++
	}
	if b[val] <= ' ' {
		return 0, 0
	}
	return bit, val
}

// anyKey reads any key with its colon at b[i] == '"'.
func anyKey(b []byte, i int) (bit uint, val outcome) {
	end, _ := stringEnd(b, i+1)
	if end < 0 {
		return 0, short
	}
	return envelope(b[i+1 : end]), colon(b, end+1)
}

// envelope returns the bit of an envelope key, 0 for any other.
func envelope(key []byte) uint {
	switch string(key) {
	case "ph":
		return kPh
	case "cat":
		return kCat
	case "name":
		return kName
	case "pid":
		return kPid
	case "tid":
		return kTid
	case "ts":
		return kTs
	case "dur":
		return kDur
	case "id":
		return kID
	case "args":
		return kArgs
	}
	return 0
}
