package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ditlens/ditlens/internal/scan"
	"github.com/valyala/fastjson"
)

// An inputTable shares equal arguments. Most operators of a trace repeat the arguments of earlier ones, so it first looks
// at the raw text of the fields that carry values and parses only what it has not seen.
type inputTable struct {
	byText  map[string]readInputs // by the raw text of the fields
	byValue map[string]*Inputs    // by the canonical form
	parsers [4]fastjson.Parser    // one for each list that is held at the same time
	key     []byte
	size    int // bytes of text in byText
}

// maxArgsText bounds the text that is kept to recognise arguments. Recorded values may differ in every operator.
const maxArgsText = 32 << 20

// readInputs are arguments as they were read; broken tells that some field was not.
type readInputs struct {
	inputs *Inputs
	broken bool
}

// share returns the Inputs that equals in.
func (t *inputTable) share(in Inputs) *Inputs {
	t.key = appendInputs(t.key[:0], &in)
	if p, ok := t.byValue[string(t.key)]; ok {
		return p
	}
	if t.byValue == nil {
		t.byValue = make(map[string]*Inputs)
	}
	t.byValue[string(t.key)] = &in
	return &in
}

// read returns the arguments that the event recorded, nil if there are none, and whether some of them could not be read.
func (t *inputTable) read(e *scan.Event) (in *Inputs, broken bool) {
	t.key = t.key[:0]
	for _, f := range e.Fields {
		if k := e.Key(f); !volatile(k) {
			t.key = append(append(append(append(t.key, k...), ':'), e.Value(f)...), ',')
		}
	}
	if len(t.key) == 0 {
		return nil, false
	}
	if r, ok := t.byText[string(t.key)]; ok {
		return r.inputs, r.broken
	}
	if t.byText == nil || t.size > maxArgsText {
		t.byText, t.size = make(map[string]readInputs), 0
	}
	text := string(t.key)
	t.size += len(text)
	parsed, broken := t.parse(e)
	r := readInputs{t.share(parsed), broken}
	t.byText[text] = r
	return r.inputs, r.broken
}

// volatile names the args that tell who an event is, not what it worked on.
func volatile(key []byte) bool {
	switch string(key) {
	case "External id", "external id", "Record function id", "Ev Idx", "Sequence number", "Fwd thread id", "Python id",
		"Python parent id", "Python module id", "Profiler Event Index", "Call stack", "Trace iteration", "Trace name",
		"flops", "Flops":
		return true
	}
	return false
}

// parse reads the fields of the event. A field that cannot be read is absent.
func (t *inputTable) parse(e *scan.Event) (in Inputs, broken bool) {
	var types, dims, strides, values []*fastjson.Value
	list := func(i int, raw []byte) []*fastjson.Value {
		v, err := t.parsers[i].ParseBytes(raw)
		if err != nil {
			broken = true
			return nil
		}
		return v.GetArray()
	}
	for _, f := range e.Fields {
		key, raw := e.Key(f), e.Value(f)
		switch string(key) {
		case "Input Dims", "Input dims":
			dims = list(0, raw)
		case "Input type", "Input Type":
			types = list(1, raw)
		case "Input Strides", "Input strides":
			strides = list(2, raw)
		case "Concrete Inputs":
			values = list(3, raw)
		default:
			if !volatile(key) {
				in.setExtra(scan.Text{Raw: key}.String(), raw.Text().String())
			}
		}
	}
	in.Args = make([]Arg, max(len(types), len(dims), len(values)))
	for i := range in.Args {
		a := &in.Args[i]
		if i < len(types) {
			a.Type = text(types[i])
		}
		if i < len(dims) {
			a.setDims(dims[i])
		}
		if i < len(strides) {
			a.setStrides(strides[i])
		}
		if i < len(values) {
			a.Value = text(values[i])
		}
	}
	return in, broken
}

func (in *Inputs) setExtra(key, value string) {
	if in.Extra == nil {
		in.Extra = make(map[string]string)
	}
	in.Extra[key] = value
}

// text returns a string's value, or the text of any other value.
func text(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeString:
		return strings.ToValidUTF8(string(v.GetStringBytes()), "\uFFFD")
	case fastjson.TypeNull:
		return ""
	}
	return string(v.MarshalTo(nil))
}

// setDims reads the dimensions of a tensor, or of the members of a list of tensors.
func (a *Arg) setDims(v *fastjson.Value) {
	items := v.GetArray()
	if !nested(items) {
		a.Dims = numbers(items)
		return
	}
	a.List = make([]Arg, len(items))
	for i, m := range items {
		a.List[i].Dims = numbers(m.GetArray())
	}
}

func (a *Arg) setStrides(v *fastjson.Value) {
	items := v.GetArray()
	if !nested(items) {
		if len(items) > 0 {
			a.Strides = numbers(items)
		}
		return
	}
	for i, m := range items {
		if i < len(a.List) {
			a.List[i].Strides = numbers(m.GetArray())
		}
	}
}

func nested(items []*fastjson.Value) bool {
	return slices.ContainsFunc(items, func(v *fastjson.Value) bool { return v.Type() == fastjson.TypeArray })
}

// numbers reads integers; nil if one of them is none.
func numbers(items []*fastjson.Value) []int64 {
	out := make([]int64, 0, len(items))
	for _, v := range items {
		n, err := v.Int64()
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// appendInputs appends a text that is equal for equal arguments.
func appendInputs(dst []byte, in *Inputs) []byte {
	for i := range in.Args {
		dst = appendArg(dst, &in.Args[i])
	}
	keys := make([]string, 0, len(in.Extra))
	for k := range in.Extra {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		dst = strconv.AppendQuote(append(strconv.AppendQuote(dst, k), ':'), in.Extra[k])
	}
	return dst
}

func appendArg(dst []byte, a *Arg) []byte {
	dst = strconv.AppendQuote(append(strconv.AppendQuote(append(dst, '{'), a.Type), ':'), a.Value)
	dst = appendInts(dst, 'd', a.Dims)
	dst = appendInts(dst, 's', a.Strides)
	for i := range a.List {
		dst = appendArg(dst, &a.List[i])
	}
	return append(dst, '}')
}

func appendInts(dst []byte, tag byte, v []int64) []byte {
	if v == nil {
		return dst
	}
	dst = append(dst, tag)
	for _, n := range v {
		dst = append(strconv.AppendInt(dst, n, 10), ' ')
	}
	return dst
}

// compareInputs orders arguments by what they are.
func compareInputs(x, y *Inputs) int {
	switch {
	case x == y:
		return 0
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	return strings.Compare(string(appendInputs(nil, x)), string(appendInputs(nil, y)))
}
