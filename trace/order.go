package trace

import "cmp"

// The orders below are total over what an event is, so that a Trace does not depend on the order in which its events
// came. Events that compare equal are alike in all that matters.

// The first keys nearly always decide; the others are not looked at then.

func compareThreads(x, y Thread) int {
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.PID, y.PID), cmp.Compare(x.TID, y.TID))
}

func compareOps(x, y Op) int {
	if c := cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Start, y.Start), cmp.Compare(y.Dur, x.Dur)); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(x.ExternalID, y.ExternalID), cmp.Compare(x.Name, y.Name)); c != 0 {
		return c
	}
	return compareInputs(x.Inputs, y.Inputs)
}

func compareFrames(x, y Frame) int {
	if c := cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(x.Start, y.Start), cmp.Compare(y.Dur, x.Dur)); c != 0 {
		return c
	}
	return cmp.Compare(x.Name, y.Name)
}

func compareLaunches(x, y Launch) int {
	if c := cmp.Compare(x.Start, y.Start); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(x.Thread, y.Thread), cmp.Compare(y.Dur, x.Dur), cmp.Compare(x.Correlation, y.Correlation),
		cmp.Compare(x.Name, y.Name), cmp.Compare(x.Kernel, y.Kernel))
}

func compareGPU(x, y GPUEvent) int {
	if c := cmp.Compare(x.Start, y.Start); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Device, y.Device), cmp.Compare(x.Stream, y.Stream),
		cmp.Compare(x.RawDur, y.RawDur), cmp.Compare(x.Correlation, y.Correlation), cmp.Compare(x.Kind, y.Kind),
		cmp.Compare(x.Name, y.Name), cmp.Compare(x.Bytes, y.Bytes), cmp.Compare(x.ExternalID, y.ExternalID))
}

func compareAnnotations(x, y Annotation) int {
	return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.Dur, x.Dur), cmp.Compare(x.Thread, y.Thread),
		cmp.Compare(x.Name, y.Name), cmp.Compare(x.Device, y.Device), cmp.Compare(x.Stream, y.Stream))
}
