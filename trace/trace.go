package trace

import "time"

// A Trace is the linked content of one or more profiler files. It is made by [Load], [Builder.Build] or [MergeCapture] and
// is read-only from then on: it may be shared by many goroutines. Its slices are indexed by the ID types below, and each
// is in a fixed order that does not depend on the order of events in the file.
type Trace struct {
	Header      Header
	Files       []File
	Threads     []Thread
	Ops         []Op         // by thread, then start, enclosing operators first
	Launches    []Launch     // by start
	GPU         []GPUEvent   // by start; kernels, copies and fills
	Annotations []Annotation // by start; host and GPU-side ranges
	Frames      []Frame      // Python frames by thread and start; empty unless LoadOptions.Stacks is set
	Diagnostics []Diagnostic // what was repaired, skipped or doubtful
}

// OpID, LaunchID, GPUID, ThreadID and FrameID index Ops, Launches, GPU, Threads and Frames of a [Trace]; [None] is the ID of nothing.
type (
	OpID     int32
	LaunchID int32
	GPUID    int32
	ThreadID int32
	FrameID  int32
)

// None is the ID of nothing: an operator without parent, a GPU event without launch.
const None = -1

// A Thread is a host thread of a process. Numeric ids of the file are kept as they are (64 bits); textual ids
// ("stream 7") give their number, or a negative number that is unique in the trace.
type Thread struct {
	PID, TID int64
	Name     string // from metadata, "" if not given
	File     int32  // index into Trace.Files
}

// An Op is a host-side operator (cpu_op): its name, when it ran, and the arguments that were recorded for it.
type Op struct {
	Name       string
	Start      time.Duration // since the clock's origin
	Dur        time.Duration
	Thread     ThreadID
	Parent     OpID    // innermost enclosing operator of the thread, None at the top
	Inputs     *Inputs // nil when shapes were not recorded; shared by all operators with equal arguments
	ExternalID int64   // 0 when absent
	Frame      FrameID // innermost enclosing nn.Module frame, None unless stacks were asked for
	Captured   bool    // copied from a capture-phase trace below a graph launch; Start and Dur are the launch's
}

// End returns Start + Dur.
func (o *Op) End() time.Duration { return o.Start + o.Dur }

// A Launch is a runtime or driver call on the host that a GPU event names by correlation, or that by its own
// name or arguments would start GPU work. Calls that do neither (cudaGetDevice …) are kept only as synchronisations.
type Launch struct {
	Name        string
	Start       time.Duration
	Dur         time.Duration
	Correlation int64 // 0 when absent
	Thread      ThreadID
	Op          OpID   // innermost operator that encloses the call on its thread, None if there is none
	Kernel      string // device function that ROCm records with the call, "" elsewhere
	GPU         int32  // number of GPU events of this launch: 0 when none was recorded, hundreds for a graph
	Kind        LaunchKind
}

// End returns Start + Dur.
func (l *Launch) End() time.Duration { return l.Start + l.Dur }

// LaunchKind tells what a runtime call does, by its name and by what it caused.
type LaunchKind uint8

// Kinds of runtime calls.
const (
	LaunchOther  LaunchKind = iota
	LaunchKernel            // starts one kernel
	LaunchCopy              // starts a copy or a fill
	LaunchGraph             // replays a captured graph
	LaunchSync              // waits for the device, a stream or an event
	CaptureBegin            // begins the capture of a graph
	CaptureEnd              // ends the capture of a graph
)

// GPUKind is the kind of a GPU event.
type GPUKind uint8

// Kinds of GPU events.
const (
	Kernel GPUKind = iota
	Memcpy
	Memset
)

