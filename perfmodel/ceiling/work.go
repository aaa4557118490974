package ceiling

import (
	"errors"
	"math/bits"

	"github.com/ditlens/ditlens/hw"
)

// ErrTooLarge is returned when an amount of work exceeds 64 bits.
var ErrTooLarge = errors.New("ceiling: the work exceeds 64 bits")

// Kind is what a term does.
type Kind uint8

// Kinds of terms.
const (
	Linear Kind = iota
	Attention
	Convolution
)

// String returns "linear", "attention" or "convolution".
func (k Kind) String() string {
	return [...]string{"linear", "attention", "convolution"}[min(k, Convolution)]
}

// A Term is one operator, done Count times in a call of its part.
type Term struct {
	Name  string
	Kind  Kind
	Count int64
	FLOPs int64 // of one
	Bytes int64 // of one: inputs, weights and output once
	unit  hw.Unit
}

// A Part is a component of the pipeline: the denoiser, the VAE's decoder, a text encoder.
type Part struct {
	Name      string
	Calls     int64    // in the making of one batch of images
	Type      hw.DType // of weights and activations
	Attention hw.DType // of attention
	Terms     []Term
}

// Amount is a sum of work.
type Amount struct{ FLOPs, Bytes int64 }

// Call returns the work of one call of the part.
func (p *Part) Call() Amount {
	var a Amount
	for _, t := range p.Terms {
		a.FLOPs += t.Count * t.FLOPs
		a.Bytes += t.Count * t.Bytes
	}
	return a
}

// FLOPs returns the FLOPs of one call of the part that are of a kind.
func (p *Part) FLOPs(k Kind) int64 {
	var n int64
	for _, t := range p.Terms {
		if t.Kind == k {
			n += t.Count * t.FLOPs
		}
	}
	return n
}

// A builder collects the terms of a part and checks all products.
type builder struct {
	bits          int64 // of an element
	attentionBits int64 // of an element of attention
	terms         []Term
	sum           Amount
	err           error
}

// linear adds count products of (rows, in) with (in, out).
func (b *builder) linear(name string, count, rows, in, out int64) {
	read := b.size(b.add(b.mul(rows, in), b.mul(in, out)), b.bits)
	written := b.size(b.mul(rows, out), max(b.bits, 16)) // narrow types are for inputs
	b.term(Term{name, Linear, count, b.mul(2, rows, in, out), b.add(read, written), hw.Matrix})
}

// attention adds count attentions of nq queries to nk keys of size d: 2 products of 2 FLOPs a score and channel.
func (b *builder) attention(name string, count, batch, heads, nq, nk, d int64) {
	bytes := b.size(b.mul(2, batch, heads, d, b.add(nq, nk)), b.attentionBits)
	b.term(Term{name, Attention, count, b.mul(4, batch, heads, nq, nk, d), bytes, hw.Matrix})
}

// conv adds count convolutions to out positions from in positions with taps products per pair of channels of a group. One
// channel a group runs on vector units.
func (b *builder) conv(name string, count, batch, cin, cout, taps, in, out, groups int64) {
	unit := hw.Matrix
	if groups > 1 && groups == cin {
		unit = hw.Vector
	}
	elements := b.add(b.mul(batch, cin, in), b.mul(cin/max(groups, 1), cout, taps), b.mul(batch, cout, out))
	b.term(Term{name, Convolution, count, b.mul(2, batch, cout, out, cin/max(groups, 1), taps), b.size(elements, b.bits), unit})
}

func (b *builder) term(t Term) {
	if t.Count <= 0 || t.FLOPs == 0 {
		return
	}
	b.sum.FLOPs = b.add(b.sum.FLOPs, b.mul(t.Count, t.FLOPs))
	b.sum.Bytes = b.add(b.sum.Bytes, b.mul(t.Count, t.Bytes))
	b.terms = append(b.terms, t)
}

// repeat adds n times what add adds.
func (b *builder) repeat(n int64, add func(b *builder)) {
	once := builder{bits: b.bits, attentionBits: b.attentionBits}
	if add(&once); once.err != nil {
		b.err = once.err
	}
	for _, t := range once.terms {
		t.Count = b.mul(n, t.Count)
		b.term(t)
	}
}

// size returns the bytes of n dense elements.
func (b *builder) size(n, bits int64) int64 { return b.add(b.mul(n, bits), 7) / 8 }

func (b *builder) mul(factors ...int64) int64 {
	n := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(n, uint64(max(f, 0)))
		if hi != 0 || lo > 1<<62 {
			b.err = ErrTooLarge
			return 0
		}
		n = lo
	}
	return int64(n)
}

func (b *builder) add(terms ...int64) int64 {
	var n int64
	for _, t := range terms {
		if n += t; n < 0 {
			b.err = ErrTooLarge
			return 0
		}
	}
	return n
}
