package trace

import (
	"context"
	"time"
)

// A Builder makes a Trace of events that come from elsewhere than a file: a profiler of one's own, a test, another Trace.
// The zero value is ready. It is for one goroutine and is used up by [Builder.Build].
//
// Events may be added in any order; the Trace does not depend on it. IDs of threads are handed out by Thread, all other
// IDs (Op.Parent, Launch.Op, GPUEvent.Launch …) are found by Build and need not be set.
//
// A GPU event belongs to the launch with its Correlation, and a launch to the innermost operator that runs on its thread when it
// starts. An event without launch belongs to the operator with its ExternalID, if there is just one. Times count from any origin
// that all events share.
type Builder struct {
	header      Header
	headed      bool // header was set
	files       []File
	threads     []Thread
	threadIDs   map[threadKey]ThreadID
	ops         pile[Op]
	launches    pile[Launch]
	gpu         pile[GPUEvent]
	annotations pile[Annotation]
	frames      pile[Frame]
	diagnostics []Diagnostic
	inputs      inputTable
}

type threadKey struct {
	file     int32
	pid, tid int64
}

// SetHeader states what is known of the machine and the run. Without it nothing is, and the rank is
// -1.
func (b *Builder) SetHeader(h Header) { b.header, b.headed = h, true }

// AddFile begins a new input: correlations and external ids of its events are its own. It returns the index to set in
// the File field of the threads and GPU events of that input. Without it everything belongs to one nameless input.
func (b *Builder) AddFile(f File) int32 {
	b.files = append(b.files, f)
	return int32(len(b.files) - 1)
}

// Thread returns the ID of a host thread of an input; name, if not empty, becomes its name.
func (b *Builder) Thread(file int32, pid, tid int64, name string) ThreadID {
	key := threadKey{file, pid, tid}
	id, ok := b.threadIDs[key]
	if !ok {
		if b.threadIDs == nil {
			b.threadIDs = make(map[threadKey]ThreadID)
		}
		id = ThreadID(len(b.threads))
		b.threadIDs[key] = id
		b.threads = append(b.threads, Thread{PID: pid, TID: tid, File: file})
	}
	if name != "" {
		b.threads[id].Name = name
	}
	return id
}

// Op adds a host operator. Its Thread must come from Thread.
func (b *Builder) Op(o Op) { b.ops.add(o) }

// Launch adds a runtime or driver call. Its Thread must come from Thread. Calls that no GPU event names and whose name
// tells no kind of interest are left out by Build.
func (b *Builder) Launch(l Launch) { b.launches.add(l) }

// GPU adds a kernel, copy or fill. RawDur, if 0, becomes Dur.
func (b *Builder) GPU(g GPUEvent) { b.gpu.add(g) }

// Annotation adds a range. The Thread of a host range must come from Thread.
func (b *Builder) Annotation(a Annotation) { b.annotations.add(a) }

// Frame adds a Python call. Its Thread must come from Thread.
func (b *Builder) Frame(f Frame) { b.frames.add(f) }

// diagnose adds a finding about the input.
func (b *Builder) diagnose(d Diagnostic) { b.diagnostics = append(b.diagnostics, d) }

// Inputs returns the shared value of the given arguments: equal arguments give the same pointer.
func (b *Builder) Inputs(in Inputs) *Inputs { return b.inputs.share(in) }

// Build sorts the events into the order of a Trace, links them and describes its doubts in Diagnostics. It fails only if
// an event is misplaced: an unknown thread, a negative duration, a time out of range.
func (b *Builder) Build() (*Trace, error) { return b.build(context.Background()) }

