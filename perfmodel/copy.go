package perfmodel

import (
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/hw"
	"github.com/ditlens/ditlens/trace"
)

// Copies do no arithmetic. On the device each unique element is read and each of the target written; between host and
// device, or two devices, the payload crosses a link, and that is its roof.

func copyModels() []Entry {
	return []Entry{
		forOps(Info{Name: "copy.copy", Doc: "unique elements of the source read, the target written; over a link: the payload",
			Category: Copy},
			copyTo, "aten::copy_"),
		forOps(Info{Name: "copy.scalar", Doc: "one element over the host link", Category: Memcpy},
			copyScalar, "aten::_local_scalar_dense"),
		forOps(Info{Name: "copy.cat", Doc: "each member read and written; the element size by an out= argument or the " +
			"kernel's name", Category: Copy},
			cat, "aten::cat", "aten::concat", "aten::_cat"),
		forOps(Info{Name: "copy.triangle", Doc: "the tensor read and written once", Category: Copy},
			sameShape, "aten::tril", "aten::triu", "aten::roll", "aten::flip"),
	}
}

// copyTo is copy_(self, src).
func copyTo(c *Call) (Work, error) {
	in := reading{call: c}
	dst, src := in.tensor(0), in.tensor(1)
	if in.err != nil {
		if w, ok := payload(c); ok {
			return (&reading{call: c}).done(w)
		}
		return Work{}, in.err
	}
	if level := linkOf(c); level != hw.DeviceMemory {
		w := Work{Category: Memcpy, Kind: directionName(c.Dir)}
		w.Level, w.Bytes = level, c.Bytes
		if w.Bytes <= 0 {
			w.Bytes = src.BytesWritten()
		}
		return in.done(w)
	}
	w := Work{Category: Copy}
	if c.Kind == trace.Memcpy {
		w.Category, w.Kind = Memcpy, directionName(c.Dir)
	}
	w.Read, w.Written = src.Bytes(), dst.BytesWritten()
	if src.Type != dst.Type {
		w.Kind = "cast"
	}
	return in.done(w)
}

func copyScalar(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	w := Work{Category: Memcpy, Kind: directionName(trace.DeviceToHost)}
	w.Level, w.Bytes = hw.HostLink, x.store
	return in.done(w)
}

// cat is cat(tensors, dim, *, out).
func cat(c *Call) (Work, error) {
	in := reading{call: c}
	list := in.list(0)
	size, ok := elementSize(c.Kernel)
	if out, given := in.optional(2); given {
		size, ok = out.store, true
	}
	in.require(ok, "element type of a list of tensors")
	n, unique := in.listSizes(list)
	w := Work{Category: Copy, Kind: "concatenation"}
	w.Read, w.Written = product(unique, size), product(n, size)
	return in.done(w)
}

// sameShape models an operator that reads its first argument and writes as much.
func sameShape(c *Call) (Work, error) {
	in := reading{call: c}
	x := in.tensor(0)
	w := Work{Category: Copy}
	w.Read, w.Written = x.Bytes(), x.BytesWritten()
	return in.done(w)
}

// list returns the members of a TensorList argument.
func (r *reading) list(i int) []trace.Arg {
	a := r.call.arg(i)
	if a == nil || len(a.List) == 0 {
		r.fail(r.call.missing("list of tensors as argument %d", i))
		return nil
	}
	return a.List
}

// listSizes returns how many elements the members have, and how many unique ones.
func (r *reading) listSizes(list []trace.Arg) (n, unique int64) {
	for i := range list {
		var t Tensor
		if err := r.call.shape(&list[i], storage{hw.UInt8, 1}, i, &t); err != nil {
			r.fail(err)
		}
		n, unique = sum(n, t.Elements()), sum(unique, t.Unique())
	}
	return n, unique
}

// elementSize reads the size of an element off a kernel's name: of one that concatenates by its first type argument
// ("CatArrayBatchedCopy<OpaqueType<2u>, …>", which is known by its size only), of a plain copy by the type that it names.
func elementSize(kernel string) (int64, bool) {
	if _, args, ok := strings.Cut(kernel, "CatArrayBatchedCopy"); ok {
		_, args, _ = strings.Cut(args, "<")
		first, _, _ := strings.Cut(args, ",")
		if _, size, ok := strings.Cut(first, "OpaqueType<"); ok {
			n, err := strconv.ParseInt(strings.TrimRight(size, "u>"), 10, 64)
			return n, err == nil && n > 0 && n <= 16
		}
		if s, ok := storageOf(first); ok {
			return s.bytes, true
		}
	}
	switch {
	case strings.Contains(kernel, "c10::BFloat16"), strings.Contains(kernel, "c10::Half"):
		return 2, true
	case strings.Contains(kernel, "c10::Float8"):
		return 1, true
	}
	return 0, false
}

// memcpyModels are for copies and fills of the runtime that no operator is known for.
func memcpyModels() []Entry {
	doc := "the recorded payload: over the host or peer link once, within the device read and written, a fill written"
	return []Entry{forPatterns(Info{Name: "copy.runtime", Doc: doc, Category: Memcpy},
		runtimeCopy, "Memcpy*", "Memset*", "MEMORY_COPY_*")}
}

func runtimeCopy(c *Call) (Work, error) {
	in := reading{call: c}
	w, ok := payload(c)
	in.require(ok, "payload")
	return in.done(w)
}

// payload is the work of a copy or fill by its recorded bytes.
func payload(c *Call) (w Work, ok bool) {
	if c.Bytes <= 0 || c.Kind == trace.Kernel {
		return Work{}, false
	}
	if c.Kind == trace.Memset {
		return Work{Category: Fill, Written: c.Bytes}, true
	}
	w = Work{Category: Memcpy, Kind: directionName(c.Dir)}
	switch w.Level = linkOf(c); {
	case w.Level != hw.DeviceMemory:
		w.Bytes = c.Bytes
	case c.Dir == trace.DeviceToDevice:
		w.Read, w.Written = c.Bytes, c.Bytes
	default:
		return Work{}, false
	}
	return w, true
}

// linkOf tells what a runtime copy crosses; DeviceMemory for kernels and copies within a device.
func linkOf(c *Call) hw.Level {
	if c.Kind != trace.Memcpy {
		return hw.DeviceMemory
	}
	switch c.Dir {
	case trace.HostToDevice, trace.DeviceToHost:
		return hw.HostLink
	case trace.PeerToPeer:
		return hw.PeerLink
	}
	return hw.DeviceMemory
}

func directionName(d trace.CopyDir) string {
	switch d {
	case trace.HostToDevice:
		return "host to device"
	case trace.DeviceToHost:
		return "device to host"
	case trace.DeviceToDevice:
		return "device to device"
	case trace.PeerToPeer:
		return "peer to peer"
	case trace.HostToHost:
		return "host to host"
	}
	return ""
}
