package trace

import "strings"

// launchKind tells by its name what a runtime or driver call does. Names differ between HIP, CUDA, their drivers and
// their releases, so words are looked for, not names; a call that no rule knows may still turn out a launch because a
// GPU event names it.
func launchKind(name string) LaunchKind {
	low := strings.ToLower(name)
	switch {
	case strings.Contains(low, "graphlaunch"):
		return LaunchGraph
	case strings.Contains(low, "streambegincapture"):
		return CaptureBegin
	case strings.Contains(low, "streamendcapture"):
		return CaptureEnd
	case strings.Contains(low, "launchhostfunc"):
		return LaunchOther // runs on the host
	case strings.Contains(low, "launchkernel"), strings.Contains(low, "launchcooperative"), strings.Contains(low, "launchmulti"),
		strings.HasPrefix(low, "culaunch"), low == "cudalaunch":
		return LaunchKernel
	case strings.Contains(low, "synchronize"), strings.Contains(low, "streamwait"):
		return LaunchSync
	case strings.Contains(low, "memcpy"), strings.Contains(low, "memset"):
		return LaunchCopy
	}
	return LaunchOther
}

// copyDir reads the direction of a copy from the profiler's own word ("HtoD") or from the name of the event.
func copyDir(kind, name string) CopyDir {
	for _, s := range [...]string{kind, name} {
		for _, d := range [...]struct {
			word string
			dir  CopyDir
		}{{"HtoD", HostToDevice}, {"DtoH", DeviceToHost}, {"DtoD", DeviceToDevice}, {"PtoP", PeerToPeer}, {"HtoH", HostToHost},
			{"HostToDevice", HostToDevice}, {"DeviceToHost", DeviceToHost}, {"DeviceToDevice", DeviceToDevice}, {"HtoA", HostToDevice},
			{"AtoH", DeviceToHost}, {"Peer", PeerToPeer}} {
			if strings.Contains(s, d.word) {
				return d.dir
			}
		}
	}
	return DirUnknown
}

// class is what an event of the file becomes in a Trace.
type class uint8

const (
	classOther class = iota
	classOp
	classRuntime
	classKernel
	classCopy
	classFill
	classAnnotation
	classGPUAnnotation
	classPython
	classFlow
	classSync
)

// classify maps the category of an event. Newer and older profilers differ in case and words.
func classify(cat []byte) class {
	switch string(cat) {
	case "python_function":
		return classPython
	case "cpu_op":
		return classOp
	case "cuda_runtime", "cuda_driver":
		return classRuntime
	case "ac2g", "fwdbwd":
		return classFlow
	case "kernel":
		return classKernel
	case "gpu_memcpy":
		return classCopy
	case "gpu_memset":
		return classFill
	case "user_annotation":
		return classAnnotation
	case "gpu_user_annotation":
		return classGPUAnnotation
	}
	return classifyOld(strings.ToLower(string(cat)))
}

func classifyOld(cat string) class {
	switch cat {
	case "cpu_op", "operator", "op":
		return classOp
	case "kernel", "concurrent_kernel", "gpu_kernel":
		return classKernel
	case "memcpy", "gpu_memcpy", "gpu_memcpy2", "memcpy2":
		return classCopy
	case "memset", "gpu_memset":
		return classFill
	case "user_annotation":
		return classAnnotation
	case "gpu_user_annotation":
		return classGPUAnnotation
	case "python_function", "python":
		return classPython
	case "async", "ac2g", "fwdbwd", "async_cpu_to_gpu":
		return classFlow
	case "cuda_sync", "gpu_sync", "hip_sync", "synchronization":
		return classSync
	case "runtime", "driver":
		return classRuntime
	}
	if strings.HasSuffix(cat, "_runtime") || strings.HasSuffix(cat, "_driver") {
		return classRuntime
	}
	return classOther
}
