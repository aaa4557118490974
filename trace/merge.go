package trace

import (
	"fmt"
	"time"
)

// A mark is how much a Builder held at some time.
type mark struct{ ops, launches, gpu, annotations, frames int }

func (b *Builder) mark() mark {
	return mark{b.ops.n, b.launches.n, b.gpu.n, b.annotations.n, b.frames.n}
}

// mergeHeader takes the header of a further file. The first file gives the clock: events behind the mark, which came
// from this file, are shifted to it if the file counts from another origin.
func (b *Builder) mergeHeader(h Header, path string, since mark) {
	b.resolveRank(&h, path)
	if !b.headed {
		b.header, b.headed = h, true
		return
	}
	if h.BaseTime != 0 && b.header.BaseTime != 0 {
		b.shift(since, h.BaseTime-b.header.BaseTime)
	}
	if h.Rank != b.header.Rank && b.header.Rank != -1 {
		b.diagnose(Diagnostic{"several_ranks", Warning, 1, fmt.Sprintf("%s is of rank %d, earlier files of rank %d", path, h.Rank, b.header.Rank)})
		b.header.Rank = -1
	}
	b.header.WorldSize = max(b.header.WorldSize, h.WorldSize)
	b.header.RecordShapes = b.header.RecordShapes || h.RecordShapes
	b.header.WithStack = b.header.WithStack || h.WithStack
	for _, d := range h.Devices {
		if !hasDevice(b.header.Devices, d.ID) {
			b.header.Devices = append(b.header.Devices, d)
		}
	}
}

func hasDevice(list []Device, id int32) bool {
	for _, d := range list {
		if d.ID == id {
			return true
		}
	}
	return false
}

// resolveRank completes the rank of a header from the name of its file. What the file says inside counts more.
func (b *Builder) resolveRank(h *Header, path string) {
	named := rankInName(path)
	switch {
	case h.Rank == -1:
		h.Rank = named
	case named != -1 && named != h.Rank:
		b.diagnose(Diagnostic{"rank_conflict", Warning, 1, fmt.Sprintf("%s says that it is of rank %d; its name says %d", path, h.Rank, named)})
	}
}

// shift moves the events behind the mark in time.
func (b *Builder) shift(since mark, by time.Duration) {
	for i := since.ops; i < b.ops.n; i++ {
		b.ops.at(i).Start += by
	}
	for i := since.launches; i < b.launches.n; i++ {
		b.launches.at(i).Start += by
	}
	for i := since.gpu; i < b.gpu.n; i++ {
		b.gpu.at(i).Start += by
	}
	for i := since.annotations; i < b.annotations.n; i++ {
		b.annotations.at(i).Start += by
	}
	for i := since.frames; i < b.frames.n; i++ {
		b.frames.at(i).Start += by
	}
}
