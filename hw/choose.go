package hw

// Choose returns the ceiling that an analysis should use: want, or the other one when the GPU has no figures for want.
// note says so. Sets are taken whole, never mixed. ok is false when neither has a matrix peak and a memory bandwidth.
func Choose(spec HardwareSpec, want Ceiling) (c Ceiling, note string, ok bool) {
	if complete(spec, want) {
		return want, "", true
	}
	other := Datasheet
	if want == Datasheet {
		other = Achievable
	}
	if !complete(spec, other) {
		return want, "no roofline: " + spec.Name() + " has neither a complete achievable nor a complete datasheet set", false
	}
	return other, "no " + want.String() + " figures are known for " + spec.Name() + ": the " + other.String() + " set is used", true
}

func complete(spec HardwareSpec, c Ceiling) bool {
	_, memory := spec.Bandwidth(c, DeviceMemory)
	_, matrix := spec.Peak(c, Matrix, BF16)
	return memory && matrix
}