// A GPUEvent is one piece of work that ran on a device: a kernel, a copy or a fill. Synchronisation records and
// GPU-side annotations are no work and are not among them.
type GPUEvent struct {
	Name        string
	Start       time.Duration
	Dur         time.Duration // repaired where the recorded one is impossible, see RawDur
	RawDur      time.Duration // as recorded
	Correlation int64         // 0 when absent (0 and -1 in the file)
	ExternalID  int64         // 0 when absent
	Stream      int64
	Bytes       int64     // payload of a copy or fill, 0 when not recorded
	Inputs      *Inputs   // extra arguments of collectives (NCCL), nil elsewhere
	Grid        [3]uint32 // blocks; zero when not recorded
	Block       [3]uint32 // threads a block; zero when not recorded
	Device      int32
	File        int32    // index into Trace.Files
	Launch      LaunchID // None when no launch carries the correlation
	Op          OpID     // the operator that owns it, None when unlinked
	Kind        GPUKind
	Dir         CopyDir // direction of a copy
}

// End returns Start + Dur.
func (g *GPUEvent) End() time.Duration { return g.Start + g.Dur }

// CopyDir is the direction of a copy.
type CopyDir uint8

// Directions of a copy.
const (
	DirUnknown CopyDir = iota
	HostToDevice
	DeviceToHost
	DeviceToDevice
	PeerToPeer
	HostToHost
)

// An Annotation is a named range: record_function on the host, or its shadow on a GPU stream.
type Annotation struct {
	Name   string
	Start  time.Duration
	Dur    time.Duration
	Thread ThreadID // None for GPU-side annotations
	GPU    bool
	Device int32 // of GPU-side annotations
	Stream int64 // of GPU-side annotations
	Open   bool  // began and never ended; Dur then reaches to the end of the trace
}

// End returns Start + Dur.
func (a *Annotation) End() time.Duration { return a.Start + a.Dur }

// A Frame is a Python call, kept only when [LoadOptions].Stacks is set.
type Frame struct {
	Name   string
	Start  time.Duration
	Dur    time.Duration
	Thread ThreadID
	Parent FrameID
	Module bool // an nn.Module call; Name is then its class without the running number
}

// Inputs are the recorded arguments of an operator, in schema order. Equal arguments share one Inputs value within a
// trace, so its address can serve as a cache key.
type Inputs struct {
	Args  []Arg
	Extra map[string]string // other recorded fields as text: kernel_kwargs, kernel_backend, Collective name, Group size …
}

// An Arg is one argument of an operator. Type is the profiler's own word: a C++ element type for a tensor
// ("c10::BFloat16"), "Scalar", "ScalarList", "TensorList", or "" for an argument that was not given.
type Arg struct {
	Type    string
	Dims    []int64 // of a tensor; empty for a 0-dimensional one
	Strides []int64 // of a tensor; nil when not recorded
	Value   string  // concrete value as text, "" when not recorded
	List    []Arg   // members of a TensorList (their element type is not recorded)
}

// Header is what the file says about itself and its machine.
type Header struct {
	Devices         []Device
	Rank            int // -1 when unknown
	WorldSize       int // 0 when unknown
	BaseTime        time.Duration
	RecordShapes    bool
	WithStack       bool
	ProfilerVersion string
	TraceID         string
}

// A Device is one entry of the file's deviceProperties.
type Device struct {
	ID           int32
	Name         string
	Memory       int64 // bytes
	ComputeUnits int   // numSms
	Major, Minor int   // compute capability
	Arch         string
}

// A File tells what was read from one input.
type File struct {
	Path      string
	Format    string // "json", "json.gz", "json.zst", "json.lz4", "zip"
	SHA256    string // of the bytes on disk, hex
	Bytes     int64  // on disk
	JSONBytes int64  // after decompression
	Events    int64
	Skipped   int64
	Repaired  int64
	Truncated bool
	Damage    []Damage // the first few
}

// Severity ranks a Diagnostic.
type Severity uint8

// Severities.
const (
	Info Severity = iota
	Warning
	Error
)

// String returns "info", "warning" or "error".
func (s Severity) String() string { return [...]string{"info", "warning", "error"}[min(s, Error)] }

// A Diagnostic is a finding about the input or the analysis that a person or a program should know of. It is data, never a
// log line: every package returns its doubts as Diagnostics.
type Diagnostic struct {
	Code     string // stable, snake_case
	Severity Severity
	Count    int64
	Message  string
}