// build is Build; it stops soon after ctx ends.
func (b *Builder) build(ctx context.Context) (*Trace, error) {
	if err := b.validate(); err != nil {
		return nil, err
	}
	if !b.headed {
		b.header.Rank = -1
	}
	t := &Trace{Header: b.header, Files: b.files, Diagnostics: b.diagnostics}
	steps := []func(context.Context, *Trace){
		b.placeThreads, b.placeOps, b.placeFrames, b.placeGPU, b.placeLaunches, b.placeAnnotations,
		link, adoptCaptured, fallbackByExternalID, repairDurations, diagnose,
	}
	for _, step := range steps {
		step(ctx, t)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	*b = Builder{}
	return t, nil
}

// placeThreads gives threads their final order and the events their final thread ids.
func (b *Builder) placeThreads(ctx context.Context, t *Trace) {
	sorted := make([]ThreadID, len(b.threads))
	for i := range sorted {
		sorted[i] = ThreadID(i)
	}
	order(ctx, sorted, func(x, y ThreadID) int { return compareThreads(b.threads[x], b.threads[y]) })
	final := make([]ThreadID, len(sorted))
	t.Threads = make([]Thread, len(sorted))
	for i, old := range sorted {
		final[old] = ThreadID(i)
		t.Threads[i] = b.threads[old]
	}
	for i := range each(ctx, b.ops.n) {
		o := b.ops.at(i)
		o.Thread = final[o.Thread]
	}
	for i := range each(ctx, b.launches.n) {
		l := b.launches.at(i)
		l.Thread = final[l.Thread]
	}
	for i := range each(ctx, b.frames.n) {
		f := b.frames.at(i)
		f.Thread = final[f.Thread]
	}
	for i := range each(ctx, b.annotations.n) {
		if a := b.annotations.at(i); a.GPU {
			a.Thread = None
		} else {
			a.Thread = final[a.Thread]
		}
	}
}

func (b *Builder) placeOps(ctx context.Context, t *Trace) {
	t.Ops = b.ops.take(ctx)
	order(ctx, t.Ops, compareOps)
	for i := range each(ctx, len(t.Ops)) {
		t.Ops[i].Parent, t.Ops[i].Frame = None, None
	}
	nest(ctx, len(t.Ops), func(i int) span {
		o := &t.Ops[i]
		return span{o.Thread, o.Start, o.End()}
	}, func(i, parent int) { t.Ops[i].Parent = OpID(parent) })
}

func (b *Builder) placeFrames(ctx context.Context, t *Trace) {
	t.Frames = b.frames.take(ctx)
	order(ctx, t.Frames, compareFrames)
	nest(ctx, len(t.Frames), func(i int) span {
		f := &t.Frames[i]
		return span{f.Thread, f.Start, f.Start + f.Dur}
	}, func(i, parent int) { t.Frames[i].Parent = FrameID(parent) })
	enclose(ctx, len(t.Ops), len(t.Frames), func(i int) (ThreadID, time.Duration) {
		return t.Ops[i].Thread, t.Ops[i].Start
	}, func(i int) span {
		f := &t.Frames[i]
		return span{f.Thread, f.Start, f.Start + f.Dur}
	}, func(op, frame int) { t.Ops[op].Frame = t.module(FrameID(frame)) })
}

// module returns the innermost nn.Module frame at or above f.
func (t *Trace) module(f FrameID) FrameID {
	for f != None && !t.Frames[f].Module {
		f = t.Frames[f].Parent
	}
	return f
}

func (b *Builder) placeGPU(ctx context.Context, t *Trace) {
	t.GPU = b.gpu.take(ctx)
	for i := range each(ctx, len(t.GPU)) {
		g := &t.GPU[i]
		g.Launch, g.Op = None, None
		if g.RawDur == 0 {
			g.RawDur = g.Dur
		}
	}
	order(ctx, t.GPU, compareGPU)
}

// placeLaunches keeps the calls that a GPU event names or that are of a kind of interest.
func (b *Builder) placeLaunches(ctx context.Context, t *Trace) {
	type key struct {
		file        int32
		correlation int64
	}
	named := make(map[key]bool, len(t.GPU))
	for i := range each(ctx, len(t.GPU)) {
		if g := &t.GPU[i]; g.Correlation != 0 {
			named[key{g.File, g.Correlation}] = true
		}
	}
	kinds := make(map[string]LaunchKind) // names are few
	var kept pile[Launch]
	for i := range each(ctx, b.launches.n) {
		l := *b.launches.at(i)
		if l.Kind == LaunchOther {
			kind, ok := kinds[l.Name]
			if !ok {
				kind = launchKind(l.Name)
				kinds[l.Name] = kind
			}
			l.Kind = kind
		}
		if l.Kind == LaunchOther && l.Kernel != "" {
			l.Kind = LaunchKernel // also without a GPU event, as in a graph that is being captured
		}
		if l.Kind != LaunchOther || named[key{t.Threads[l.Thread].File, l.Correlation}] {
			l.Op, l.GPU = None, 0
			kept.add(l)
		}
	}
	b.launches = pile[Launch]{}
	t.Launches = kept.take(ctx)
	order(ctx, t.Launches, compareLaunches)
}

func (b *Builder) placeAnnotations(ctx context.Context, t *Trace) {
	t.Annotations = b.annotations.take(ctx)
	order(ctx, t.Annotations, compareAnnotations)
}
