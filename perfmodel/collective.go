package perfmodel

import (
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
)

// Collectives move their payload over the links between GPUs. Counted is what each rank must send, by the
// bus-bandwidth convention of nccl-tests: of S bytes 2(n-1)/n for an all-reduce, (n-1)/n for a gather, scatter or
// exchange between all, S for the rest.

func collectiveModels() []Entry {
	doc := "bytes that a rank sends over the peer links: 2(n-1)/n of the buffer for all-reduce, (n-1)/n for " +
		"gather, scatter and all-to-all"
	m := Func(Info{Name: "collective.recorded", Doc: doc, Category: Communication}, collective)
	return []Entry{{Model: m, Match: func(c *Call) bool {
		return c.Inputs != nil && c.Inputs.Extra != nil && c.Inputs.Extra["Collective name"] != ""
	}}}
}

func collective(c *Call) (Work, error) {
	in := reading{call: c}
	if c.Inputs == nil {
		return Work{}, c.missing("arguments of the collective")
	}
	extra := c.Inputs.Extra
	name := extra["Collective name"]
	size, ok := communicated(extra["dtype"])
	in.require(ok, "element type "+strconv.Quote(extra["dtype"]))
	sent, received := in.extra("In msg nelems"), in.extra("Out msg nelems")
	w := Work{Category: Communication, Kind: name}
	w.Level = hw.PeerLink
	elements := max(sent, received)
	switch plain := strings.Trim(name, "_"); {
	case strings.Contains(plain, "reduce_scatter"), strings.Contains(plain, "allgather"),
		strings.Contains(plain, "all_gather"),
		plain == "all_to_all", plain == "alltoall", plain == "alltoall_base", plain == "all_to_all_single":
		w.Bytes = in.share(elements, size, 1)
	case strings.Contains(plain, "allreduce"), strings.Contains(plain, "all_reduce"):
		w.Bytes = in.share(elements, size, 2)
	case plain == "barrier", plain == "wait":
	case strings.Contains(plain, "to_all"), plain == "alltoallv":
		w.Bytes = product(elements, size)
		w.doubt(UpperBound, "how much stays on the rank is not recorded")
	default:
		w.Bytes = product(elements, size)
	}
	return in.done(w)
}

// share returns times (n-1)/n of a buffer, for a group of n ranks.
func (r *reading) share(elements, size, times int64) int64 {
	n := r.extra("Group size")
	r.require(n > 0, "group size")
	if r.err != nil {
		return 0
	}
	return ratio(product(times, elements, size, n-1), n)
}

// extra reads a whole number of a collective's record.
func (r *reading) extra(key string) int64 {
	n, err := strconv.ParseInt(r.call.Inputs.Extra[key], 10, 64)
	r.require(err == nil && n >= 0, key)
	return max(0, n)
}

// communicated returns the size of an element by the name that the process group gives its type.
func communicated(name string) (int64, bool) {
	switch name {
	case "Byte", "Char", "Bool", "Float8_e4m3fn", "Float8_e4m3fnuz", "Float8_e5m2", "Float8_e5m2fnuz", "Float8_e8m0fnu",
		"Float4_e2m1fn_x2":
		return 1, true
	case "Short", "UInt16", "Half", "BFloat16":
		return 2, true
	case "Int", "UInt32", "Float", "ComplexHalf":
		return 4, true
	case "Long", "UInt64", "Double", "ComplexFloat":
		return 8, true
	case "ComplexDouble":
		return 16, true
	}
	return 0, false
}
